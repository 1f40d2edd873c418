"""Runs across conversations: a conversation's first episode that continues the last one.

Each episode's row belongs to one conversation, so that erasing one conversation leaves the
other whole. A link joins two episodes, and is derived from the rows on every read. It exists
if segmentation would not have cut between the two in a single conversation.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np

from varve.domain.experience.alike import Embed
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.links import links_of_neighbours
from varve.domain.experience.rows import Episode
from varve.domain.experience.segments import RUN_BEGINS, SHORTEST, Thresholds
from varve.domain.triple import TripleOperation

Neighbours = tuple[PastEpisode, PastEpisode]
"""Two successive episodes of one user."""


def links_of_runs(
    history: History, limits: Thresholds, embed: Embed
) -> list[TripleOperation]:
    """Return the links between episodes of one user that continue across conversations."""
    neighbours = _neighbours_of_each_user(history)
    candidates = [pair for pair in neighbours if _may_continue(pair, limits)]
    links: list[TripleOperation] = []
    for before, after in _drop_unlike(candidates, limits, embed):
        links += links_of_neighbours(_with_outcome(before), after.episode)
    return links


def _neighbours_of_each_user(history: History) -> list[Neighbours]:
    by_user: defaultdict[str | None, list[PastEpisode]] = defaultdict(list)
    for past in history.past_episodes:
        user_id = past.episode.user_id
        by_user[user_id].append(past)
    neighbours: list[Neighbours] = []
    for episodes in by_user.values():
        neighbours += pairwise(episodes)
    return neighbours


def _may_continue(pair: Neighbours, limits: Thresholds) -> bool:
    """Return whether nothing but the change of conversation parts two episodes."""
    before = pair[0].episode
    after = pair[1].episode
    same_conversation = before.conversation_id == after.conversation_id
    if same_conversation or after.why != RUN_BEGINS:
        return False
    _, last_signal = before.signals
    first_signal, _ = after.signals
    if last_signal == "episode_end" or first_signal == "episode_start":
        return False
    silence = after.began - before.ended
    return timedelta(0) <= silence < limits.gap


def _drop_unlike(
    pairs: Sequence[Neighbours], limits: Thresholds, embed: Embed
) -> list[Neighbours]:
    """Return the pairs without those whose situations differ in meaning.

    A pair whose later situation is too short to compare stays. One call embeds all
    situations, because a remote embedder costs a request.
    """
    comparable = [pair for pair in pairs if _is_long(pair[1])]
    if not comparable:
        return list(pairs)
    earlier = [before.situation for before, _ in comparable]
    later = [after.situation for _, after in comparable]
    vectors = embed([*earlier, *later])
    unlike: set[str] = set()
    for index, (_, after) in enumerate(comparable):
        cosine = np.dot(vectors[index], vectors[len(earlier) + index])
        if float(cosine) < limits.likeness:
            unlike.add(after.id)
    return [pair for pair in pairs if pair[1].id not in unlike]


def _is_long(past: PastEpisode) -> bool:
    words = past.situation.split()
    return len(words) >= SHORTEST


def _with_outcome(past: PastEpisode) -> Episode:
    """Return the episode with its reported outcome."""
    verdict = replace(past.episode.verdict, outcome=past.outcome)
    return replace(past.episode, verdict=verdict)
