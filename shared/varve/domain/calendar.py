"""Grains of time and their periods, in the workspace's time zone.

All grains follow the ISO calendar. A week belongs to the month that holds its Thursday,
that month to its quarter and year. So months, quarters and years are unions of whole
weeks, a year is the ISO year, and a period's children tile it exactly. The price: Monday
2026-11-30 lies in the week 2026-W49, whose Thursday is 3 December, and therefore in the
month 2026-12.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from zoneinfo import ZoneInfo

from varve.domain.errors import Rejected

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


class Grain(StrEnum):
    """How much time one record covers."""

    WORKING = "working"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"

    @property
    def parent(self) -> "Grain | None":
        """The next coarser grain; None for yearly."""
        return _PARENTS.get(self)

    @property
    def child(self) -> "Grain | None":
        """The next finer grain; None for working."""
        return _CHILDREN.get(self)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PARENTS = MappingProxyType(dict(pairwise(Grain)))
_CHILDREN = MappingProxyType(
    {parent: child for child, parent in _PARENTS.items()}
)

SUMMARY_GRAINS = (
    Grain.DAILY,
    Grain.WEEKLY,
    Grain.MONTHLY,
    Grain.QUARTERLY,
    Grain.YEARLY,
)


def noon_of(day: str) -> datetime:
    """Return noon in UTC of a day such as `2026-03-02`: when a summary's words were said."""
    return datetime.combine(date.fromisoformat(day), time(12, tzinfo=UTC))


def day_of(instant: datetime, zone: ZoneInfo) -> str:
    """Return the label of the local day that holds the instant, such as `2026-03-02`.

    At the first and last instants of the calendar it is the day in UTC.
    """
    try:
        return instant.astimezone(zone).date().isoformat()
    except OverflowError:
        return instant.astimezone(UTC).date().isoformat()


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the first instant of a local day, in UTC."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def days_before(instant: datetime, days: int, zone: ZoneInfo) -> date:
    """Return the local date that is `days` calendar days before the instant's own."""
    return instant.astimezone(zone).date() - timedelta(days=days)


@lru_cache(maxsize=4096)
def iso(instant: datetime) -> str:
    """Return ISO 8601 in UTC with a `Z`, the form of every contract.

    Microseconds appear only if they are not zero. A message's time is written about a
    dozen times on its way to a store.
    """
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return instant.isoformat().replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """Return the aware UTC datetime of an ISO 8601 text; without an offset it is UTC.

    Raises ValueError: not ISO 8601, or outside the years 1 to 9999 in UTC.
    """
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is UTC:
        return parsed
    if parsed.tzinfo is None:
        return parsed.replace(tzinfo=UTC)
    try:
        return parsed.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text} lies outside the calendar") from error


def microseconds(moment: datetime) -> int:
    """Return the microseconds from 1970 to a moment."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(since_1970: int) -> datetime:
    """Return the moment (UTC) that lies so many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=since_1970)


def parse_instant_field(text: str, field: str) -> datetime:
    """Return the instant of a caller's ISO 8601 text; without an offset it is UTC.

    Raises Rejected: names the field, for any other text.
    """
    try:
        return parse_instant(text)
    except ValueError as error:
        raise Rejected(
            field, f"{text[:40]!r} is not an ISO 8601 date and time"
        ) from error


def aware(instant: datetime, field: str = "now") -> datetime:
    """Return the instant in UTC.

    Raises Rejected: it is not a datetime, or has no time zone.
    """
    if not isinstance(instant, datetime) or instant.tzinfo is None:
        raise Rejected(field, "must be a datetime with a time zone")
    return instant.astimezone(UTC)


_LABEL = re.compile(
    r"(?P<yearly>[0-9]{4})"
    r"(?:-W(?P<weekly>[0-9]{2})|-Q(?P<quarterly>[1-4])|-(?P<monthly>[0-9]{2})(?:-(?P<daily>[0-9]{2}))?)?"
)
_DAY = timedelta(days=1)
_DAYS = {Grain.WORKING: 1, Grain.DAILY: 1, Grain.WEEKLY: 7}
_MONTHS = {Grain.MONTHLY: 1, Grain.QUARTERLY: 3, Grain.YEARLY: 12}


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """One calendar span of a grain.

    Labels are `2026-11-21` (working or daily), `2026-W47`, `2026-11`, `2026-Q4` and
    `2026`. The days of a period are the same in every zone; its instants are not. Periods
    of one grain sort by time. In any zone the calendar's first period begins at EARLIEST
    and its last one ends at LATEST. Raises Rejected: not a label of the grain.
    """

    grain: Grain
    label: str

    def __post_init__(self) -> None:
        form, _ = _parse_label(self.label)
        expected = Grain.DAILY if self.grain is Grain.WORKING else self.grain
        if form is not expected:
            raise Rejected(
                "period",
                f"{self.label} is not the label of a {self.grain} period",
            )

    @classmethod
    def of(cls, instant: datetime, grain: Grain, zone: ZoneInfo) -> "Period":
        """Return the period of the grain with `start <= instant < end`."""
        return cls.of_day(_local_day(instant, zone), grain)

    @classmethod
    def of_day(cls, day: date, grain: Grain) -> "Period":
        """Return the period of the grain that holds the day."""
        return cls(grain, _label(day, grain))

    @classmethod
    def parse(cls, label: str, grain: Grain | None = None) -> "Period":
        """Return the period of a label; without a grain, a day's label means daily.

        Raises Rejected: no such label, or not one of the grain.
        """
        if grain is None:
            grain, _ = _parse_label(label)
        return cls(grain, label)

    @property
    def days(self) -> tuple[date, date]:
        """The first and the last date."""
        _, first = _parse_label(self.label)
        try:
            following = _shift_first_day(first, 1, self.grain)
            return first, following - _DAY
        except (OverflowError, ValueError):
            return first, date.max

    def start(self, zone: ZoneInfo) -> datetime:
        """Return the first instant, in UTC."""
        return _midnight(self.days[0], zone)

    def end(self, zone: ZoneInfo) -> datetime:
        """Return the first instant after the period, in UTC.

        A day that the zone skipped ends where it starts.
        """
        last = self.days[1]
        return LATEST if last == date.max else _midnight(last + _DAY, zone)

    def parent(self) -> "Period | None":
        """Return the period of the next coarser grain that holds it; None for a year."""
        above = self.grain.parent
        return Period.of_day(self.days[0], above) if above else None

    def children(self) -> "list[Period]":
        """Return the periods of the next finer grain that tile it, in order.

        A working day has none.
        """
        below = self.grain.child
        return list(_tile(*self.days, below)) if below else []

    def next(self) -> "Period":
        """Return the following period. Raises Rejected: it is the calendar's last."""
        return self.shifted(1)

    def previous(self) -> "Period":
        """Return the preceding period. Raises Rejected: it is the calendar's first."""
        return self.shifted(-1)

    def shifted(self, steps: int) -> "Period":
        """Return the period that is `steps` periods later, or earlier if negative.

        Raises Rejected: outside the calendar.
        """
        try:
            first = _shift_first_day(self.days[0], steps, self.grain)
            return Period.of_day(first, self.grain)
        except (OverflowError, ValueError) as error:
            raise Rejected(
                "period",
                f"{steps:+} from {self.label} lies outside the calendar",
            ) from error


