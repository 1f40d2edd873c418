"""The nightly work with its parts: what is planned, summarized and cleaned up, by schedule or by hand."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from itertools import islice

from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key, noted_grain
from varve.domain.record import Store
from varve.domain.retention import expires_at
from varve.domain.workspace import WorkspaceConfig
from varve.messages.work import (
    CleanAgent,
    CurateAgent,
    SummarizePeriod,
    read_work,
    send_cleaning,
    send_curation,
    send_work,
)
from varve.ports.queues import Delivery, Queue
from varve.usecases import cleanup as cleaning
from varve.usecases import deliver
from varve.usecases import plan as planning
from varve.usecases import summarize as summarizing
from varve.usecases.cleanup import CleanupReport
from varve.usecases.ledger import Ledger
from varve.usecases.summarize import Outcome
from varve.wiring.parts import Parts

MAX_CLEANED = 5_000
"""Agents that one cleanup pass puts on the queue; the rest stay noted for the next."""
PAYLOADS_KEPT = timedelta(days=30)
"""Longer than a message may wait on its queue and then as a dead letter."""
MAX_NOTES = 800
"""Notes of one agent that one work item carries, so that it fits a queue message."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What a schedule's pass put on the work queue, what it left for the next, and what waits for others."""

    planned: int
    left: int
    waiting: int = 0


class Nights:
    """Planning, summarizing and cleanup over one set of parts; what they change goes to the write queue."""

    def __init__(
        self,
        parts: Parts,
        ledger: Ledger,
        write_queue: Queue,
        of: "Callable[[Scope], Nights]",
    ) -> None:
        self.parts, self.ledger = parts, ledger
        self._write_queue, self._of = write_queue, of

    def plan(self, grain: Grain, now: datetime) -> Pass:
        """Put the grain's due periods of all agents on the work queue."""
        planned = planning.plan(
            grain, now, ledger=self.ledger, config=cache(self._readable)
        )
        for due in planned.due:
            work = SummarizePeriod(due.scope, due.period, now)
            send_work(work, due.marks, queue=self.parts.summary_queue)
        return Pass(len(planned.due), planned.left, planned.waiting)

    def clean(self, now: datetime) -> Pass:
        """Put the agents of which something has expired on the work queue."""
        over = self.ledger.expiring(now)
        for scope, notes in islice(over.items(), MAX_CLEANED):
            send_cleaning(
                CleanAgent(scope, notes[:MAX_NOTES], now),
                queue=self.parts.summary_queue,
            )
        return Pass(min(len(over), MAX_CLEANED), max(0, len(over) - MAX_CLEANED))

    def curate(self, now: datetime) -> Pass:
        """Put the agents whose lessons have changed or may have gone stale on the work queue."""
        due = self.ledger.lessons_due(now)
        for scope, months in islice(due.items(), MAX_CLEANED):
            send_curation(
                CurateAgent(scope, months, now), queue=self.parts.summary_queue
            )
        return Pass(min(len(due), MAX_CLEANED), max(0, len(due) - MAX_CLEANED))

    def work(self, deliveries: Sequence[Delivery]) -> "WorkOutcome":
        """Summarize the periods and clean up the agents of a batch of the work queue."""
        outcome = WorkOutcome()
        dead_letters = self.parts.dead_letters(self.parts.summary_queue)
        outcome.returned = deliver.deliver_each(
            deliveries,
            lambda delivery: self._work(delivery, outcome),
            dead_letters=dead_letters,
        )
        return outcome

    def summarize(
        self, scope: Scope, grains: Sequence[Grain], now: datetime
    ) -> "WorkOutcome":
        """Summarize one agent's due periods at once, from the finest grain up."""
        outcome = WorkOutcome()
        for grain in grains:
            planned = planning.plan(
                grain,
                now,
                ledger=self.ledger,
                config=self._configs(),
                scope=scope,
                retry_now=True,
            )
            for due in planned.due:
                outcome.count(self._summarize(scope, due.period, now))
        return outcome

    def cleanup(
        self, scope: Scope, now: datetime, *, dry_run: bool = False, force: bool = False
    ) -> CleanupReport:
        """Clean up all of one agent at once, or with `dry_run` only say what would go.

        Payloads of long ago go too: a directory has no lifecycle rule as the template's bucket does.
        """
        report = self._inspect(scope, now, tuple(Grain), force)
        if not dry_run:
            self._clean(scope, report, self.ledger.expired_of(scope, now))
            payloads = self.parts.objects.list(f"payloads/{scope}")
            over = [
                info.key
                for info in payloads
                if now - info.last_modified > PAYLOADS_KEPT
            ]
            self.parts.objects.delete(over)
        return report

    def _work(self, delivery: Delivery, outcome: "WorkOutcome") -> None:
        match read_work(delivery):
            case SummarizePeriod(scope, period, planned_at):
                # A pass that is run again later learns, and fails, when it is run: who fails then
                # waits from then on. What it does was decided by the time it was scheduled for.
                now = max(planned_at, self.parts.clock())
                outcome.count(self._of(scope)._summarize(scope, period, now))
                outcome.lag_seconds = max(
                    outcome.lag_seconds, (now - planned_at).total_seconds()
                )
            case CleanAgent(scope, notes, planned_at):
                self._of(scope)._clean_noted(scope, notes, planned_at, outcome)
            case CurateAgent(scope, months, planned_at):
                self._of(scope)._curate(scope, months, planned_at)
                outcome.curated += 1

    def _clean_noted(
        self, scope: Scope, notes: Sequence[str], now: datetime, outcome: "WorkOutcome"
    ) -> None:
        """Clean up the grains that the notes name; nothing is asked where another delivery has done it."""
        standing = self.ledger.standing(notes)
        if standing:
            report = self._inspect(scope, now, {noted_grain(note) for note in standing})
            self._clean(scope, report, standing)
            outcome.count_cleaned(report)

    def _curate(self, scope: Scope, months: Sequence[str], now: datetime) -> None:
        """Look at an agent's lessons, and note when the next of them will be stale."""
        from varve.api.lessons import LessonBook
        from varve.domain.experience.curation import next_stale
        from varve.verbs.experience import ExperienceVerbs
        from varve.verbs.views import Views

        self.ledger.settle_lessons(scope, months)
        book = LessonBook(
            ExperienceVerbs(self.parts, self._write_queue, Views(self.parts)), scope
        )
        book.curate(now=now)
        if again := next_stale(book.all(), now):
            # The month after: passes are at a month's beginning. The 28th plus four days is in the next.
            self.ledger.note_lessons(scope, again.replace(day=28) + timedelta(days=4))
        self._note_experience(scope)

    def _note_experience(self, scope: Scope) -> None:
        """Have cleanup look when an agent's experience has outlived its plan: no summary may note that."""
        config = self.parts.config(scope.workspace)
        limit, zone = config.limit(Grain.YEARLY), config.zone
        years = (
            Period(Grain.YEARLY, y)
            for y in self.parts.records.periods(scope, Store.EXPERIENCE)
        )
        notes = tuple(
            expiry_key(expires_at(year, limit, zone), scope, Grain.YEARLY)
            for year in years
        )
        self.ledger.change(LedgerChanges(expiries=notes))

    def _inspect(
        self,
        scope: Scope,
        now: datetime,
        grains: Collection[Grain],
        force: bool = False,
    ) -> CleanupReport:
        return cleaning.inspect(
            scope,
            now,
            self.parts.config(scope.workspace),
            reader=self.parts.records,
            ledger=self.ledger,
            objects=self.parts.objects,
            grains=grains,
            force=force,
        )

    def _clean(self, scope: Scope, report: CleanupReport, notes: Sequence[str]) -> None:
        cleaning.clean(
            scope,
            report,
            notes,
            queue=self._write_queue,
            ledger=self.ledger,
            objects=self.parts.objects,
        )

    def _configs(self) -> Callable[[str], WorkspaceConfig]:
        """Each workspace's configuration, read once for a pass."""
        return cache(self.parts.config)

    def _readable(self, workspace: str) -> WorkspaceConfig:
        """A workspace's configuration, the default where it is not valid: no other's night waits for that."""
        try:
            return self.parts.config(workspace)
        except Rejected:
            return WorkspaceConfig()

    def _summarize(self, scope: Scope, period: Period, now: datetime) -> Outcome:
        try:
            config = self.parts.config(scope.workspace)
        except Rejected as error:
            return summarizing.failed(scope, period, error, now, ledger=self.ledger)
        privacy = self.parts.privacy(config, scope.workspace)
        return summarizing.summarize(
            scope,
            period,
            now,
            config,
            reader=self.parts.records,
            ledger=self.ledger,
            summarizer=self.parts.summarizer(config, scope.agent, privacy),
            private=privacy,
            embedder=self.parts.embedder(config),
            queue=self._write_queue,
            objects=self.parts.objects,
        )


