"""The work queue: summarize one period, clean up one agent, or curate its lessons."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period
from varve.domain.errors import Rejected
from varve.domain.ledger import noted_grain
from varve.domain.record import Store
from varve.domain.summary import PeriodPart
from varve.messages.moves import CompactStore, send_compaction
from varve.messages.work import (
    CatchUpAgent,
    CleanAgent,
    CurateAgent,
    SummarizePeriod,
    read_work,
    send_catch_up,
    send_work,
)
from varve.ports.meter import doing
from varve.ports.queues import DeadLetters, Delivery, Queue
from varve.usecases.cleanup import CleanupReport, clean, inspect
from varve.usecases.experience.lessons import curate_agent
from varve.usecases.ingest.catching_up import MOST_IN_ONE_RUN, catch_up_waiting
from varve.usecases.plan import find_due
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.usecases.session import OpenSession, Session
from varve.usecases.summaries.summarize import (
    MAX_USERS,
    SummarizeOutcome,
    SummaryOutcome,
    summarize,
)
from varve.usecases.write.deliver import deliver_each

PAYLOADS_KEPT = timedelta(days=30)
"""Longer than a message may wait on its queue and then as a dead letter."""


@dataclass(slots=True)
class WorkOutcome:
    """Counts of a batch of periods and agents; `returned` must be delivered again.

    `built` counts summaries; `unchanged`, `failed` and `given_up` count periods.
    `lag_seconds` is the longest time from the pass that found a period due to its work.
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

    def count(self, outcome: SummarizeOutcome) -> None:
        """Add one period; an empty one counts as unchanged."""
        state = outcome.state
        self.built += outcome.built
        self.failed += state in (
            SummaryOutcome.FAILED,
            SummaryOutcome.GIVEN_UP,
        )
        self.given_up += state is SummaryOutcome.GIVEN_UP
        self.unchanged += state in (
            SummaryOutcome.UNCHANGED,
            SummaryOutcome.EMPTY,
        )

    def count_cleaned(self, report: CleanupReport) -> None:
        """Add one agent: the periods sent for deletion, and those kept too long."""
        self.cleaned += 1
        self.expired += sum(len(grain.expired) for grain in report.grains)
        self.unsealed += sum(len(grain.unsealed) for grain in report.grains)

    def metrics(self) -> dict[str, int]:
        """Return the counts by the names of their metrics."""
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


def work(
    open_session: OpenSession,
    deliveries: Sequence[Delivery],
    *,
    now: datetime,
    dead_letters: DeadLetters,
    queue: Queue,
) -> WorkOutcome:
    """Handle a batch of the work queue, each item with a session of its agent.

    The users of a period that an item leaves go back to the `queue` as another item.
    """
    outcome = WorkOutcome()

    def handle(delivery: Delivery) -> None:
        _handle(open_session, delivery, now, outcome, queue)

    outcome.returned = deliver_each(
        deliveries, handle, dead_letters=dead_letters
    )
    return outcome


def _handle(
    open_session: OpenSession,
    delivery: Delivery,
    now: datetime,
    outcome: WorkOutcome,
    queue: Queue,
) -> None:
    match read_work(delivery):
        case SummarizePeriod(scope, period, planned_at, part):
            # The time to try again counts from the work, the period from the plan.
            started = max(planned_at, now)
            with open_session(scope, started) as session:
                done = summarize(session, period, part)
            outcome.count(done)
            if done.rest:
                rest = SummarizePeriod(scope, period, planned_at, done.rest)
                send_work(rest, (), queue=queue)
            lag = (started - planned_at).total_seconds()
            outcome.lag_seconds = max(outcome.lag_seconds, lag)
        case CleanAgent(scope, notes, planned_at):
            with open_session(scope, planned_at) as session:
                _clean_noted(session, notes, outcome)
        case CurateAgent(scope, months, planned_at):
            with open_session(scope, planned_at) as session:
                curate_agent(session, months)
            outcome.curated += 1
        case CatchUpAgent(scope, planned_at):
            with open_session(scope, max(planned_at, now)) as session:
                caught = catch_up_waiting(session, MOST_IN_ONE_RUN)
            if caught.left and caught.messages:
                again = CatchUpAgent(scope, planned_at)
                send_catch_up(again, caught.left, queue=queue)


@doing("cleanup")
def _clean_noted(
    session: Session, notes: Sequence[str], outcome: WorkOutcome
) -> None:
    """Clean up the grains of the notes that no other delivery has settled."""
    standing = session.ledger.standing(notes)
    if standing:
        report = inspect(session, {noted_grain(note) for note in standing})
        clean(session, report, standing)
        outcome.count_cleaned(report)


def parse_summary_grains(grain: str | None) -> Sequence[Grain]:
    """Return the grain of this name, or all that have summaries. Raises Rejected."""
    if grain is None:
        return SUMMARY_GRAINS
    if grain not in SUMMARY_GRAINS:
        names = ", ".join(SUMMARY_GRAINS)
        raise Rejected("grain", f"{grain[:40]!r} is not one of {names}")
    return (Grain(grain),)


@doing("summarize")
def summarize_agent(
    session: Session, grains: Sequence[Grain], progress: Progress = no_progress
) -> WorkOutcome:
    """Summarize one agent's due periods, from the finest grain up.

    Each summary is written before the next is planned.
    """
    outcome = WorkOutcome()
    for grain in grains:
        found = find_due(
            grain,
            session.now,
            ledger=session.ledger,
            config=lambda _: session.config,
            scope=session.scope,
            retry_now=True,
        )
        step = StepCounter(f"{grain} periods", len(found.due), progress)
        for due in step.count(found.due):
            _summarize_all(session, due.period, outcome)
    _compact_stores(session)
    return outcome


def _summarize_all(
    session: Session, period: Period, outcome: WorkOutcome
) -> None:
    """Summarize a period of every user, writing each part before the next.

    No function's time limits a part here, and each part reads the period again.
    """
    part: PeriodPart | None = None
    while True:
        done = summarize(session, period, part, most_calls=MAX_USERS)
        session.queues.flush()
        outcome.count(done)
        part = done.rest
        if part is None:
            break


def _compact_stores(session: Session) -> None:
    """Compact the agent's stores, as the last step of a night's work by hand.

    Behind a queue the writer compacts each store as it grows.
    """
    if session.queues.delivers_writes:
        return
    token = uuid4().hex
    for store in (*Grain, *Store):
        message = CompactStore(session.scope, store)
        send_compaction(
            message, token, queue=session.queues.write, objects=session.objects
        )


@doing("cleanup")
def clean_agent(
    session: Session, *, dry_run: bool = False, force: bool = False
) -> CleanupReport:
    """Clean up all grains of one agent; with `dry_run` only report what would go.

    Old payloads go too: a directory has no lifecycle rule as the template's bucket has.
    """
    report = inspect(session, tuple(Grain), force=force)
    if dry_run:
        return report
    expired = session.ledger.expired_of(session.scope, session.now)
    clean(session, report, expired)
    _compact_stores(session)
    oldest = session.now - PAYLOADS_KEPT
    payloads = session.objects.list(f"payloads/{session.scope}")
    old = [info.key for info in payloads if info.last_modified < oldest]
    session.objects.delete(old)
    return report
