"""The periods of a memory as layers: how much each holds, and the state of its summary."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, is_closed
from varve.domain.ledger import Failure
from varve.domain.retention import Limit, expired


class Condition(StrEnum):
    """The condition of a period's summary.

    `running`: the period is not over. `waiting`: a finer period comes first. `empty`: the
    period is over and has no summary. `expired`: retention has deleted it.
    """

    RUNNING = "running"
    READY = "ready"
    STALE = "stale"
    DUE = "due"
    WAITING = "waiting"
    FAILED = "failed"
    EXPIRED = "expired"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Stratum:
    """One period: the turns and facts that it still holds, and its summaries.

    `amount` is how many records were made of it. It is known from the sources of the
    summaries after the records have expired. `reason` is that of a failure.
    """

    period: Period
    condition: Condition
    turns: int = 0
    facts: int = 0
    summaries: int = 0
    amount: int = 0
    reason: str | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """The records that a memory keeps of one period, by type, and a summary's sources."""

    turns: int = 0
    facts: int = 0
    summaries: int = 0
    sources: int = 0


@dataclass(frozen=True, slots=True)
class Strata:
    """All periods that hold or held something, by period."""

    by_period: Mapping[Period, Stratum]
    below: Mapping[Period, tuple[Stratum, ...]] = field(repr=False)

    @property
    def years(self) -> tuple[Stratum, ...]:
        """The years, oldest first."""
        years = [
            one for p, one in self.by_period.items() if p.grain is Grain.YEARLY
        ]
        return tuple(sorted(years, key=lambda stratum: stratum.period))

    @property
    def days(self) -> tuple[Stratum, ...]:
        """The days, oldest first."""
        days = [
            one for p, one in self.by_period.items() if p.grain is Grain.DAILY
        ]
        return tuple(sorted(days, key=lambda stratum: stratum.period))

    def get(self, period: Period) -> Stratum | None:
        """Return the period's stratum; None: memory never held anything of it."""
        return self.by_period.get(period)

    def children(self, period: Period) -> tuple[Stratum, ...]:
        """Return the strata that tile a period, oldest first; a day has none."""
        return self.below.get(period, ())


@dataclass(frozen=True, slots=True)
class Calendar:
    """The time of a look: now, the zone, the grace, and the limit of each grain."""

    now: datetime
    zone: ZoneInfo
    grace: timedelta
    limit: Callable[[Grain], Limit]


def build_strata(
    kept: Mapping[Period, Kept],
    pending: Iterable[Period],
    failures: Mapping[Period, Failure],
    calendar: Calendar,
) -> Strata:
    """Return the strata of the kept records; of a period below, the periods above as well.

    A day's turns and facts stand under its daily period.
    """
    builder = _Builder(kept, frozenset(pending), failures, calendar)
    for grain in SUMMARY_GRAINS:
        builder.add_grain(grain)
    return builder.strata()


class _Builder:
    def __init__(
        self,
        kept: Mapping[Period, Kept],
        pending: frozenset[Period],
        failures: Mapping[Period, Failure],
        calendar: Calendar,
    ) -> None:
        self._kept = kept
        self._pending = pending
        self._failures = failures
        self._calendar = calendar
        self._strata: dict[Period, Stratum] = {}
        self._below: defaultdict[Period, list[Stratum]] = defaultdict(list)

    def add_grain(self, grain: Grain) -> None:
        """Add the grain's periods; those of the finer grain are there already."""
        own = {*self._kept, *self._pending}
        periods = {period for period in own if period.grain is grain}
        periods |= {period for period in self._below if period.grain is grain}
        for period in sorted(periods):
            stratum = self._build(period)
            self._strata[period] = stratum
            parent = period.parent()
            if parent is not None:
                self._below[parent].append(stratum)

    def strata(self) -> Strata:
        """Return all that was added."""
        below = {
            period: tuple(strata) for period, strata in self._below.items()
        }
        return Strata(self._strata, below)

    def _build(self, period: Period) -> Stratum:
        kept = self._kept.get(period, Kept())
        below = self._below.get(period, [])
        turns = kept.turns + sum(stratum.turns for stratum in below)
        facts = kept.facts + sum(stratum.facts for stratum in below)
        amount = turns + facts
        if below:
            amount = sum(stratum.amount for stratum in below)
        reason = None
        attempts = 0
        failure = self._failures.get(period)
        if failure:
            reason = failure.reason
            attempts = failure.attempts
        return Stratum(
            period=period,
            condition=self._find_condition(period, kept),
            turns=turns,
            facts=facts,
            summaries=kept.summaries,
            amount=max(amount, kept.sources),
            reason=reason,
            attempts=attempts,
        )

    def _find_condition(self, period: Period, kept: Kept) -> Condition:
        calendar = self._calendar
        if not is_closed(period, calendar.now, calendar.zone, calendar.grace):
            return Condition.RUNNING
        if period in self._pending:
            return self._find_pending_condition(period, kept)
        if kept.summaries:
            return Condition.READY
        limit = calendar.limit(period.grain)
        if expired(period, limit, calendar.now, calendar.zone):
            return Condition.EXPIRED
        return Condition.WAITING if self._waits(period) else Condition.EMPTY

    def _find_pending_condition(self, period: Period, kept: Kept) -> Condition:
        if period in self._failures:
            return Condition.FAILED
        return Condition.STALE if kept.summaries else Condition.DUE

    def _waits(self, period: Period) -> bool:
        """Return whether a finer period must be summarized before this one."""
        unfinished = {
            Condition.RUNNING,
            Condition.DUE,
            Condition.STALE,
            Condition.WAITING,
            Condition.FAILED,
        }
        below = self._below.get(period, [])
        return any(stratum.condition in unfinished for stratum in below)
