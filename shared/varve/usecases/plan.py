"""Plan: which periods of a grain are to be summarized now."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, is_closed
from varve.domain.identity import Scope
from varve.domain.ledger import Due
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.ledger import Ledger

GRACE = timedelta(hours=1)
"""How long after its end a period stays open for messages that are still on their way."""

EASTERNMOST = timedelta(hours=14)
"""How far ahead of UTC the first clocks are, those of Kiritimati."""

MAX_PER_PASS = 5_000
"""Periods that one pass puts on the queue: what it can send in half of its function's time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The periods to summarize now, oldest first, how many more there are, and how many wait for others."""

    due: tuple[Due, ...]
    left: int
    waiting: int


def plan(
    grain: Grain,
    now: datetime,
    *,
    ledger: Ledger,
    config: Callable[[str], WorkspaceConfig],
    scope: Scope | None = None,
    retry_now: bool = False,
    most: int = MAX_PER_PASS,
) -> Plan:
    """The grain's periods that are closed, whose children are ready, and that are not waiting.

    Of all agents that have something due, or of one. Missed passes need no memory of their own: what
    they would have done is still in the ledger. `retry_now` does not wait for failed periods' time.
    """
    over = [
        period for period in ledger.marked(grain, scope) if _may_be_closed(period, now)
    ]
    ready = [
        due
        for period in over
        for due in _tried(period, now, ledger, scope, retry_now)
        if is_closed(period, now, config(due.scope.workspace).zone, GRACE)
    ]
    children = _Children(grain, ledger, scope)
    free = [due for due in ready if not children.hold_up(due)]
    return Plan(tuple(free[:most]), len(free[most:]), len(ready) - len(free))


def _tried(
    period: Period, now: datetime, ledger: Ledger, scope: Scope | None, retry_now: bool
) -> Iterator[Due]:
    """The agents for which the period is due, but for those where it failed and its time has not come."""
    failures = {} if retry_now else ledger.failures(period, scope)
    for due in ledger.due_in(period, scope):
        failure = failures.get(due.scope)
        if failure is None or failure.next_try <= now:
            yield due


def _may_be_closed(period: Period, now: datetime) -> bool:
    """Whether it is closed anywhere on Earth: of what is open everywhere nothing more is read."""
    return is_closed(period, now, ZoneInfo("UTC"), GRACE - EASTERNMOST)


class _Children:
    """What periods still wait for: children that are due and have not been given up.

    The grain below is listed once for a pass, and those of its periods that somebody waits for.
    """

    def __init__(self, grain: Grain, ledger: Ledger, scope: Scope | None) -> None:
        self._child = grain.child or Grain.WORKING
        self._ledger, self._scope = ledger, scope
        self._unready: dict[Period, frozenset[Scope]] = {}

    def hold_up(self, due: Due) -> bool:
        if self._child is Grain.WORKING:
            return False
        return any(
            due.scope in self._of(child)
            for child in due.period.children()
            if child in self._marked
        )

    @cached_property
    def _marked(self) -> frozenset[Period]:
        return frozenset(self._ledger.marked(self._child, self._scope))

    def _of(self, child: Period) -> frozenset[Scope]:
        if child not in self._unready:
            due = frozenset(
                one.scope for one in self._ledger.due_in(child, self._scope)
            )
            failures = self._ledger.failures(child, self._scope)
            given_up = {
                scope for scope, failure in failures.items() if failure.given_up
            }
            self._unready[child] = due - given_up
        return self._unready[child]
