"""How long each plan keeps each grain, and what has outlived it, exact to the calendar."""

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
    """The plans, each with its retention."""

    FREE = "free"
    STARTER = "starter"
    PRO = "pro"


class Unit(StrEnum):
    """What a limit counts."""

    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"
    QUARTERS = "quarters"
    YEARS = "years"


_GRAINS = {
    Unit.DAYS: Grain.DAILY,
    Unit.WEEKS: Grain.WEEKLY,
    Unit.MONTHS: Grain.MONTHLY,
    Unit.QUARTERS: Grain.QUARTERLY,
    Unit.YEARS: Grain.YEARLY,
}
_LIMIT = re.compile(rf"([1-9][0-9]{{0,5}}) ({'|'.join(unit[:-1] for unit in Unit)})s?")


@dataclass(frozen=True, slots=True)
class Limit:
    """How much time is kept: so many hours back from now, or so many calendar units with the running one.

    Raises Rejected: an amount below 1 or above MAX_AMOUNT.
    """

    amount: int
    unit: Unit

    def __post_init__(self) -> None:
        if not 1 <= self.amount <= MAX_AMOUNT:
            raise Rejected(
                "retention", f"must be 1 to {MAX_AMOUNT} {self.unit}, not {self.amount}"
            )

    @classmethod
    def parse(cls, text: str) -> "Limit":
        """The limit of a text such as `30 days` or `1 year`. Raises Rejected: any other form."""
        match = _LIMIT.fullmatch(text)
        if match is None:
            units = ", ".join(Unit)
            raise Rejected(
                "retention",
                f"{text[:40]!r} is not a number and one of {units}, as '30 days' is",
            )
        return cls(int(match[1]), Unit(match[2] + "s"))

    def __str__(self) -> str:
        return f"{self.amount} {self.unit if self.amount > 1 else self.unit[:-1]}"


def _plan(*limits: str) -> Mapping[Grain, Limit]:
    return MappingProxyType(dict(zip(Grain, map(Limit.parse, limits), strict=True)))


# In the order of the grains, from working to yearly.
PLANS: Mapping[Plan, Mapping[Grain, Limit]] = MappingProxyType(
    {
        Plan.FREE: _plan(
            "48 hours", "30 days", "6 weeks", "6 months", "4 quarters", "2 years"
        ),
        Plan.STARTER: _plan(
            "120 hours", "60 days", "12 weeks", "12 months", "8 quarters", "4 years"
        ),
        Plan.PRO: _plan(
            "240 hours", "120 days", "24 weeks", "24 months", "16 quarters", "8 years"
        ),
    }
)


def cutoff(limit: Limit, now: datetime, zone: ZoneInfo) -> datetime:
    """The instant, in UTC, at or before which a period must have ended to be expired.

    Hours are elapsed time: `48 hours` is now minus 48 hours, daylight saving or not. The other units
    are whole periods of the pyramid's calendar in the zone, the one that holds now among them: `30
    days` is the start of the day 29 calendar days ago, so that exactly 30 daily periods are left, today
    and 29 before. In Lisbon on 2026-03-31, whatever the hour, that is 2026-03-02T00:00Z: 2 March is
    kept and 1 March expired, though the clocks changed on the 29th. `1 year` on 2026-11-30 is the start
    of 2026-W01, 2025-12-29. A limit that reaches beyond the calendar expires nothing: EARLIEST.
    """
    try:
        if limit.unit is Unit.HOURS:
            return now.astimezone(UTC) - timedelta(hours=limit.amount)
        running = Period.of(now, _GRAINS[limit.unit], zone)
        return running.shifted(1 - limit.amount).start(zone)
    except (OverflowError, Rejected):
        return EARLIEST


def expired(period: Period, limit: Limit, now: datetime, zone: ZoneInfo) -> bool:
    """Whether all of the period has outlived the limit; a day is kept until its last hour has."""
    return period.end(zone) <= cutoff(limit, now, zone)


def expires_at(period: Period, limit: Limit, zone: ZoneInfo) -> datetime:
    """The first instant, in UTC, at which the period is expired; LATEST if the calendar ends before."""
    try:
        if limit.unit is Unit.HOURS:
            return period.end(zone) + timedelta(hours=limit.amount)
        return (
            Period.of_day(period.days[1], _GRAINS[limit.unit])
            .shifted(limit.amount)
            .start(zone)
        )
    except (OverflowError, Rejected):
        return LATEST


def oldest_kept(grain: Grain, limit: Limit, now: datetime, zone: ZoneInfo) -> Period:
    """The first period of the grain that is not expired: exactly the lesser labels are."""
    return Period.of(cutoff(limit, now, zone), grain, zone)


def timeline_limit(
    plan: Plan, own: Limit | None, now: datetime, zone: ZoneInfo
) -> Limit:
    """The timeline's limit: the plan's yearly one, or the workspace's own where that keeps less."""
    yearly = PLANS[plan][Grain.YEARLY]
    return max(yearly, own or yearly, key=lambda limit: cutoff(limit, now, zone))


def timeline_expires_at(
    day: Period, plan: Plan, own: Limit | None, zone: ZoneInfo
) -> datetime:
    """The first instant, in UTC, at which the messages of a local day have outlived that limit."""
    yearly = PLANS[plan][Grain.YEARLY]
    return min(expires_at(day, limit, zone) for limit in (yearly, own or yearly))
