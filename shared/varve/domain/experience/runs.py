"""Runs across conversations: where one conversation's last episode goes on in the next one's first.

An episode's row lies in its conversation, so that erasing one leaves the other whole; that two belong
together is a link, and follows from the rows whenever they are read. It holds where segmentation would not
have cut between them had they been one conversation.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from varve.domain.experience.history import History, Lived
from varve.domain.experience.links import links_of_neighbours
from varve.domain.experience.rows import Episode
from varve.domain.experience.segments import RUN_BEGINS, SHORTEST, Thresholds
from varve.domain.triple import TripleOperation

Likeness = Callable[[str, str], float]
"""The cosine of two texts."""


def links_of_runs(history: History, limits: Thresholds, likeness: Likeness) -> list[TripleOperation]:
    """A link for every two episodes of one user's that a new conversation lies between and nothing parts."""
    by_user: defaultdict[str | None, list[Lived]] = defaultdict(list)
    for one in history.lived:
        by_user[one.episode.user_id].append(one)
    return [
        link
        for own in by_user.values()
        for before, after in pairwise(own)
        if _goes_on(before.episode, after.episode, limits, likeness)
        for link in links_of_neighbours(_ended(before), after.episode)
    ]


def _goes_on(before: Episode, after: Episode, limits: Thresholds, likeness: Likeness) -> bool:
    if before.conversation_id == after.conversation_id or after.why != RUN_BEGINS:
        return False
    if before.signals[1] == "episode_end" or after.signals[0] == "episode_start":
        return False
    if not timedelta(0) <= after.began - before.ended < limits.gap:
        return False
    short = len(after.situation.split()) < SHORTEST
    return short or likeness(before.situation, after.situation) >= limits.likeness


def _ended(lived: Lived) -> Episode:
    """The episode with the outcome that was reported of it."""
    return replace(lived.episode, verdict=replace(lived.episode.verdict, outcome=lived.outcome))