@dataclass(slots=True)
class WorkOutcome:
    """What became of a batch of periods and agents; `returned` are the deliveries to make again.

    `lag_seconds` is the longest that one of the periods waited after a pass had found it due.
    """

    returned: list[Delivery] = field(default_factory=list)
    built: int = 0
    unchanged: int = 0
    failed: int = 0
    given_up: int = 0
    cleaned: int = 0
    expired: int = 0
    unsealed: int = 0
    curated: int = 0
    lag_seconds: float = 0.0

    def count(self, outcome: Outcome) -> None:
        """One more period; an empty one counts as unchanged."""
        self.built += outcome is Outcome.BUILT
        self.failed += outcome in (Outcome.FAILED, Outcome.GIVEN_UP)
        self.given_up += outcome is Outcome.GIVEN_UP
        self.unchanged += outcome in (Outcome.UNCHANGED, Outcome.EMPTY)

    def count_cleaned(self, report: CleanupReport) -> None:
        """One more agent: the periods whose deletion was sent to the writer, and those kept too long."""
        self.cleaned += 1
        self.expired += sum(len(grain.expired) for grain in report.grains)
        self.unsealed += sum(len(grain.unsealed) for grain in report.grains)

    def metrics(self) -> dict[str, int]:
        """The counts by the names of their metrics."""
        return {
            "BuiltSummaries": self.built,
            "UnchangedSummaries": self.unchanged,
            "FailedPeriods": self.failed,
            "GivenUpPeriods": self.given_up,
            "CleanedAgents": self.cleaned,
            "ExpiredPeriods": self.expired,
            "CuratedAgents": self.curated,
            "UnsealedPeriods": self.unsealed,
            "ReturnedMessages": len(self.returned),
        }