def is_closed(
    period: Period, now: datetime, zone: ZoneInfo, grace: timedelta
) -> bool:
    """Return whether the period's end and the grace time after it have passed."""
    return now - period.end(zone) >= grace


def _local_day(instant: datetime, zone: ZoneInfo) -> date:
    """Return the day whose span, from midnight to midnight, holds the instant.

    It is the local clock's date, except where clocks change at midnight. If the clock is
    set back over midnight (St. John's until 2010), a day begins when midnight is first
    reached and keeps the doubled hour.
    """
    day = date.fromisoformat(day_of(instant, zone))
    # Toronto's clocks were set forward over midnight in 1919.
    if _midnight(day, zone) > instant:
        return day - _DAY
    if day < date.max and _midnight(day + _DAY, zone) <= instant:
        return day + _DAY
    return day


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return EARLIEST if day == date.min else start_of_day(day, zone)


def _tile(first: date, last: date, grain: Grain) -> Iterator[Period]:
    """Yield the grain's periods, from the one of the first day to the one of the last."""
    day = first.toordinal()
    while day <= last.toordinal():
        period = Period.of_day(date.fromordinal(day), grain)
        yield period
        day = period.days[1].toordinal() + 1


def _shift_first_day(first: date, steps: int, grain: Grain) -> date:
    """Return the first day of the period `steps` after the one that begins on `first`.

    Raises OverflowError or ValueError: outside the calendar.
    """
    if grain in _DAYS:
        days = steps * _DAYS[grain]
        return first + days * _DAY
    thursday = first + 3 * _DAY
    months = thursday.year * 12 + thursday.month - 1
    months += steps * _MONTHS[grain]
    year, month = divmod(months, 12)
    return _first_monday(year, month + 1)


def _first_monday(year: int, month: int) -> date:
    """Return the Monday of the first week with its Thursday in the month.

    That is the week that holds the month's 4th day.
    """
    fourth = date(year, month, 4)
    return fourth - fourth.weekday() * _DAY


def _label(day: date, grain: Grain) -> str:
    if grain in (Grain.WORKING, Grain.DAILY):
        return day.isoformat()
    year, week, weekday = day.isocalendar()
    if grain is Grain.WEEKLY:
        return f"{year:04}-W{week:02}"
    thursday = day + (4 - weekday) * _DAY
    month = thursday.month
    if grain is Grain.MONTHLY:
        return f"{year:04}-{month:02}"
    if grain is Grain.QUARTERLY:
        quarter = (month + 2) // 3
        return f"{year:04}-Q{quarter}"
    return f"{year:04}"


@lru_cache(maxsize=10_000)
def _parse_label(label: str) -> tuple[Grain, date]:
    """Return the grain that a label's form implies, and its first day.

    Raises Rejected: not a label, or not in the calendar.
    """
    form = _LABEL.fullmatch(label)
    if form is None:
        raise Rejected(
            "period",
            f"{label[:40]!r} is not like 2026-11-21, 2026-W47, 2026-11, 2026-Q4 or "
            "2026",
        )
    grain = Grain(form.lastgroup or "")
    try:
        return grain, _first_day(grain, form)
    except ValueError as error:
        raise Rejected("period", f"{label} is not in the calendar") from error


def _first_day(grain: Grain, form: re.Match[str]) -> date:
    year = int(form["yearly"])
    if grain is Grain.YEARLY:
        return _first_monday(year, 1)
    number = int(form[grain])
    if grain is Grain.DAILY:
        return date(year, int(form["monthly"]), number)
    if grain is Grain.WEEKLY:
        return date.fromisocalendar(year, number, 1)
    if grain is Grain.QUARTERLY:
        return _first_monday(year, 3 * number - 2)
    return _first_monday(year, number)
