"""Forgetting beside retention: a time to live, and importance that decays for what nobody reads."""

from datetime import datetime, timedelta

from varve.domain.experience.history import History
from varve.domain.record import MemoryType, Record

CYCLE = timedelta(days=1)
SPARED_FOR = timedelta(days=7)
LOSS_PER_CYCLE = 0.05
GONE_BELOW = 0.1
FORGETTABLE = (MemoryType.EPISODE, MemoryType.PRIOR_ANSWER, MemoryType.FINDING)
"""Outcomes, lessons and counts of reads stay: they are evidence, and small."""


def importance_now(record: Record, last_read: datetime | None, now: datetime) -> float:
    """What is left of a record's importance: 0.05 less for each day after seven without a read."""
    idle = now - max(record.event_time, last_read or record.event_time) - SPARED_FOR
    cycles = max(0, idle // CYCLE)
    return max(0.0, record.importance - LOSS_PER_CYCLE * cycles)


def forgotten(
    history: History, now: datetime, time_to_live_days: int | None, *, decay: bool
) -> dict[str, str]:
    """The ids that go, each with its reason; none where neither is turned on."""
    gone: dict[str, str] = {}
    for record in (row for kind in FORGETTABLE for row in history.rows(kind)):
        last_read = history.reads.get(record.id, (0, None))[1]
        if time_to_live_days and now - record.event_time > timedelta(
            days=time_to_live_days
        ):
            gone[record.id] = f"older than its time to live of {time_to_live_days} days"
        elif decay and (left := importance_now(record, last_read, now)) < GONE_BELOW:
            gone[record.id] = f"importance has decayed to {left:.2f}"
    return gone
