"""Scores that a fact and the words it was made from share.

A model's facts repeat the words in other words. If each were ranked by itself, a message
with three facts would have four chances where a message without facts has one. The words
therefore decide where a message ranks, and its best fact lifts them by a share.
"""

from dataclasses import dataclass

import numpy as np

from varve.domain.search.lexical import Bools, Floats, Ints, Spots

LIFT = 0.5
"""The share by which a fact that matches better than its words lifts them."""
HIDDEN = np.float32(-1)
"""The score of a row that the filter excludes."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """The rows of messages: `starts` has the first row of each, `of` each row's message.

    `repeats` marks the facts whose message has a turn.
    """

    starts: Spots
    of: Spots
    repeats: Bools


def find_sharing(
    conversations: Ints, positions: Ints, is_fact: Bools
) -> Sharing | None:
    """Return the messages of rows that are sorted by conversation and position.

    Rows without a conversation share nothing. None: no message has a fact and a turn.
    """
    if not is_fact.any():
        return None
    differs = np.ones(len(positions), np.bool_)
    has_same_conversation = np.diff(conversations) == 0
    has_same_position = np.diff(positions) == 0
    has_conversation = conversations[1:] >= 0
    differs[1:] = ~(
        has_same_conversation & has_same_position & has_conversation
    )
    starts = np.flatnonzero(differs)
    of = np.cumsum(differs) - 1
    facts = np.add.reduceat(is_fact, starts, dtype=np.int64)
    rows = np.diff(starts, append=len(positions))
    is_mixed = (facts > 0) & (facts < rows)
    repeats = is_fact & is_mixed[of]
    return Sharing(starts, of, repeats) if repeats.any() else None


def share_scores(scores: Floats, lane: Sharing | None) -> None:
    """Lift each visible turn towards its message's best fact; lower facts to their turns.

    `scores` are those of one lane's rows; hidden rows have -1. Afterwards the best fact
    of a message scores as much as its best turn, or less. Without `lane` nothing changes.
    """
    if lane is None:
        return
    best_turns = _find_best(scores, ~lane.repeats, lane)
    best_facts = _find_best(scores, lane.repeats, lane)
    excess = np.maximum(best_facts - best_turns, 0)
    excess[best_turns < 0] = 0
    lifts = LIFT * excess
    turns = scores >= 0
    turns &= ~lane.repeats
    scores[turns] += lifts[lane.of[turns]]
    facts = lane.repeats & (excess[lane.of] > 0)
    above = scores[facts] - best_turns[lane.of[facts]]
    scores[facts] -= (1 - LIFT) * np.maximum(above, 0)


def _find_best(scores: Floats, admitted: Bools, lane: Sharing) -> Floats:
    """Return the greatest score of each message's admitted rows; -1 if it has none."""
    own = np.where(admitted, scores, HIDDEN)
    best: Floats = np.maximum.reduceat(own, lane.starts)
    return best
