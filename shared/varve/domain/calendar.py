"""Grains of time and the periods they are cut into, in the workspace's time zone.

The pyramid's calendar is the ISO calendar. A week belongs to the month that holds its Thursday, that
month to its quarter and year; so months, quarters and years here are unions of whole weeks, a year
is the ISO year, and every period is tiled exactly by its children. The price: Monday 2026-11-30 lies
in the weekly period 2026-W49, whose Thursday is 3 December, and therefore in the monthly 2026-12.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from itertools import pairwise
from zoneinfo import ZoneInfo

from varve.domain.errors import Rejected

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
MAX_WINDOW = timedelta(days=100_000)  # some 270 years


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
        """The next coarser grain; none for yearly."""
        return dict(pairwise(Grain)).get(self)

    @property
    def child(self) -> "Grain | None":
        """The next finer grain; none for working."""
        return {above: below for below, above in pairwise(Grain)}.get(self)


SUMMARY_GRAINS = (
    Grain.DAILY,
    Grain.WEEKLY,
    Grain.MONTHLY,
    Grain.QUARTERLY,
    Grain.YEARLY,
)


def day_of(instant: datetime, zone: ZoneInfo) -> str:
    """The label of the day that holds the instant: `2026-03-02`; at the calendar's very ends, UTC's day."""
    try:
        return instant.astimezone(zone).date().isoformat()
    except OverflowError:
        return instant.astimezone(UTC).date().isoformat()


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a local day, in UTC."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def days_before(instant: datetime, days: int, zone: ZoneInfo) -> date:
    """The local day that lies so many calendar days before the instant's own."""
    return instant.astimezone(zone).date() - timedelta(days=days)


def iso(instant: datetime) -> str:
    """ISO 8601 in UTC with a `Z`, microseconds only where there are any: the form of every contract."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """An aware UTC datetime from ISO 8601; a text without an offset is taken as UTC.

    Raises ValueError: not ISO 8601, or outside the years 1 to 9999 in UTC.
    """
    parsed = datetime.fromisoformat(text)
    aware = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed
    try:
        return aware.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text} lies outside the calendar") from error


_LABEL = re.compile(
    r"(?P<yearly>[0-9]{4})"
    r"(?:-W(?P<weekly>[0-9]{2})|-Q(?P<quarterly>[1-4])|-(?P<monthly>[0-9]{2})(?:-(?P<daily>[0-9]{2}))?)?"
)
_DAY = timedelta(days=1)
_DAYS = {Grain.WORKING: 1, Grain.DAILY: 1, Grain.WEEKLY: 7}
_MONTHS = {Grain.MONTHLY: 1, Grain.QUARTERLY: 3, Grain.YEARLY: 12}


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """One span of a grain: `2026-11-21` (working or daily), `2026-W47`, `2026-11`, `2026-Q4` or `2026`.

    Its days are the same in every zone, its instants are not; periods of one grain sort by time. The first
    and last ones of any zone begin at EARLIEST and end at LATEST. Raises Rejected: not a label of the grain.
    """

    grain: Grain
    label: str

    def __post_init__(self) -> None:
        if _read(self.label)[0] is not (
            Grain.DAILY if self.grain is Grain.WORKING else self.grain
        ):
            raise Rejected(
                "period", f"{self.label} is not the label of a {self.grain} period"
            )

    @classmethod
    def of(cls, instant: datetime, grain: Grain, zone: ZoneInfo) -> "Period":
        """The one period of the grain with `start <= instant < end`."""
        return cls.of_day(_local_day(instant, zone), grain)

    @classmethod
    def of_day(cls, day: date, grain: Grain) -> "Period":
        """The one period of the grain that holds the day."""
        return cls(grain, _label(day, grain))

    @classmethod
    def parse(cls, label: str, grain: Grain | None = None) -> "Period":
        """The period of a label; a day is daily unless told to be working. Raises Rejected: no such label."""
        return cls(grain or _read(label)[0], label)

    @property
    def days(self) -> tuple[date, date]:
        """The first and the last date."""
        first = _read(self.label)[1]
        try:
            return first, _shifted(first, 1, self.grain) - _DAY
        except (OverflowError, ValueError):
            return first, date.max

    def start(self, zone: ZoneInfo) -> datetime:
        """The first instant, in UTC."""
        return _midnight(self.days[0], zone)

    def end(self, zone: ZoneInfo) -> datetime:
        """The first instant after it, in UTC. A day that the zone skipped ends where it starts."""
        last = self.days[1]
        return LATEST if last == date.max else _midnight(last + _DAY, zone)

    def parent(self) -> "Period | None":
        """The period of the next coarser grain that holds all of it; none for a year."""
        above = self.grain.parent
        return Period.of_day(self.days[0], above) if above else None

    def children(self) -> "list[Period]":
        """The periods of the next finer grain that tile it, in order; none for a working day."""
        below = self.grain.child
        return list(_tiles(*self.days, below)) if below else []

    def next(self) -> "Period":
        """The period right after it. Raises Rejected: it is the calendar's last."""
        return self.shifted(1)

    def previous(self) -> "Period":
        """The period right before it. Raises Rejected: it is the calendar's first."""
        return self.shifted(-1)

    def shifted(self, steps: int) -> "Period":
        """The period so many periods later, or earlier if negative. Raises Rejected: outside the calendar."""
        try:
            return Period.of_day(_shifted(self.days[0], steps, self.grain), self.grain)
        except (OverflowError, ValueError) as error:
            raise Rejected(
                "period", f"{steps:+} from {self.label} lies outside the calendar"
            ) from error


