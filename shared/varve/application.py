"""The verbs with their parts: what a Lambda, the command line and the Python API all call."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from varve.domain.conversation import Conversation
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.record import GRAINS, STORES
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import EXPERIENCE_TYPES, SearchRequest
from varve.domain.triple import TripleOperation
from varve.messages.erasure import Erased, Reread
from varve.messages.ingest import read_ingest
from varve.messages.outcome import (
    carries_outcome,
    read_outcome,
    read_told_outcome,
    send_outcome,
)
from varve.messages.write import WriteTriples, send_triples
from varve.ports.erasure import StoreInspector
from varve.ports.queues import Delivery, Queue
from varve.usecases import deliver
from varve.usecases import ingest as ingesting
from varve.usecases import write as writing
from varve.usecases.ingest import IngestOutcome
from varve.usecases.ledger import Ledger
from varve.usecases.together import Together
from varve.usecases.write import Stores, WriteOutcome
from varve.verbs.nights import Nights
from varve.verbs.transferring import Transferring
from varve.wiring.parts import Parts
from varve.wiring.scoping import Scoped
from varve.wiring.settings import read_settings

if TYPE_CHECKING:
    from varve.usecases.extract import ExtractOutcome
    from varve.verbs.experience import ExperienceVerbs
    from varve.verbs.knowledge import Knowledge
    from varve.verbs.views import View, Views


class Application:
    """The pipeline over one set of parts.

    With queues configured each verb sends to the next one's queue; without, it calls it: then
    `ingest` returns when the conversation is in memory.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._extracted: list[ExtractOutcome] = []
        self._scoped = Scoped(parts, Application)

    def of(self, scope: Scope) -> "Application":
        """The same for this agent alone: where a role for that is configured, S3 refuses it all else.

        For the time of one request, as the credentials expire. Raises Misconfigured, Retryable.
        """
        return self._scoped.of(scope) or self

    @property
    def queued(self) -> bool:
        """Whether conversations go to a queue rather than straight into memory."""
        return self.parts.settings.ingest_queue_url is not None

    def ingest(
        self, conversations: Sequence[Conversation], now: datetime | None = None
    ) -> "tuple[IngestOutcome, ExtractOutcome | None]":
        """Take conversations in; what came of them is known only where there is no queue."""
        self._extracted.clear()
        privacy = cache(
            lambda workspace: self.parts.privacy(
                self.parts.config(workspace), workspace
            )
        )
        # Before the queue, a claim check or anything else that outlives the call.
        private = [privacy(c.scope.workspace).conversation(c) for c in conversations]
        ingest = partial(
            ingesting.ingest, private, self.parts.at(now), objects=self.parts.objects
        )
        if self.queued:
            return ingest(queue=self.ingest_queue), None
        if self.parts.settings.write_queue_url:
            return ingest(queue=self.ingest_queue), self.extracted
        together = Together(self._write)
        try:
            accepted = ingest(queue=_inline(partial(self._extract, together=together)))
        finally:
            together.flush()  # also where one of them fails: what was said before is to be found
        return accepted, self.extracted

    def extract(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Handle a batch of the ingest queue; those to be delivered again."""
        self._extracted.clear()
        dead_letters = self.parts.dead_letters(self.parts.ingest_queue)
        return deliver.deliver_each(
            deliveries, self._extract, dead_letters=dead_letters
        )

    @property
    def extracted(self) -> "ExtractOutcome":
        """What came of the last batch, or of the last `ingest` without a queue."""
        from varve.usecases.extract import summed

        return summed(self._extracted)

    def write(self, deliveries: Sequence[Delivery]) -> WriteOutcome:
        """Handle a batch of the write queue; the outcome holds those to be delivered again."""
        dead_letters = self.parts.dead_letters(self.parts.write_queue)
        return writing.write(
            deliveries,
            self._stores,
            objects=self.parts.objects,
            dead_letters=dead_letters,
        )

    def search(
        self, scope: Scope, request: SearchRequest, now: datetime | None = None
    ) -> SearchResponse:
        """Answer `search_memory`; experience is searched where its memory types are asked for."""
        at = self.parts.at(now)
        stores = STORES if EXPERIENCE_TYPES & set(request.memory_types) else GRAINS
        return self.views.answer(
            scope, request, at, partial(self._search, scope, request, at), stores
        )

    def _search(
        self, scope: Scope, request: SearchRequest, now: datetime, view: "View"
    ) -> SearchResponse:
        from varve.usecases import search as searching

        request = self.parts.privacy(view.config, scope.workspace).question(request)
        embedder = self.parts.embedder(view.config)
        found = searching.search(
            scope,
            request,
            now,
            view.config.zone,
            reader=view.reader,
            ledger=view.ledger,
            embedder=embedder,
            half_life_days=view.config.search.half_life_days,
            reranker=self.parts.reranker(view.config),
            triples=view.triples,
        )
        if not EXPERIENCE_TYPES & set(request.memory_types):
            return found
        from varve.usecases.experience.rows import read_history
        from varve.usecases.experience.search import with_experience

        history = read_history(scope, reader=view.reader)
        return with_experience(
            found, request, now, view.config.zone, history=history, embedder=embedder
        )

    def show(
        self, scope: Scope, record_id: str, depth: int | None = None
    ) -> dict[str, Any]:
        """A record and its sources, `depth` levels of them."""
        from varve.usecases.show import show

        return show(
            scope,
            record_id,
            reader=self.parts.records.at(scope),
            objects=self.parts.objects,
            depth=depth,
        )

    def status(self, scope: Scope) -> dict[str, Any]:
        """How things stand."""
        from varve.usecases.status import status

        return status(
            scope,
            self.parts.clock(),
            self.parts.config(scope.workspace),
            reader=self.parts.records.at(scope),
            graph=self.parts.graph,
            ledger=self.ledger,
            objects=self.parts.objects,
            stores=self.parts.stores,
        )

    def tell(self, scope: Scope, operations: Sequence[TripleOperation]) -> None:
        """Send triple operations to the writer as extraction does, filtered as all is that is kept."""
        from varve.usecases.privacy import private_operation

        private = self.parts.privacy(
            self.parts.config(scope.workspace), scope.workspace
        )
        message = WriteTriples(
            scope, tuple(private_operation(one, private) for one in operations)
        )
        send_triples(message, queue=self.write_queue, objects=self.parts.objects)

    def _extract(self, delivery: Delivery, together: Together | None = None) -> None:
        if carries_outcome(delivery):
            if told := read_outcome(delivery, objects=self.parts.objects):
                self.of(told[0]).experience.take_in(*told)
            return

        message = read_ingest(delivery, objects=self.parts.objects)
        if isinstance(message, Erased):
            return
        scope = (
            message.scope if isinstance(message, Reread) else message.conversation.scope
        )
        from varve.verbs.intake import take_in

        own = self.of(scope)
        queue = together if together is not None and own is self else own.write_queue
        self._extracted.append(take_in(own.parts, message, scope, queue))

    def ingest_outcome(self, event: Mapping[str, Any]) -> None:
        """Take in an outcome as IngestFunction is told it. Raises Rejected: names the field."""
        scope, report = read_told_outcome(event, self.parts.clock())
        self.send_outcome(scope, self.experience.private_report(scope, report))

    def send_outcome(self, scope: Scope, report: Report) -> None:
        """Take in the outcome of an episode: on the ingest queue where there is one, else at once."""
        send_outcome(scope, report, queue=self.ingest_queue, objects=self.parts.objects)

    def _write(self, deliveries: Sequence[Delivery]) -> None:
        writing.write_now(deliveries, self._stores, objects=self.parts.objects)

    @cached_property
    def ledger(self) -> Ledger:
        """What is due, what has failed, what expires."""
        return Ledger(self.parts.objects)

    @cached_property
    def views(self) -> "Views":
        """What answers are made from."""
        from varve.verbs.views import Views

        return Views(self.parts)

    @cached_property
    def nights(self) -> Nights:
        """What the schedules start: summaries and cleanup."""
        return Nights(
            self.parts,
            self.ledger,
            self.write_queue,
            lambda scope: self.of(scope).nights,
        )

    @cached_property
    def knowledge(self) -> "Knowledge":
        """Context and profiles."""
        from varve.verbs.knowledge import Knowledge

        return Knowledge(self.parts, self.views, lambda: self.write_queue)

    @cached_property
    def inspector(self) -> StoreInspector:
        """What reads every byte there is, to prove that something is gone."""
        from varve.adapters.objects.store import lance_options
        from varve.adapters.records.inspection import LanceInspector

        settings = self.parts.settings
        options = lance_options() if settings.s3_location else None
        return LanceInspector(settings.store.rstrip("/"), self.parts.objects, options)

    def versioning(self) -> str:
        """Whether the bucket keeps old versions of objects: Enabled, Suspended or Disabled (a directory).

        Unknown where this process may not ask. Raises Retryable.
        """
        location = self.parts.settings.s3_location
        if location is None:
            return "Disabled"
        from varve.adapters.objects.versioning import read_bucket_versioning

        return read_bucket_versioning(location[0])

    @cached_property
    def experience(self) -> "ExperienceVerbs":
        """What agents learn from what they did."""
        from varve.verbs.experience import ExperienceVerbs

        return ExperienceVerbs(self.parts, self.write_queue, self.views)

    @cached_property
    def transferring(self) -> Transferring:
        """Export, import, and the move to another embedding model."""
        return Transferring(self.parts, self.ledger, lambda: self.write_queue)

    @cached_property
    def _stores(self) -> Stores:
        """The writers, handed out only after the endpoint has shown that it is safe to write to."""
        self.parts.require_safe_store()
        parts = self.parts
        return Stores(
            records=parts.records,
            graph=parts.graph,
            profiles=parts.profiles,
            ledger=self.ledger,
            vectors=parts.stores,
            embedder=lambda workspace: parts.embedder(parts.config(workspace)),
            objects=parts.objects,
        )

    @cached_property
    def ingest_queue(self) -> Queue:
        """Where conversations go: the configured queue, or straight to the extractor."""
        return self.parts.ingest_queue if self.queued else _inline(self._extract)

    @cached_property
    def write_queue(self) -> Queue:
        """Where writes go: the configured queue, or straight to the writer."""
        if self.parts.settings.write_queue_url:
            return self.parts.write_queue
        return _inline(lambda delivery: self._write([delivery]))


def open_application() -> Application:
    """The application of this process's environment. Raises Misconfigured: names the variable."""
    return Application(Parts(read_settings(os.environ)))


def _inline(handle: Any) -> Queue:
    from varve.adapters.queues.inline import InlineQueue

    return InlineQueue(handle)
