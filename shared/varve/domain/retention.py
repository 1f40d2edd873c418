"""How long each plan keeps each grain, and which periods have expired."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from zoneinfo import ZoneInfo

from varve.domain.calendar import EARLIEST, LATEST, Grain, Period
from varve.domain.errors import Rejected

MAX_AMOUNT = 999_999


class Plan(StrEnum):
    """A retention plan; with `none` everything is kept."""

    NONE = "none"
    FREE = "free"
    STARTER = "starter"
    PRO = "pro"


class Unit(StrEnum):
    """The unit of time of a limit."""

    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"
    QUARTERS = "quarters"
    YEARS = "years"
    FOREVER = "forever"


_GRAINS = {
    Unit.DAYS: Grain.DAILY,
    Unit.WEEKS: Grain.WEEKLY,
    Unit.MONTHS: Grain.MONTHLY,
    Unit.QUARTERS: Grain.QUARTERLY,
    Unit.YEARS: Grain.YEARLY,
}
_UNITS = [unit for unit in Unit if unit is not Unit.FOREVER]
_LIMIT = re.compile(
    rf"([1-9][0-9]{{0,5}}) ({'|'.join(unit[:-1] for unit in _UNITS)})s?"
)


@dataclass(frozen=True, slots=True)
class Limit:
    """How much time is kept: hours back from now, or calendar units with the running one.

    In the unit FOREVER everything is kept, and the amount does not count.
    Raises Rejected: an amount below 1 or above MAX_AMOUNT.
    """

    amount: int
    unit: Unit

    def __post_init__(self) -> None:
        if not 1 <= self.amount <= MAX_AMOUNT:
            raise Rejected(
                "retention",
                f"must be 1 to {MAX_AMOUNT} {self.unit}, not {self.amount}",
            )

    @classmethod
    def parse(cls, text: str) -> "Limit":
        """Return the limit of a text such as `30 days`, `1 year` or `forever`.

        Raises Rejected: any other form.
        """
        if text == Unit.FOREVER:
            return cls(1, Unit.FOREVER)
        match = _LIMIT.fullmatch(text)
        if match is None:
            units = ", ".join(_UNITS)
            raise Rejected(
                "retention",
                f"{text[:40]!r} must be a number and one of {units}, such as '30 days', "
                "or 'forever'",
            )
        return cls(int(match[1]), Unit(match[2] + "s"))

    def __str__(self) -> str:
        if self.unit is Unit.FOREVER:
            return str(self.unit)
        unit = self.unit if self.amount > 1 else self.unit[:-1]
        return f"{self.amount} {unit}"


def _plan(*limits: str) -> Mapping[Grain, Limit]:
    """Return a plan's limits, which are given from working to yearly."""
    parsed = [Limit.parse(limit) for limit in limits]
    return MappingProxyType(dict(zip(Grain, parsed, strict=True)))


PLANS: Mapping[Plan, Mapping[Grain, Limit]] = MappingProxyType(
    {
        Plan.NONE: _plan(*["forever"] * len(Grain)),
        Plan.FREE: _plan(
            "48 hours",
            "30 days",
            "6 weeks",
            "6 months",
            "4 quarters",
            "2 years",
        ),
        Plan.STARTER: _plan(
            "120 hours",
            "60 days",
            "12 weeks",
            "12 months",
            "8 quarters",
            "4 years",
        ),
        Plan.PRO: _plan(
            "240 hours",
            "120 days",
            "24 weeks",
            "24 months",
            "16 quarters",
            "8 years",
        ),
    }
)


def cutoff(limit: Limit, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant, in UTC, by which an expired period has ended.

    Hours are elapsed time: `48 hours` is now minus 48 hours, with or without daylight
    saving. The other units are whole calendar periods in the zone, including the running
    one. `30 days` is the start of the day 29 calendar days ago, so that 30 daily periods
    are left: today and 29 before. In Lisbon on 2026-03-31, at any hour, that is
    2026-03-02T00:00Z. 2 March is kept and 1 March is expired, though the clocks changed
    on the 29th. `1 year` on 2026-11-30 is the start of 2026-W01, which is 2025-12-29. For
    a limit that reaches beyond the calendar it is EARLIEST, and no period is expired.
    """
    if limit.unit is Unit.FOREVER:
        return EARLIEST
    try:
        if limit.unit is Unit.HOURS:
            return now.astimezone(UTC) - timedelta(hours=limit.amount)
        running = Period.of(now, _GRAINS[limit.unit], zone)
        return running.shifted(1 - limit.amount).start(zone)
    except (OverflowError, Rejected):
        return EARLIEST


def expired(
    period: Period, limit: Limit, now: datetime, zone: ZoneInfo
) -> bool:
    """Return whether the whole period is older than the limit, its last hour included."""
    return period.end(zone) <= cutoff(limit, now, zone)


def expires_at(period: Period, limit: Limit, zone: ZoneInfo) -> datetime:
    """Return the first instant, in UTC, at which the period is expired.

    It is LATEST if the calendar ends before, and if the limit is `forever`.
    """
    if limit.unit is Unit.FOREVER:
        return LATEST
    try:
        if limit.unit is Unit.HOURS:
            return period.end(zone) + timedelta(hours=limit.amount)
        running = Period.of_day(period.days[1], _GRAINS[limit.unit])
        return running.shifted(limit.amount).start(zone)
    except (OverflowError, Rejected):
        return LATEST


def oldest_kept(
    grain: Grain, limit: Limit, now: datetime, zone: ZoneInfo
) -> Period:
    """Return the grain's first period that is not expired.

    A period of the grain is expired if and only if its label is smaller.
    """
    return Period.of(cutoff(limit, now, zone), grain, zone)


def timeline_limit(
    plan: Plan, own: Limit | None, now: datetime, zone: ZoneInfo
) -> Limit:
    """Return the timeline's limit.

    It is the plan's yearly limit, or the workspace's own where that keeps less.
    """
    yearly = PLANS[plan][Grain.YEARLY]
    if own is None or cutoff(own, now, zone) <= cutoff(yearly, now, zone):
        return yearly
    return own


def timeline_expires_at(
    day: Period, plan: Plan, own: Limit | None, zone: ZoneInfo
) -> datetime:
    """Return the first instant, in UTC, at which a local day's messages are expired."""
    by_plan = expires_at(day, PLANS[plan][Grain.YEARLY], zone)
    return min(by_plan, expires_at(day, own, zone)) if own else by_plan
