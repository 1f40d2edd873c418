"""How often rows were read: many reads are one row, so that no search costs a write."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import iso
from varve.domain.experience.rows import as_text
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record


@dataclass(frozen=True, slots=True)
class Usage:
    """How often records were read between two writes: one row for many reads."""

    counts: Mapping[str, int]
    at: datetime
    batch: str

    @property
    def id(self) -> str:
        """One per batch of reads, which a process numbers."""
        return "usage-" + digest(self.batch, iso(self.at), length=24)


def usage_record(usage: Usage, period: str) -> Record:
    """The row of a batch of reads."""
    return Record(
        id=usage.id,
        memory_type=MemoryType.USAGE,
        content=f"{sum(usage.counts.values())} reads",
        period=period,
        event_time=usage.at,
        created_at=usage.at,
        source_ids=tuple(sorted(usage.counts)),
        about=usage.batch,
        key_facts=as_text(dict(usage.counts)),
    )


def usage_from(record: Record) -> Usage:
    """The inverse of `usage_record`."""
    return Usage(json.loads(record.key_facts), record.event_time, record.about or "")
