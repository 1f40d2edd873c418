"""Every record of an agent's stores."""

from collections.abc import Iterator

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.identity import Scope
from varve.domain.record import Record
from varve.domain.search.query import Filter
from varve.ports.records import MemoryReader

EVERYTHING = 1_000_000
"""The limit for a browse that is to return all records of a store."""


def read_working(scope: Scope, reader: MemoryReader) -> Iterator[Record]:
    """Yield every fact and turn, a period at a time."""
    for label in sorted(reader.periods(scope, Grain.WORKING)):
        yield from reader.in_period(scope, Grain.WORKING, label)


def read_summaries(
    scope: Scope, reader: MemoryReader
) -> Iterator[tuple[Grain, Record]]:
    """Yield every summary, from the finest grain up."""
    for grain in SUMMARY_GRAINS:
        records = reader.browse(scope, grain, where=Filter(), limit=EVERYTHING)
        for record in records:
            yield grain, record
