"""The nightly work with its parts: what is planned, summarized and cleaned up, by schedule or by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import islice

from varve.bootstrap import Parts
from varve.domain.calendar import Grain, Period
from varve.domain.identity import Scope
from varve.domain.workspace import WorkspaceConfig
from varve.messages import SummarizePeriod, read_work, send_work
from varve.pipeline import cleanup as cleaning
from varve.pipeline import deliver
from varve.pipeline import plan as planning
from varve.pipeline import summarize as summarizing
from varve.pipeline.cleanup import CleanupReport
from varve.pipeline.ledger import Ledger
from varve.pipeline.summarize import Outcome
from varve.ports import Delivery, Queue

MAX_CLEANED = 500
"""Agents that one cleanup pass takes; the rest stay noted for the next."""


class Nights:
    """Planning, summarizing and cleanup over one set of parts; what they change goes to the write queue."""

    def __init__(self, parts: Parts, ledger: Ledger, write_queue: Queue) -> None:
        self.parts, self.ledger = parts, ledger
        self._write_queue = write_queue

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
