"""The verbs with their parts: what a Lambda, the command line and the Python API all call."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property
from itertools import islice
from typing import Any

from varve.bootstrap import Parts
from varve.domain.answer import SearchResponse
from varve.domain.calendar import Grain, Period
from varve.domain.conversation import Conversation
from varve.domain.identity import Scope
from varve.domain.query import SearchRequest
from varve.domain.workspace import WorkspaceConfig
from varve.messages import SummarizePeriod, read_ingest, read_work, send_work
from varve.pipeline import cleanup as cleaning
from varve.pipeline import deliver
from varve.pipeline import extract as extracting
from varve.pipeline import ingest as ingesting
from varve.pipeline import plan as planning
from varve.pipeline import search as searching
from varve.pipeline import summarize as summarizing
from varve.pipeline import write as writing
from varve.pipeline.cleanup import CleanupReport
from varve.pipeline.extract import ExtractOutcome
from varve.pipeline.ingest import IngestOutcome
from varve.pipeline.ledger import Ledger
from varve.pipeline.summarize import Outcome
from varve.pipeline.write import Stores, WriteOutcome
from varve.ports import Delivery, Queue
from varve.settings import read_settings

MAX_CLEANED = 500
"""Agents that one cleanup pass takes; the rest stay noted for the next."""


class Application:
    """The pipeline over one set of parts.

    With queues configured each verb sends to the next one's queue; without, it calls it: then
    `ingest` returns when the conversation is in memory.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._extracted: list[ExtractOutcome] = []

    @property
    def queued(self) -> bool:
        """Whether conversations go to a queue rather than straight into memory."""
        return self.parts.settings.ingest_queue_url is not None

    def ingest(
        self, conversations: Sequence[Conversation], now: datetime | None = None
    ) -> tuple[IngestOutcome, ExtractOutcome | None]:
        """Take conversations in; what came of them is known only where there is no queue."""
        self._extracted.clear()
        accepted = ingesting.ingest(
            conversations, now or self.parts.clock(), queue=self._ingest_queue, objects=self.parts.objects
        )
        return accepted, None if self.queued else _sum(self._extracted)

    def extract(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Handle a batch of the ingest queue; those to be delivered again."""
        dead_letters = self.parts.dead_letters(self.parts.ingest_queue)
        return deliver.deliver_each(deliveries, self._extract, dead_letters=dead_letters)

    def write(self, deliveries: Sequence[Delivery]) -> WriteOutcome:
        """Handle a batch of the write queue; the outcome holds those to be delivered again."""
        dead_letters = self.parts.dead_letters(self.parts.write_queue)
        return writing.write(deliveries, self._stores, objects=self.parts.objects, dead_letters=dead_letters)

    def search(self, scope: Scope, request: SearchRequest, now: datetime | None = None) -> SearchResponse:
        """Answer `search_memory`."""
        config = self.parts.config(scope.workspace)
        return searching.search(
            scope,
            request,
            now or self.parts.clock(),
            config.zone,
            reader=self.parts.records,
            ledger=self.ledger,
            embedder=self.parts.embedder(config),
        )

    def plan(self, grain: Grain, now: datetime) -> int:
        """Put the grain's due periods of all agents on the work queue; how many there were."""
        planned = planning.plan(grain, now, ledger=self.ledger, config=self.configs())
        for due in planned.due:
            work = SummarizePeriod(due.scope, due.period, now)
            send_work(work, due.marks, queue=self.parts.summary_queue)
        return len(planned.due)

    def work(self, deliveries: Sequence[Delivery]) -> "WorkOutcome":
        """Summarize the periods of a batch of the work queue."""
        outcome = WorkOutcome()

        def handle(delivery: Delivery) -> None:
            work = read_work(delivery)
            outcome.count(self._summarize(work.scope, work.period, max(work.planned_at, self.parts.clock())))

        dead_letters = self.parts.dead_letters(self.parts.summary_queue)
        outcome.returned = deliver.deliver_each(deliveries, handle, dead_letters=dead_letters)
        return outcome

    def summarize(self, scope: Scope, grains: Sequence[Grain], now: datetime) -> "WorkOutcome":
        """Summarize one agent's due periods at once, from the finest grain up."""
        outcome = WorkOutcome()
        for grain in grains:
            planned = planning.plan(
                grain, now, ledger=self.ledger, config=self.configs(), scope=scope, retry_now=True
            )
            for due in planned.due:
                outcome.count(self._summarize(scope, due.period, now))
        return outcome

    def clean(self, now: datetime) -> "CleanOutcome":
        """Clean up the agents of which something has expired."""
        outcome = CleanOutcome()
        for scope, notes in islice(self.ledger.expiring(now).items(), MAX_CLEANED):
            outcome.count(self.cleanup(scope, now, notes=notes))
        return outcome

    def cleanup(
        self,
        scope: Scope,
        now: datetime,
        *,
        notes: Sequence[str] = (),
        dry_run: bool = False,
        force: bool = False,
    ) -> CleanupReport:
        """Clean up one agent, or with `dry_run` only say what would go."""
        report = cleaning.inspect(
            scope,
            now,
            self.parts.config(scope.workspace),
            reader=self.parts.records,
            ledger=self.ledger,
            objects=self.parts.objects,
            force=force,
        )
        if not dry_run:
            cleaning.clean(
                scope, report, notes, queue=self._write_queue, ledger=self.ledger, objects=self.parts.objects
            )
        return report

    def show(self, scope: Scope, record_id: str, depth: int | None = None) -> dict[str, Any]:
        """A record and its sources, `depth` levels of them."""
        from varve.pipeline.show import show

        return show(scope, record_id, reader=self.parts.records, objects=self.parts.objects, depth=depth)

    def status(self, scope: Scope) -> dict[str, Any]:
        """How things stand."""
        from varve.pipeline.status import status

        return status(
            scope,
            self.parts.clock(),
            self.parts.config(scope.workspace),
            reader=self.parts.records,
            graph=self.parts.graph,
            ledger=self.ledger,
            objects=self.parts.objects,
        )

    def configs(self) -> Callable[[str], WorkspaceConfig]:
        """Each workspace's configuration, read once for a pass."""
        return cache(self.parts.config)

    def _summarize(self, scope: Scope, period: Period, now: datetime) -> Outcome:
        config = self.parts.config(scope.workspace)
        return summarizing.summarize(
            scope,
            period,
            now,
            config,
            reader=self.parts.records,
            ledger=self.ledger,
            summarizer=self.parts.summarizer(config, scope.agent),
            embedder=self.parts.embedder(config),
            queue=self._write_queue,
            objects=self.parts.objects,
        )

    def _extract(self, delivery: Delivery) -> None:
        message = read_ingest(delivery, objects=self.parts.objects)
        scope = message.conversation.scope
        config = self.parts.config(scope.workspace)
        outcome = extracting.extract(
            message,
            config.zone,
            extractor=self.parts.extractor(config, scope.agent),
            embedder=self.parts.embedder(config),
            queue=self._write_queue,
            objects=self.parts.objects,
        )
        self._extracted.append(outcome)

    def _write(self, delivery: Delivery) -> None:
        writing.write_now(delivery, self._stores, objects=self.parts.objects)

    @cached_property
    def ledger(self) -> Ledger:
        """What is due, what has failed, what expires."""
        return Ledger(self.parts.objects)

    @cached_property
    def _stores(self) -> Stores:
        """The writers, handed out only after the endpoint has shown that it is safe to write to."""
        self.parts.require_safe_store()
        return Stores(self.parts.records, self.parts.graph, self.ledger)

    @cached_property
    def _ingest_queue(self) -> Queue:
        return self.parts.ingest_queue if self.queued else _inline(self._extract)

    @cached_property
    def _write_queue(self) -> Queue:
        return self.parts.write_queue if self.parts.settings.write_queue_url else _inline(self._write)


@dataclass(slots=True)
class WorkOutcome:
    """What became of a batch of periods; `returned` are the deliveries to make again."""

    returned: list[Delivery] = field(default_factory=list)
    built: int = 0
    unchanged: int = 0
    failed: int = 0
    given_up: int = 0

    def count(self, outcome: Outcome) -> None:
        """One more period; an empty one counts as unchanged."""
        self.built += outcome is Outcome.BUILT
        self.failed += outcome in (Outcome.FAILED, Outcome.GIVEN_UP)
        self.given_up += outcome is Outcome.GIVEN_UP
        self.unchanged += outcome in (Outcome.UNCHANGED, Outcome.EMPTY)


@dataclass(slots=True)
class CleanOutcome:
    """What a cleanup pass sent to the writer, and what it had to leave."""

    agents: int = 0
    periods: int = 0
    records: int = 0
    unsealed: int = 0

    def count(self, report: CleanupReport) -> None:
        """One more agent."""
        self.agents += 1
        self.periods += sum(len(grain.expired) for grain in report.grains)
        self.records += sum(grain.records for grain in report.grains)
        self.unsealed += sum(len(grain.unsealed) for grain in report.grains)


def open_application() -> Application:
    """The application of this process's environment. Raises Misconfigured: names the variable."""
    return Application(Parts(read_settings(os.environ)))


def _inline(handle: Any) -> Queue:
    from varve.adapters.inline_queue import InlineQueue

    return InlineQueue(handle)


def _sum(outcomes: Sequence[ExtractOutcome]) -> ExtractOutcome:
    total = ExtractOutcome()
    for one in outcomes:
        total = replace(
            total,
            messages=total.messages + one.messages,
            turns=total.turns + one.turns,
            facts=total.facts + one.facts,
            operations=total.operations + one.operations,
            ignored=total.ignored + one.ignored,
        )
    return total
