"""From candidates to an order: how well a record answers, and which of them say the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType, Record

HALF_LIFE_DAYS = 180.0

VECTOR_WEIGHT = 0.35
KEYWORD_WEIGHT = 0.4
RECENCY_WEIGHT = 0.1
IMPORTANCE_WEIGHT = 0.15


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record some lane found: its cosine similarity to the query, its BM25 score (0: no word hit)."""

    record: Record
    vector: float
    keyword: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record with its score in [0, 1] and what the score was made of."""

    record: Record
    score: float
    vector: float
    keyword: float
    recency: float


SUMMARY_WEIGHT_NOW = 0.8
SUMMARY_WEIGHT_YEAR = 1.2
ASKED_WEIGHT = 1.15


def lane_weight(grain: Grain, asked: Grain | None, age_days: float | None) -> float:
    """What a lane's scores are multiplied by.

    Facts and turns weigh 1. Summaries weigh less than they for what is near or undated, and more the
    further back the window lies, up to a year; the grain that the question speaks of weighs more again.
    """
    if grain is Grain.WORKING:
        return 1.0
    share = min(1.0, (age_days or 0.0) / 365)
    weight = SUMMARY_WEIGHT_NOW + share * (SUMMARY_WEIGHT_YEAR - SUMMARY_WEIGHT_NOW)
    return weight * (ASKED_WEIGHT if grain is asked else 1.0)


def rank(
    candidates: Sequence[Candidate], present: datetime, weights: Mapping[str, float] | None = None
) -> list[Ranked]:
    """All candidates, best first; ties broken by event time (newest first), then id.

    Vector and keyword scores are spread over [0, 1] by their least and greatest and then summed:
    summed scores find more than reciprocal ranks when one of two lists is much better than the other.
    `weights` multiply the scores of records by id, as `lane_weight` says for their grains.
    """
    vectors = _spread([candidate.vector for candidate in candidates])
    keywords = _spread([candidate.keyword for candidate in candidates], floor=0.0)
    scored = [
        _scored(candidate, vector, keyword, present, (weights or {}).get(candidate.record.id, 1.0))
        for candidate, vector, keyword in zip(candidates, vectors, keywords, strict=True)
    ]
    return sorted(scored, key=lambda r: (-r.score, -r.record.event_time.timestamp(), r.record.id))


def _scored(candidate: Candidate, vector: float, keyword: float, present: datetime, weight: float) -> Ranked:
    fresh = recency(candidate.record.event_time, present)
    score = (
        VECTOR_WEIGHT * vector
        + KEYWORD_WEIGHT * keyword
        + RECENCY_WEIGHT * fresh
        + IMPORTANCE_WEIGHT * candidate.record.importance
    )
    return Ranked(candidate.record, min(1.0, weight * score), candidate.vector, candidate.keyword, fresh)


def recency(event_time: datetime, present: datetime) -> float:
    """1 for what happens now or is still to come, halved every `HALF_LIFE_DAYS` days."""
    age = max(0.0, (present - event_time).total_seconds() / 86_400)
    return float(0.5 ** (age / HALF_LIFE_DAYS))


def without_repeats(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The same order without what says the same: the better stays.

    That is a fact and a turn of one message (several facts of one message say different things), and
    a summary made from one other summary alone, as a week's with one day that had anything.
    """
    turns: set[tuple[str | None, str]] = set()
    facts: set[tuple[str | None, str]] = set()
    said: set[str] = set()
    alone: set[str] = set()
    kept = []
    for item in ranked:
        sources = {(item.record.conversation_id, source) for source in item.record.source_ids}
        if item.record.memory_type is MemoryType.TURN:
            if sources & facts:
                continue
            turns |= sources
        elif item.record.memory_type is MemoryType.FACT:
            if sources <= turns:
                continue
            facts |= sources
        elif _alone(item.record) & said or item.record.id in alone:
            continue
        said.add(item.record.id)
        alone |= _alone(item.record)
        kept.append(item)
    return kept


def _alone(record: Record) -> frozenset[str]:
    """The one source of a summary that has no other."""
    is_summary = record.memory_type is MemoryType.SUMMARY
    return frozenset(record.source_ids if is_summary and len(record.source_ids) == 1 else ())


def _spread(values: Sequence[float], floor: float | None = None) -> list[float]:
    """The values mapped to [0, 1]: least (or the given floor) to greatest; all 0 where all are equal."""
    low = min(values, default=0.0) if floor is None else floor
    high = max(values, default=0.0)
    width = high - low
    return [(value - low) / width if width > 0 else 0.0 for value in values]
