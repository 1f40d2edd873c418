"""Plan: put due periods, and agents to clean up or curate, on the work queue."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property, partial
from itertools import islice
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, is_closed
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.ledger import Due
from varve.domain.workspace import WorkspaceConfig
from varve.messages.work import (
    CatchUpAgent,
    CleanAgent,
    CurateAgent,
    SummarizePeriod,
    send_catch_up,
    send_cleaning,
    send_curation,
    send_work,
)
from varve.ports.meter import doing
from varve.ports.queues import Queue
from varve.usecases.ledger import Ledger

GRACE = timedelta(hours=1)
"""How long a period stays open after its end, for messages that arrive late."""
EASTERNMOST = timedelta(hours=14)
"""How far the first time zone, Kiritimati, is ahead of UTC."""
MAX_PER_PASS = 5_000
"""Periods that one pass puts on the queue; sending takes half its function's time."""
MAX_AGENTS_PER_PASS = 5_000
"""Agents that one pass puts on the queue; the rest stay noted for the next."""
MAX_NOTES = 800
"""Notes of one agent in one work item, so that it fits a queue message."""


@dataclass(frozen=True, slots=True)
class Planner:
    """The ledger of all agents, their configurations, and the work queue."""

    ledger: Ledger
    read_config: Callable[[str], WorkspaceConfig]
    queue: Queue


@dataclass(frozen=True, slots=True)
class DuePeriods:
    """The periods to summarize now, the oldest first.

    `left` more are due, and `waiting` ones need other periods first.
    """

    due: tuple[Due, ...]
    left: int
    waiting: int


@dataclass(frozen=True, slots=True)
class PassOutcome:
    """Counts of one pass: sent, left for the next pass, waiting for other periods."""

    planned: int
    left: int
    waiting: int = 0

    def metrics(self, planned: str, left: str) -> dict[str, int]:
        """Return the two counts by these metrics' names; nothing if both are 0."""
        if not self.planned and not self.left:
            return {}
        return {planned: self.planned, left: self.left}


@doing("plan")
def plan_summaries(
    planner: Planner, grain: Grain, now: datetime
) -> PassOutcome:
    """Put the grain's due periods of all agents on the work queue. Raises Retryable."""
    read_config = cache(partial(_config_or_default, planner))
    found = find_due(grain, now, ledger=planner.ledger, config=read_config)
    for due in found.due:
        work = SummarizePeriod(due.scope, due.period, now)
        send_work(work, due.marks, queue=planner.queue)
    return PassOutcome(len(found.due), found.left, found.waiting)


@doing("plan")
def plan_cleanup(planner: Planner, now: datetime) -> PassOutcome:
    """Put the agents of which something has expired on the work queue. Raises Retryable."""
    expired = planner.ledger.expiring(now)
    for scope, notes in islice(expired.items(), MAX_AGENTS_PER_PASS):
        send_cleaning(
            CleanAgent(scope, notes[:MAX_NOTES], now), queue=planner.queue
        )
    return _count(len(expired))


@doing("plan")
def plan_curation(planner: Planner, now: datetime) -> PassOutcome:
    """Put the agents whose lessons changed or may be stale on the work queue."""
    due = planner.ledger.lessons_due(now)
    for scope, months in islice(due.items(), MAX_AGENTS_PER_PASS):
        send_curation(CurateAgent(scope, months, now), queue=planner.queue)
    return _count(len(due))


@doing("plan")
def plan_catch_up(planner: Planner, now: datetime) -> PassOutcome:
    """Put the agents whose words wait for the model on the work queue. Raises Retryable."""
    agents = planner.ledger.waiting()
    for scope in agents[:MAX_AGENTS_PER_PASS]:
        send_catch_up(CatchUpAgent(scope, now), queue=planner.queue)
    return _count(len(agents))


def _count(agents: int) -> PassOutcome:
    planned = min(agents, MAX_AGENTS_PER_PASS)
    return PassOutcome(planned, agents - planned)


def _config_or_default(planner: Planner, workspace: str) -> WorkspaceConfig:
    """Return the workspace's configuration, or the default if it is invalid.

    One bad workspace must not block the nightly run of the others.
    """
    try:
        return planner.read_config(workspace)
    except Rejected:
        return WorkspaceConfig()


def find_due(
    grain: Grain,
    now: datetime,
    *,
    ledger: Ledger,
    config: Callable[[str], WorkspaceConfig],
    scope: Scope | None = None,
    retry_now: bool = False,
    most: int = MAX_PER_PASS,
) -> DuePeriods:
    """Return the grain's periods that are closed, with ready children, and not waiting.

    Of all agents, or of one. Missed passes need no memory of their own: their periods
    are still in the ledger. `retry_now` includes failed periods whose time to try again
    has not come.
    """
    over = [
        period
        for period in ledger.marked(grain, scope)
        if _may_be_closed(period, now)
    ]
    ready: list[Due] = []
    for period in over:
        for due in _tried(period, now, ledger, scope, retry_now):
            if is_closed(period, now, config(due.scope.workspace).zone, GRACE):
                ready.append(due)
    children = _Children(grain, ledger, scope)
    free = [due for due in ready if not children.hold_up(due)]
    chosen = tuple(free[:most])
    left = len(free) - len(chosen)
    held_up = len(ready) - len(free)
    return DuePeriods(chosen, left, held_up)


def _tried(
    period: Period,
    now: datetime,
    ledger: Ledger,
    scope: Scope | None,
    retry_now: bool,
) -> Iterator[Due]:
    """Yield the agents whose period is due, and not waiting for its next try."""
    failures = {} if retry_now else ledger.failures(period, scope)
    for due in ledger.due_in(period, scope):
        failure = failures.get(due.scope)
        if failure is None or failure.next_try <= now:
            yield due


def _may_be_closed(period: Period, now: datetime) -> bool:
    """Return whether the period is closed in any time zone."""
    return is_closed(period, now, ZoneInfo("UTC"), GRACE - EASTERNMOST)


class _Children:
    """The children that hold periods up: they are due and have not been given up.

    A pass lists the grain below once, and once each of its periods that is waited for.
    """

    def __init__(
        self, grain: Grain, ledger: Ledger, scope: Scope | None
    ) -> None:
        self._child = grain.child or Grain.WORKING
        self._ledger = ledger
        self._scope = scope
        self._unready: dict[Period, frozenset[Scope]] = {}

    def hold_up(self, due: Due) -> bool:
        if self._child is Grain.WORKING:
            return False
        marked = [
            child for child in due.period.children() if child in self._marked
        ]
        return any(
            due.scope in self._unready_scopes(child) for child in marked
        )

    @cached_property
    def _marked(self) -> frozenset[Period]:
        return frozenset(self._ledger.marked(self._child, self._scope))

    def _unready_scopes(self, child: Period) -> frozenset[Scope]:
        if child not in self._unready:
            unready = {
                due.scope for due in self._ledger.due_in(child, self._scope)
            }
            failures = self._ledger.failures(child, self._scope)
            for scope, failure in failures.items():
                if failure.given_up:
                    unready.discard(scope)
            self._unready[child] = frozenset(unready)
        return self._unready[child]
