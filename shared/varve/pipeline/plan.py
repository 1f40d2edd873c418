"""Plan: which periods of a grain are to be summarized now."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, is_closed
from varve.domain.identity import Scope
from varve.domain.ledger import Due, Failure
from varve.domain.workspace import WorkspaceConfig
from varve.pipeline.ledger import Ledger

GRACE = timedelta(hours=1)
"""How long after its end a period stays open for messages that are still on their way."""

EASTERNMOST = timedelta(hours=14)
"""How far ahead of UTC the first clocks are, those of Kiritimati."""

MAX_PER_PASS = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The periods to summarize now, oldest first, and how many more are closed but wait or are left."""

    due: tuple[Due, ...]
    left: int


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
    failures = ledger.failures(grain, scope)
    ready = sorted(
        (
            due
            for due in ledger.due(grain, scope)
            if _may_be_closed(due.period, now)
            and is_closed(due.period, now, config(due.scope.workspace).zone, GRACE)
            and (retry_now or _may_try(failures.get((due.scope, due.period)), now))
        ),
        key=lambda due: (due.period.label, due.scope.workspace, due.scope.agent),
    )
    waiting = _Children(grain, ledger)
    planned = tuple(islice((due for due in ready if not waiting.on(due)), most))
    return Plan(planned, len(ready) - len(planned))


def pending(scope: Scope, grain: Grain, ledger: Ledger) -> Iterator[Period]:
    """One agent's periods of a grain that have no ready summary, or a stale one."""
    return (due.period for due in ledger.due(grain, scope))


def _may_be_closed(period: Period, now: datetime) -> bool:
    """Whether it is closed anywhere on Earth: of what is open everywhere no configuration is read."""
    return is_closed(period, now + EASTERNMOST, ZoneInfo("UTC"), GRACE)


def _may_try(failure: Failure | None, now: datetime) -> bool:
    return failure is None or failure.next_try <= now


class _Children:
    """What a period still waits for: children that are due and have not been given up."""

    def __init__(self, grain: Grain, ledger: Ledger) -> None:
        self._child = grain.child or Grain.WORKING
        self._ledger = ledger
        self._unready: dict[Scope, frozenset[Period]] = {}

    def on(self, due: Due) -> bool:
        if self._child is Grain.WORKING:
            return False
        if due.scope not in self._unready:
            self._unready[due.scope] = self._of(due.scope)
        return not self._unready[due.scope].isdisjoint(due.period.children())

    def _of(self, scope: Scope) -> frozenset[Period]:
        failures = self._ledger.failures(self._child, scope)
        given_up = {period for (_, period), failure in failures.items() if failure.given_up}
        return frozenset(pending(scope, self._child, self._ledger)) - given_up
