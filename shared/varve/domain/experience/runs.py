"""Runs across conversations: where one conversation's last episode goes on in the next one's first.

An episode's row lies in its conversation, so that erasing one leaves the other whole; that two belong
together is a link, and follows from the rows whenever they are read. It holds where segmentation would not
have cut between them had they been one conversation.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np

from varve.domain.experience.history import History, Lived
from varve.domain.experience.links import links_of_neighbours
from varve.domain.experience.recall import Embed
from varve.domain.experience.rows import Episode
from varve.domain.experience.segments import RUN_BEGINS, SHORTEST, Thresholds
from varve.domain.triple import TripleOperation

Neighbours = tuple[Lived, Lived]


def links_of_runs(
    history: History, limits: Thresholds, embed: Embed
) -> list[TripleOperation]:
    """A link for every two episodes of one user's that a new conversation lies between and nothing parts."""
    by_user: defaultdict[str | None, list[Lived]] = defaultdict(list)
    for one in history.lived:
        by_user[one.episode.user_id].append(one)
    pairs = [
        (before, after)
        for own in by_user.values()
        for before, after in pairwise(own)
        if _may_go_on(before.episode, after.episode, limits)
    ]
    return [
        link
        for before, after in _alike(pairs, limits, embed)
        for link in links_of_neighbours(_ended(before), after.episode)
    ]


def _may_go_on(before: Episode, after: Episode, limits: Thresholds) -> bool:
    if before.conversation_id == after.conversation_id or after.why != RUN_BEGINS:
        return False
    if before.signals[1] == "episode_end" or after.signals[0] == "episode_start":
        return False
    return timedelta(0) <= after.began - before.ended < limits.gap


def _alike(
    pairs: Sequence[Neighbours], limits: Thresholds, embed: Embed
) -> list[Neighbours]:
    """Those whose situations mean alike, or of which the later is too short to tell.

    All are embedded at once, for a remote embedder is asked over the network.
    """
    long = [
        pair for pair in pairs if len(pair[1].episode.situation.split()) >= SHORTEST
    ]
    if not long:
        return list(pairs)
    vectors = embed([one.episode.situation for pair in long for one in pair])
    cosines = [
        float(np.dot(one, other))
        for one, other in zip(vectors[::2], vectors[1::2], strict=True)
    ]
    unlike = {
        after.episode.id
        for (_, after), cosine in zip(long, cosines, strict=True)
        if cosine < limits.likeness
    }
    return [pair for pair in pairs if pair[1].episode.id not in unlike]


def _ended(lived: Lived) -> Episode:
    """The episode with the outcome that was reported of it."""
    return replace(
        lived.episode, verdict=replace(lived.episode.verdict, outcome=lived.outcome)
    )
