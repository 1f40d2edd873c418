"""Whether a row answers a question about what holds, by what sort of words it has.

A question about a speaker's own state is answered by what the speaker states of it, not
by requests, questions, wishes or the assistant's words. `benchmarks/updates_fit_asked.py`
fitted the weights.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from varve.domain.statements.cues import (
    CHANGES,
    GUARDS,
    MOST_PRESENT,
    Cues,
)
from varve.domain.statements.pairs import relate, tells_beside

SHARPNESS = 0.25
"""How much of the fitted odds counts; the rest is left to the search's own score."""
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "beside": -1.19, "unrelated": -2.71, "asks": -1.74, "asks help": -0.73,
        "own": 1.61, "near": 1.45, "assistant": -2.97, "change": 0.62,
        "name": 2.14, "number": 0.79, "guards": -2.21, "persons": -0.21,
        "present": 2.72, "firm change": 0.75,
    }
)  # fmt: skip
GREATEST = sum(weight for weight in WEIGHTS.values() if weight > 0)


@dataclass(frozen=True, slots=True)
class Telling:
    """A row's cues, its likeness to the question, and whether the assistant said it.

    A fact is about its speaker, though its words are in the third person.
    """

    cues: Cues
    cosine: float
    is_assistant: bool
    is_fact: bool


def weigh_answer(question: Cues, told: Telling) -> float:
    """Return the factor of a row's score, greater than 0 and at most 1."""
    signals = measure_answer(question, told)
    odds = sum(weight * signals[name] for name, weight in WEIGHTS.items())
    return math.exp(SHARPNESS * (odds - GREATEST))


def measure_answer(question: Cues, told: Telling) -> dict[str, float]:
    """Return the signals of a row, each from 0 to 1."""
    cues = told.cues
    is_beside = (
        question.has("own")
        and not told.is_assistant
        and tells_beside(question, cues)
    )
    return {
        "beside": float(is_beside),
        "unrelated": float(not relate(question, cues)),
        "asks": float(cues.asks),
        "asks help": float(cues.has("asks_help")),
        "own": float(cues.has("own") or told.is_fact),
        "near": max(0.0, told.cosine),
        "assistant": float(told.is_assistant),
        "change": float(cues.tells_change and not question.has("asks_past")),
        "name": float(cues.tells_name),
        "number": float(bool(cues.particulars.numbers)),
        "guards": _count(cues.has(name) for name in GUARDS),
        "persons": _count(cues.persons) if question.has("own") else 0.0,
        "present": min(MOST_PRESENT, cues.present) / MOST_PRESENT,
        "firm change": float(not cues.firm.isdisjoint(CHANGES)),
    }


def _count(found: Iterable[object]) -> float:
    """Return how many are true, at most two, as a share of two."""
    return min(2, sum(map(bool, found))) / 2
