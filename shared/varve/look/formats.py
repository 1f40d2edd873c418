"""How the pages write dates, periods, counts and sizes."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from varve.domain.calendar import LATEST, Grain, Period, parse_instant
from varve.domain.day_names import MONTHS, WEEKDAYS

_SIZES = ("bytes", "KB", "MB", "GB", "TB")


def format_day(day: date) -> str:
    """Return a date as `12 Oct 2026`."""
    return f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}"


def format_moment(moment: datetime, zone: ZoneInfo) -> str:
    """Return an instant as `12 Oct 2026, 19:13`; `never` at the calendar's end."""
    if moment >= LATEST:
        return "never"
    local = moment.astimezone(zone)
    return f"{format_day(local.date())}, {local:%H:%M}"


def format_short(number: float) -> str:
    """Return a count as `950`, `1.2k` or `3.4M`."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + unit
    return str(number)


def format_size(size: float) -> str:
    """Return a size as `512 bytes` or `1.2 MB`; a KB has 1,000 bytes."""
    for unit in _SIZES:
        if size < 1_000 or unit == _SIZES[-1]:
            return (
                f"{size:.0f} {unit}"
                if unit == "bytes"
                else f"{size:.1f} {unit}"
            )
        size /= 1_000
    raise ValueError("the loop returns with its last unit")


def format_plural(
    number: int, singular: str, plural: str | None = None
) -> str:
    """Return `1 fact` or `2,104 facts`."""
    word = singular
    if number != 1:
        word = plural or f"{singular}s"
    return f"{number:,} {word}"


def name_month(month: str) -> str:
    """Return a calendar month's name: `November 2026` of `2026-11`."""
    year, _, number = month.partition("-")
    return f"{MONTHS[int(number) - 1]} {year}"


def name_period(period: Period) -> str:
    """Return a period's full name, such as `October 2026` or `Monday, 17 August 2026`."""
    first, _ = period.days
    year, _, rest = period.label.partition("-")
    if period.grain is Grain.YEARLY:
        return year
    if period.grain is Grain.QUARTERLY:
        return f"{rest} {year}"
    if period.grain is Grain.MONTHLY:
        return name_month(period.label)
    if period.grain is Grain.WEEKLY:
        return f"Week {int(rest[1:])} of {year}"
    weekday = WEEKDAYS[first.weekday()]
    month = MONTHS[first.month - 1]
    return f"{weekday}, {first.day} {month} {year}"


def name_period_briefly(period: Period) -> str:
    """Return a period's name within the one that holds it, such as `Oct` or `Mon 17`."""
    first, _ = period.days
    if period.grain is Grain.YEARLY:
        return period.label
    _, _, rest = period.label.partition("-")
    if period.grain is Grain.MONTHLY:
        return MONTHS[int(rest) - 1][:3]
    if period.grain in (Grain.DAILY, Grain.WORKING):
        return f"{WEEKDAYS[first.weekday()][:3]} {first.day}"
    return rest


def name_span(period: Period) -> str:
    """Return a period's days, such as `12 to 18 Oct 2026`."""
    first, last = period.days
    if first == last:
        return format_day(first)
    start = format_day(first)
    if first.year == last.year:
        start = start.removesuffix(f" {first.year}")
        if first.month == last.month:
            start = str(first.day)
    return f"{start} to {format_day(last)}"


def as_moment(value: str | datetime) -> datetime:
    """Return the instant in UTC of a value of the contract or of a record."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return parse_instant(value)


def as_words(name: str) -> str:
    """Return a stored name, such as `lives_in`, as words."""
    return name.replace("_", " ")
