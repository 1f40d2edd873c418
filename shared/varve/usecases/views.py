"""Views: an agent's memory pinned to one moment, read in as few round trips as possible."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar
from zoneinfo import ZoneInfo

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.ledger import Due
from varve.domain.record import GRAINS, Store, StoreName
from varve.domain.search.query import SearchRequest
from varve.domain.search.question import asks_how_things_stand
from varve.domain.search.routing import route
from varve.domain.triple import Triple
from varve.domain.workspace import WorkspaceConfig
from varve.ports.clock import Clock
from varve.ports.meter import MeteredThreads
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.usecases.ledger import Ledger

if TYPE_CHECKING:
    from varve.usecases.session import Session

PREFETCH_THREADS = 8
MAX_KEPT_VIEWS = 1_000
MAX_RESTARTS = 3
"""How often a question starts again because a store was rewritten meanwhile."""
T = TypeVar("T")
StoreNames = tuple[StoreName, ...]
_ANY_ZONE = ZoneInfo("UTC")


class _PrefetchedLedger(Ledger):
    """A ledger that lists some of an agent's due periods in advance."""

    def __init__(
        self, objects: Objects, scope: Scope, pool: MeteredThreads
    ) -> None:
        super().__init__(objects)
        self._scope = scope
        self._pool = pool
        self._listed: dict[Grain, Future[list[Due]]] = {}

    def prefetch(self, grain: Grain) -> None:
        """Start to list the grain's due periods, once."""
        if grain not in self._listed:
            self._listed[grain] = self._pool.submit(self._list, grain)

    def due(self, grain: Grain, scope: Scope) -> Iterator[Due]:
        if scope != self._scope:
            return super().due(grain, scope)
        self.prefetch(grain)
        return iter(self._listed[grain].result())

    def _list(self, grain: Grain) -> list[Due]:
        return list(super().due(grain, self._scope))


class _PrefetchedTriples:
    """An agent's triples, read once, in the background if that is started early."""

    def __init__(
        self, read: Callable[[], list[Triple]], pool: MeteredThreads
    ) -> None:
        self._read = read
        self._pool = pool
        self._started: Future[list[Triple]] | None = None

    def prefetch(self) -> Future[list[Triple]]:
        """Start to read them, once."""
        if self._started is None:
            self._started = self._pool.submit(self._read)
        return self._started

    def __call__(self) -> list[Triple]:
        return self.prefetch().result()


@dataclass(frozen=True, slots=True)
class View:
    """One agent's memory as it was read at `since`.

    `has_triples`: `triples` costs no round trip of its own.
    """

    config: WorkspaceConfig
    reader: MemoryReader
    ledger: Ledger
    since: datetime
    triples: Callable[[], list[Triple]]
    has_triples: bool = True


class Views:
    """Reads views: one round trip if no store changed since the last question.

    On S3 (`remote`) everything a question may need is requested in parallel; in a
    directory each part is read when it is needed. A view is used again for
    `max_staleness`, without any request.
    """

    def __init__(
        self, *, remote: bool, max_staleness: timedelta, clock: Clock
    ) -> None:
        self._remote = remote
        self.max_staleness = max_staleness
        self._clock = clock
        self._kept: dict[tuple[Scope, StoreNames], View] = {}

    def read(
        self,
        session: "Session",
        request: SearchRequest,
        stores: StoreNames = GRAINS,
    ) -> View:
        """Return the view that a question is answered from.

        Raises Rejected, Misconfigured, Retryable.
        """
        key = (session.scope, stores)
        present = self._clock()
        kept = self._kept.get(key)
        if kept is not None and present - kept.since < self.max_staleness:
            return kept
        if self._remote:
            view = self._read_remote(session, request, present, stores)
        else:
            view = self._read_local(session, present)
        self._keep(key, view)
        return view

    def answer(
        self,
        session: "Session",
        request: SearchRequest,
        answer: Callable[[View], T],
        stores: StoreNames = GRAINS,
    ) -> T:
        """Return what `answer` makes of a view.

        Starts again with a newer view if a store moved to another embedding model.
        Raises what `answer` and `read` raise; EmbeddingMismatch: it moved too often.
        """
        for _ in range(MAX_RESTARTS):
            try:
                return answer(self.read(session, request, stores))
            except EmbeddingMismatch:
                self._kept.pop((session.scope, stores), None)
        return answer(self.read(session, request, stores))

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start `work` in the background on S3; in a directory run it when called."""
        return self._pool.submit(work).result if self._remote else work

    def _read_local(self, session: "Session", present: datetime) -> View:
        scope = session.scope
        return View(
            session.config,
            session.records.at(scope),
            session.ledger,
            present,
            partial(session.graph.triples, scope),
        )

    def _read_remote(
        self,
        session: "Session",
        request: SearchRequest,
        present: datetime,
        stores: StoreNames,
    ) -> View:
        scope = session.scope
        ledger = _PrefetchedLedger(session.objects, scope, self._pool)
        triples = _PrefetchedTriples(
            partial(session.graph.triples, scope), self._pool
        )
        text = request.text
        # The grain does not depend on the time zone, which is not known yet. Whether
        # the request's limits leave any time does, so Rejected is not final here.
        with suppress(Rejected):
            way = route(request, session.now, _ANY_ZONE)
            text = way.text
            if way.asked in SUMMARY_GRAINS:
                ledger.prefetch(way.asked)
        needs_triples = Store.EXPERIENCE in stores or asks_how_things_stand(
            text
        )
        if needs_triples:
            triples.prefetch()
        reader = self._pool.submit(session.records.at, scope, stores)
        config = session.config
        return View(
            config, reader.result(), ledger, present, triples, needs_triples
        )

    def _keep(self, key: tuple[Scope, StoreNames], view: View) -> None:
        if not self.max_staleness:
            return
        self._kept.pop(key, None)
        self._kept[key] = view
        if len(self._kept) > MAX_KEPT_VIEWS:
            self._kept.pop(next(iter(self._kept)), None)

    @cached_property
    def _pool(self) -> MeteredThreads:
        return MeteredThreads(
            PREFETCH_THREADS, thread_name_prefix="varve-view"
        )
