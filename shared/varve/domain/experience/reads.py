"""Counts of reads: many reads make one row, so that a search does not cost a write."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import iso
from varve.domain.experience.rows import as_text
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record


@dataclass(frozen=True, slots=True)
class ReadCounts:
    """How often records were read between two writes."""

    counts: Mapping[str, int]
    at: datetime
    batch: str

    @property
    def id(self) -> str:
        """The id, from the time and the batch number that the process assigned."""
        return "usage-" + digest(self.batch, iso(self.at), length=24)


def usage_record(reads: ReadCounts, period: str) -> Record:
    """Return the row of a batch of reads."""
    return Record(
        id=reads.id,
        memory_type=MemoryType.USAGE,
        content=f"{sum(reads.counts.values())} reads",
        period=period,
        event_time=reads.at,
        created_at=reads.at,
        source_ids=tuple(sorted(reads.counts)),
        about=reads.batch,
        key_facts=as_text(dict(reads.counts)),
    )


def usage_from(record: Record) -> ReadCounts:
    """Return the reads of a row; the inverse of `usage_record`."""
    counts = json.loads(record.key_facts)
    return ReadCounts(counts, record.event_time, record.about or "")
