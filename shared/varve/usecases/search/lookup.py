"""What one search reads: the memories, the time, and the lanes that it chooses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from typing import NamedTuple
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, moment
from varve.domain.grants import Grant
from varve.domain.identity import Scope
from varve.domain.metadata import Values
from varve.domain.record import Record, StoreName
from varve.domain.search.query import Filter, SearchRequest
from varve.domain.search.routing import Route
from varve.domain.search.strategies import HALF_LIFE_DAYS
from varve.domain.triple import Triple
from varve.ports.knowledge import Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.usecases.forget.forgotten_statements import RequestScans
from varve.usecases.ledger import Ledger
from varve.usecases.search.find import Stock


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Another agent's memory, and what of it may be read."""

    scope: Scope
    grant: Grant
    reader: MemoryReader


@dataclass(frozen=True, slots=True)
class Lookup:
    """Whose memory a search reads, when, and by which ports.

    `shared` are the memories of other agents to search as well. `triples` reads the
    agent's triples; it is called only if the question is about how things stand, or if
    two statements may tell one value and `has_triples`: it costs no round trip.
    `weights` are the workspace's own weights of signals. `by_line`: the caller folds
    summaries line by line, as a context does, and needs the standing of each sentence and doubt.
    `scans` keeps what requests to forget name, as in a session.
    """

    scope: Scope
    now: datetime
    zone: ZoneInfo
    reader: MemoryReader
    ledger: Ledger
    embedder: Embedder
    half_life_days: float = HALF_LIFE_DAYS
    reranker: Reranker | None = None
    triples: Callable[[], Sequence[Triple]] = list
    shared: Sequence[SharedMemory] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    by_line: bool = False
    has_triples: bool = True
    scans: RequestScans | None = None

    def open_stocks(self, metadata: Values) -> list[Stock]:
        """Return the stores of the agent, then those of the other agents."""
        own = Stock(
            self.scope,
            self.reader,
            self.embedder,
            metadata=metadata,
            triples=self.triples if self.has_triples else list,
        )
        stocks = [own]
        for one in self.shared:
            stock = Stock(
                one.scope, one.reader, self.embedder, one.grant, metadata
            )
            stocks.append(stock)
        return stocks


class Browsing(NamedTuple):
    """A record that a browse found, its grain, and the other agent whose it is."""

    record: Record
    grain: StoreName
    agent: str | None


@dataclass(frozen=True, slots=True)
class Running:
    """One search: the lookup, its request, and the stores read for it."""

    lookup: Lookup
    request: SearchRequest
    stocks: Sequence[Stock] = field(repr=False)

    def count(self, grain: StoreName, where: Filter) -> int:
        """Count the records that pass the filter.

        For a question the store is read anyway, so it is counted in memory.
        """
        if self.request.text:
            return sum(stock.count(grain, where) for stock in self.stocks)
        return sum(stock.count_stored(grain, where) for stock in self.stocks)

    def holds(self, grains: Iterable[StoreName], way: Route) -> bool:
        """Return whether any record lies in the time that the route names."""
        where = replace(way.where, since=way.since, until=way.until)
        pairs = product(self.stocks, grains)
        return any(stock.count(grain, where) for stock, grain in pairs)

    def find_newest(
        self, grains: Sequence[StoreName], present: datetime
    ) -> datetime:
        """Return the newest event time, at most `present`; without records `present`."""
        found = [stock.find_newest(grains) for stock in self.stocks]
        newest = [moment(time) for time in found if time is not None]
        return min(max(newest, default=present), present)

    def browse(
        self, filters: Mapping[StoreName, Filter], limit: int
    ) -> list[Browsing]:
        """Return up to `limit` of the newest records of each grain of each agent."""
        found: list[Browsing] = []
        for grain, where in filters.items():
            for stock in self.stocks:
                for record in stock.browse(grain, where, limit):
                    found.append(Browsing(record, grain, stock.agent))
        return found


@dataclass(frozen=True, slots=True)
class Lanes:
    """The grains to search, with the number of records in the window.

    `fallback`: finer grains were added to the one asked for. Of each of these only what lies
    after its time in `since`, from where coarser summaries are not built.
    """

    counts: Mapping[StoreName, int]
    fallback: bool
    since: Mapping[StoreName, datetime | None] = field(default_factory=dict)

    @property
    def filled(self) -> list[StoreName]:
        """The grains that have records in the window."""
        return [grain for grain, count in self.counts.items() if count]

    def filters(self, way: Route) -> dict[StoreName, Filter]:
        """Return the filter of each filled grain."""
        return {
            grain: _start_later(way.where, self.since.get(grain))
            for grain in self.filled
        }


def choose_lanes(way: Route, running: Running) -> Lanes:
    """Return the route's lanes.

    Where the grain asked for has no ready summary in the window, the finer grains join it.
    """
    counts = {grain: running.count(grain, way.where) for grain in way.lanes}
    if way.asked in (None, Grain.WORKING):
        return Lanes(counts, fallback=False)
    since = None
    if counts[way.asked]:
        since = _find_pending(way, way.asked, running.lookup)
        if since is None:
            return Lanes(counts, fallback=False)
    return _add_finer(way, way.asked, counts, since, running)


def _add_finer(
    way: Route,
    asked: Grain,
    counts: Mapping[StoreName, int],
    since: datetime | None,
    running: Running,
) -> Lanes:
    """Return the lanes with the grains finer than the one asked for, coarsest first.

    A question reads all of them from `since` on. A browse of one grain tells each time in one
    grain: the months after the last quarter, the days after the last week.
    """
    wide = dict(counts)
    starts: dict[StoreName, datetime | None] = {}
    grains = list(Grain)
    for grain in reversed(grains[: grains.index(asked)]):
        if grain in counts:
            continue
        starts[grain] = since
        wide[grain] = running.count(grain, _start_later(way.where, since))
        if wide[grain] and not way.text:
            since = _find_pending(way, grain, running.lookup)
            if since is None:
                break
    if any(wide.get(grain) for grain in grains[: grains.index(asked)]):
        return Lanes(wide, fallback=True, since=starts)
    return Lanes(counts, fallback=False)


def _find_pending(way: Route, asked: Grain, lookup: Lookup) -> datetime | None:
    """Return the start of the first due or stale period that touches the window.

    None: there is none.
    """
    starts: list[datetime] = []
    for due in lookup.ledger.due(asked, lookup.scope):
        start = due.period.start(lookup.zone)
        end = due.period.end(lookup.zone)
        begins_inside = way.until is None or start < way.until
        ends_inside = way.since is None or end > way.since
        if begins_inside and ends_inside:
            starts.append(start)
    return min(starts, default=None)


def _start_later(where: Filter, since: datetime | None) -> Filter:
    """Return the filter with the later of both starts."""
    if since is None or (where.since is not None and where.since > since):
        return where
    return replace(where, since=since)