def is_closed(period: Period, now: datetime, zone: ZoneInfo, grace: timedelta) -> bool:
    """Whether the period's end and the grace time after it have passed."""
    return now - period.end(zone) >= grace


def periods_between(
    since: datetime, until: datetime, grain: Grain, zone: ZoneInfo
) -> Iterator[Period]:
    """The periods that share an instant with `since <= t < until`, in order; none for an empty window.

    Raises Rejected: the window is longer than MAX_WINDOW, which a caller should not walk day by day.
    """
    if until - since > MAX_WINDOW:
        raise Rejected(
            "since", f"lies more than {MAX_WINDOW.days} days before the window's end"
        )
    if since >= until:
        return iter(())
    periods = _tiles(
        _local_day(since, zone), _local_day(until - timedelta.resolution, zone), grain
    )
    return (period for period in periods if period.start(zone) < period.end(zone))


def _local_day(instant: datetime, zone: ZoneInfo) -> date:
    """The day whose span holds the instant: the local clock's, but where it is set back over midnight.

    There (St. John's until 2010) a day begins when midnight is first reached, and keeps the doubled hour.
    """
    day = date.fromisoformat(day_of(instant, zone))
    if (
        _midnight(day, zone) > instant
    ):  # clocks were set forward over midnight: Toronto, 1919
        return day - _DAY
    return (
        day + _DAY if day < date.max and _midnight(day + _DAY, zone) <= instant else day
    )


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return EARLIEST if day == date.min else start_of_day(day, zone)


def _tiles(first: date, last: date, grain: Grain) -> Iterator[Period]:
    """The periods of the grain from the one that holds the first day to the one that holds the last."""
    day = first.toordinal()
    while day <= last.toordinal():
        period = Period.of_day(date.fromordinal(day), grain)
        yield period
        day = period.days[1].toordinal() + 1


def _shifted(first: date, steps: int, grain: Grain) -> date:
    """The first day of the period so many steps on. Raises OverflowError or ValueError: none."""
    if grain in _DAYS:
        return first + steps * _DAYS[grain] * _DAY
    thursday = first + 3 * _DAY
    months = thursday.year * 12 + thursday.month - 1 + steps * _MONTHS[grain]
    return _first_monday(months // 12, months % 12 + 1)


def _first_monday(year: int, month: int) -> date:
    """The Monday of the week that holds the 4th: the first week with its Thursday in the month."""
    fourth = date(year, month, 4)
    return fourth - fourth.weekday() * _DAY


def _label(day: date, grain: Grain) -> str:
    if grain in (Grain.WORKING, Grain.DAILY):
        return day.isoformat()
    year, week, weekday = day.isocalendar()
    if grain is Grain.WEEKLY:
        return f"{year:04}-W{week:02}"
    month = (day + (4 - weekday) * _DAY).month
    parts = {Grain.MONTHLY: f"-{month:02}", Grain.QUARTERLY: f"-Q{(month + 2) // 3}"}
    return f"{year:04}{parts.get(grain, '')}"


def _read(label: str) -> tuple[Grain, date]:
    """The grain that a label's form tells, and its first day. Raises Rejected: it has none."""
    form = _LABEL.fullmatch(label)
    if form is None:
        raise Rejected(
            "period",
            f"{label[:40]!r} is not like 2026-11-21, 2026-W47, 2026-11, 2026-Q4 or 2026",
        )
    grain = Grain(form.lastgroup or "")
    year, week, quarter, month, day = (int(digits) for digits in form.groups("0"))
    try:
        if grain is Grain.DAILY:
            return grain, date(year, month, day)
        if grain is Grain.WEEKLY:
            return grain, date.fromisocalendar(year, week, 1)
        months = {Grain.MONTHLY: month, Grain.QUARTERLY: 3 * quarter - 2}
        return grain, _first_monday(year, months.get(grain, 1))
    except ValueError as error:
        raise Rejected("period", f"{label} is in no calendar") from error


def aware(instant: datetime, field: str = "now") -> datetime:
    """The instant in UTC. Raises Rejected: it is no datetime, or one without a time zone."""
    if not isinstance(instant, datetime) or instant.tzinfo is None:
        raise Rejected(field, "must be a datetime with a time zone")
    return instant.astimezone(UTC)
