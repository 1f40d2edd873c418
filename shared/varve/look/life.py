"""An entity's life on an axis: a row for each predicate, a bar for each interval."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from varve.domain.calendar import parse_instant
from varve.look.text_lines import measure

WIDTH = 720
LEFT = 132
ROW = 30
TOP = 22
SIZE = 13
"""Size of the type, in pixels."""
PADDING = 6
"""Space between a label and the edge of its bar, in pixels."""
LEAST = 4.0
"""Least width of a bar, in pixels."""

Fact = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Interval:
    """One value over its time: place and width in pixels; `past` if it has ended.

    `label_x` is where its value stands: in the bar, else before it; None: it has no room.
    """

    fact: Fact
    x: float
    width: float
    y: float
    past: bool
    label_x: float | None


@dataclass(frozen=True, slots=True)
class LifeRow:
    """The values of one predicate, on as many lines as their overlaps need."""

    label: str
    y: float
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """All rows, the years on the axis, and the place of the time asked about."""

    rows: tuple[LifeRow, ...]
    years: tuple[tuple[float, str], ...]
    height: float
    at: float


class _Axis:
    def __init__(self, start: datetime, end: datetime) -> None:
        self._start = start
        self._seconds = max(1.0, (end - start).total_seconds())

    def place(self, moment: datetime) -> float:
        share = (moment - self._start).total_seconds() / self._seconds
        share = min(1.0, max(0.0, share))
        return LEFT + (WIDTH - LEFT) * share


def draw_life(
    facts: Sequence[Fact], now: datetime, at: datetime
) -> Life | None:
    """Return the drawing of an entity's facts up to `now`, with a line at `at`.

    None: there are no facts.
    """
    if not facts:
        return None
    start = min(parse_instant(fact["validAt"]) for fact in facts)
    start = min(start, now - timedelta(days=30))
    axis = _Axis(start, now)
    rows: list[LifeRow] = []
    y: float = TOP
    by_label: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_label[fact["label"]].append(fact)
    for label in sorted(by_label):
        intervals, lines = _place_intervals(by_label[label], axis, now, y)
        rows.append(LifeRow(label, y, intervals))
        y += ROW * lines
    years = _list_years(start, now, axis)
    return Life(tuple(rows), years, y + 8, axis.place(at))


def _place_intervals(
    facts: Sequence[Fact], axis: _Axis, now: datetime, top: float
) -> tuple[tuple[Interval, ...], int]:
    """Place the intervals so that none overlap; return them and the number of lines."""
    ends: list[float] = []
    placed: list[Interval] = []
    for fact in sorted(facts, key=lambda one: str(one["validAt"])):
        x = axis.place(parse_instant(fact["validAt"]))
        ended = fact["invalidAt"]
        until = parse_instant(ended) if ended else now
        width = max(LEAST, axis.place(until) - x)
        x = min(x, WIDTH - width)
        free = (number for number, end in enumerate(ends) if end <= x)
        line = next(free, len(ends))
        before = ends[line] if line < len(ends) else LEFT
        ends[line : line + 1] = [x + width]
        label_x = _place_label(str(fact["target"]), x, width, before)
        y = top + ROW * line
        placed.append(Interval(fact, x, width, y, ended is not None, label_x))
    return tuple(placed), len(ends)


def _place_label(
    name: str, x: float, width: float, before: float
) -> float | None:
    """Return the label's place; `before` is where the line is free from."""
    wide = measure(name, SIZE)
    if wide + 2 * PADDING <= width:
        return x + PADDING
    if before + wide + 2 * PADDING <= x:
        return x - wide - PADDING
    return None


def _list_years(
    start: datetime, end: datetime, axis: _Axis
) -> tuple[tuple[float, str], ...]:
    years: list[tuple[float, str]] = []
    for year in range(start.year + 1, end.year + 1):
        x = axis.place(datetime(year, 1, 1, tzinfo=UTC))
        has_room = not years or x - years[-1][0] >= 44
        if has_room:
            years.append((x, str(year)))
    return tuple(years)
