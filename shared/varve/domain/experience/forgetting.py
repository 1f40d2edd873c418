"""Forgetting in addition to retention: time to live, and decay of unread records."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from varve.domain.experience.history import History
from varve.domain.record import MemoryType, Record

CYCLE = timedelta(days=1)
GONE_BELOW = 0.1
FORGETTABLE = (MemoryType.EPISODE, MemoryType.PRIOR_ANSWER, MemoryType.FINDING)
"""Outcomes, lessons and counts of reads stay: they are evidence, and small."""


@dataclass(frozen=True, slots=True)
class Decay:
    """How much importance a row loses each day after so long without a read."""

    spared_for: timedelta = timedelta(days=7)
    loss_per_day: float = 0.05


def importance_now(
    record: Record, last_read: datetime | None, now: datetime, decay: Decay
) -> float:
    """Return the importance that decay leaves a row."""
    last_used = record.event_time
    if last_read is not None:
        last_used = max(last_used, last_read)
    idle = now - last_used - decay.spared_for
    cycles = max(0, idle // CYCLE)
    left = record.importance - decay.loss_per_day * cycles
    return max(0.0, left)


def choose_forgotten(
    history: History,
    now: datetime,
    time_to_live_days: int | None,
    decay: Decay | None,
) -> dict[str, str]:
    """Return the ids of rows to delete, each with its reason.

    Nothing is chosen if neither a time to live nor a decay is given.
    """
    forgotten: dict[str, str] = {}
    for record in _forgettable(history):
        if _expired(record, now, time_to_live_days):
            reason = f"older than its time to live of {time_to_live_days} days"
            forgotten[record.id] = reason
            continue
        if decay is None:
            continue
        _, last_read = history.reads.get(record.id, (0, None))
        importance = importance_now(record, last_read, now, decay)
        if importance < GONE_BELOW:
            forgotten[record.id] = (
                f"importance has decayed to {importance:.2f}"
            )
    return forgotten


def _forgettable(history: History) -> list[Record]:
    rows: list[Record] = []
    for memory_type in FORGETTABLE:
        rows += history.rows(memory_type)
    return rows


def _expired(
    record: Record, now: datetime, time_to_live_days: int | None
) -> bool:
    if not time_to_live_days:
        return False
    age = now - record.event_time
    return age > timedelta(days=time_to_live_days)
