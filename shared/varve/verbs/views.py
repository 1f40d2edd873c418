"""What answers are made from: configuration, records and due periods, asked for at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import TypeVar
from zoneinfo import ZoneInfo

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Outdated, Rejected
from varve.domain.identity import Scope
from varve.domain.ledger import Due
from varve.domain.record import GRAINS, Store, StoreName
from varve.domain.search.query import SearchRequest
from varve.domain.search.question import asks_how_things_stand
from varve.domain.search.routing import route
from varve.domain.triple import Triple
from varve.domain.workspace import WorkspaceConfig
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.usecases.ledger import Ledger
from varve.wiring.parts import Parts

AT_ONCE = 8
MAX_KEPT = 1_000
LOOKS = 3
"""How often a question is begun again because a store has been written anew meanwhile."""
T = TypeVar("T")
Wanted = tuple[StoreName, ...]
_ANY_ZONE = ZoneInfo("UTC")


class _LedgerSeen(Ledger):
    """The ledger with some of an agent's due periods asked for in advance."""

    def __init__(
        self, objects: Objects, scope: Scope, pool: ThreadPoolExecutor
    ) -> None:
        super().__init__(objects)
        self._scope, self._pool = scope, pool
        self._asked: dict[Grain, Future[list[Due]]] = {}

    def ask(self, grain: Grain) -> None:
        """Start to list the grain's due periods, unless that has been done."""
        if grain not in self._asked:
            self._asked[grain] = self._pool.submit(self._listed, grain)

    def due(self, grain: Grain, scope: Scope) -> Iterator[Due]:
        if scope != self._scope:
            return super().due(grain, scope)
        self.ask(grain)
        return iter(self._asked[grain].result())

    def _listed(self, grain: Grain) -> list[Due]:
        return list(super().due(grain, self._scope))


class _Triples:
    """An agent's triples, read when they are first asked for."""

    def __init__(self, parts: Parts, scope: Scope, pool: ThreadPoolExecutor) -> None:
        self._parts, self._scope, self._pool = parts, scope, pool
        self._asked: Future[list[Triple]] | None = None

    def ask(self) -> Future[list[Triple]]:
        """Start to read them, unless that has been done."""
        self._asked = self._asked or self._pool.submit(
            lambda: self._parts.graph.triples(self._scope)
        )
        return self._asked

    def __call__(self) -> list[Triple]:
        return self.ask().result()


@dataclass(frozen=True, slots=True)
class View:
    """One agent's memory as it was asked for at `since`."""

    config: WorkspaceConfig
    reader: MemoryReader
    ledger: Ledger
    since: datetime
    triples: Callable[[], list[Triple]]


class Views:
    """Looks agents up: in one round trip where stores have not changed since the last time.

    With VARVE_MAX_STALENESS_SECONDS a view is used again for so long, without any.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._kept: dict[tuple[Scope, Wanted], View] = {}

    def of(
        self,
        scope: Scope,
        request: SearchRequest,
        now: datetime,
        stores: Wanted = GRAINS,
    ) -> View:
        """What a question is to be answered from, with the triples at hand where experience is.

        Raises Rejected, Misconfigured, Retryable.
        """
        kept, present = self._kept.get((scope, stores)), self._parts.clock()
        if kept is None or present - kept.since >= self._parts.settings.max_staleness:
            kept = (
                self._look_far(scope, request, now, present, stores)
                if self._far
                else self._look_here(scope, present)
            )
            self._keep((scope, stores), kept)
        return kept

    def answer(
        self,
        scope: Scope,
        request: SearchRequest,
        now: datetime,
        answer: Callable[[View], T],
        stores: Wanted = GRAINS,
    ) -> T:
        """What is answered from a view, or from a newer one where a store has moved to another model since
        or its rows to other places.

        Raises what `answer` and `of` do; EmbeddingMismatch, Outdated, where looking again does not help.
        """
        for _ in range(LOOKS):
            try:
                return answer(self.of(scope, request, now, stores))
            except (EmbeddingMismatch, Outdated):
                self._kept.pop((scope, stores), None)
        return answer(self.of(scope, request, now, stores))

    def beside(self, work: Callable[[], T]) -> Callable[[], T]:
        """Work that may go on beside a look: begun at once on S3, in a directory when it is asked for."""
        return self._pool.submit(work).result if self._far else work

    def _look_here(self, scope: Scope, present: datetime) -> View:
        """In a directory: nothing is worth a thread, and what a question does not need is not read."""
        parts = self._parts
        reader, triples = parts.records.at(scope), partial(parts.graph.triples, scope)
        return View(
            parts.config(scope.workspace),
            reader,
            Ledger(parts.objects),
            present,
            triples,
        )

    def _look_far(
        self,
        scope: Scope,
        request: SearchRequest,
        now: datetime,
        present: datetime,
        stores: Wanted,
    ) -> View:
        """On S3: all that the question may need is asked for at once."""
        records = self._parts.records
        ledger = _LedgerSeen(self._parts.objects, scope, self._pool)
        triples, text = _Triples(self._parts, scope, self._pool), request.text
        # Which grain a question speaks of does not depend on the zone, which is not known yet; whether its
        # limits leave any time does.
        with suppress(Rejected):
            way = route(request, now, _ANY_ZONE)
            text = way.text
            if way.asked in SUMMARY_GRAINS:
                ledger.ask(way.asked)
        if Store.EXPERIENCE in stores or asks_how_things_stand(text):
            triples.ask()
        reader = self._pool.submit(records.at, scope, stores)
        config = self._parts.config(scope.workspace)
        return View(config, reader.result(), ledger, present, triples)

    def _keep(self, asked: tuple[Scope, Wanted], view: View) -> None:
        if self._parts.settings.max_staleness:
            self._kept.pop(asked, None)
            self._kept[asked] = view
            if len(self._kept) > MAX_KEPT:
                self._kept.pop(next(iter(self._kept)), None)

    @property
    def _far(self) -> bool:
        return self._parts.settings.s3_location is not None

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="varve-look")
