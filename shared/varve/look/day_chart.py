"""A chart of records a day (or a week, over long spans) as bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from varve.domain.calendar import Grain, Period
from varve.domain.strata import Stratum

WIDTH, HEIGHT = 720, 72
MAX_BARS = 400
"""Days that are drawn one by one; a longer span is drawn by weeks."""
MAX_LINKED = 35
"""Bars that are links; narrower ones would be too small to hit."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its place and size in pixels, and the period that it counts."""

    x: float
    y: float
    width: float
    height: float
    amount: int
    period: Period


@dataclass(frozen=True, slots=True)
class DayChart:
    """The bars, and the largest of them; `ticks` are months or days to label."""

    bars: tuple[Bar, ...]
    unit: str
    greatest: Bar | None
    ticks: tuple[tuple[float, str], ...]

    @property
    def linked(self) -> bool:
        """Whether each bar is a link."""
        return len(self.bars) <= MAX_LINKED


def draw_days(days: Sequence[Stratum], first: date, last: date) -> DayChart:
    """Return the chart of the days from `first` to `last`, both included."""
    amounts = {stratum.period.days[0]: stratum.amount for stratum in days}
    return draw_amounts(amounts, first, last)


def draw_amounts(
    amounts: Mapping[date, int], first: date, last: date
) -> DayChart:
    """Return the chart of amounts by day, from `first` to `last`."""
    count = (last - first).days + 1
    by_week = count > MAX_BARS
    grain = Grain.WEEKLY if by_week else Grain.DAILY
    periods = _list_periods(first, last, grain)
    bars = _draw_bars(periods, amounts)
    return DayChart(
        bars=bars,
        unit="week" if by_week else "day",
        greatest=max(bars, key=lambda bar: bar.amount, default=None),
        ticks=_draw_ticks(bars),
    )


def _list_periods(first: date, last: date, grain: Grain) -> list[Period]:
    periods: list[Period] = []
    day = first
    while day <= last:
        period = Period.of_day(day, grain)
        periods.append(period)
        day = period.days[1] + timedelta(days=1)
    return periods


def _draw_bars(
    periods: Sequence[Period], amounts: Mapping[date, int]
) -> tuple[Bar, ...]:
    totals = [_sum_amounts(period, amounts) for period in periods]
    greatest = max(totals, default=0) or 1
    step = WIDTH / max(1, len(periods))
    gap = min(2.0, step * 0.2)
    bars: list[Bar] = []
    for place, (period, total) in enumerate(zip(periods, totals, strict=True)):
        height = max(2.0, HEIGHT * total / greatest) if total else 0.0
        bar = Bar(
            place * step, HEIGHT - height, step - gap, height, total, period
        )
        bars.append(bar)
    return tuple(bars)


def _sum_amounts(period: Period, amounts: Mapping[date, int]) -> int:
    first, last = period.days
    days = (last - first).days + 1
    return sum(
        amounts.get(first + timedelta(days=day), 0) for day in range(days)
    )


def _draw_ticks(bars: Sequence[Bar]) -> tuple[tuple[float, str], ...]:
    """Label the first bar of each month, at least 48 pixels apart; else single days."""
    ticks: list[tuple[float, str]] = []
    month = ""
    by_day = len(bars) <= MAX_LINKED
    for bar in bars:
        first = bar.period.days[0]
        own = f"{first:%Y-%m}"
        label = f"{first.day}" if by_day else _name_month(first)
        is_new = by_day or own != month
        has_room = not ticks or bar.x - ticks[-1][0] >= 48
        if is_new and has_room:
            ticks.append((bar.x, label))
        month = own
    return tuple(ticks)


def _name_month(day: date) -> str:
    name = [
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
    ][day.month - 1]
    return f"{name} {day.year}" if day.month == 1 else name
