"""The timeline, and one period of it: the pyramid as the way in."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from varve.domain.calendar import LATEST, Grain, Period
from varve.domain.errors import Rejected
from varve.domain.record import Record
from varve.domain.strata import Strata, Stratum
from varve.look.core_sample import CoreSample, draw_core
from varve.look.day_chart import DayChart, draw_days
from varve.look.formats import name_period, name_period_briefly, name_span
from varve.look.links import Target, target
from varve.look.spoken import read_spoken
from varve.look.summary_text import SummaryText, excerpt, split_summary
from varve.look.visit import SHOWN, PageView, Visit

MAX_LAYERS = 48
"""Layers of a core sample; with more, the layers are periods one grain coarser."""
SHOWN_CHANGES = 12
Layers = list[tuple[Stratum, Sequence[Stratum]]]

GRAIN_NOUNS = {
    Grain.YEARLY: "year",
    Grain.QUARTERLY: "quarter",
    Grain.MONTHLY: "month",
    Grain.WEEKLY: "week",
    Grain.DAILY: "day",
}


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """One period in a list of periods, with the beginning of its summary."""

    stratum: Stratum
    label: str
    name: str
    span: str
    share: float
    excerpt: str
    summaries: int


@dataclass(frozen=True, slots=True)
class ShownSummary:
    """A summary and its text as parts."""

    record: Record
    text: SummaryText


def show_timeline(visit: Visit) -> PageView:
    """Show all years as layers, the newest at the top.

    Raises Rejected: memory holds nothing of the user.
    """
    strata = visit.strata
    years = strata.years
    if not years:
        return PageView("empty.html", "Timeline", {})
    totals = _sum(years)
    if visit.user and not (totals["amount"] or totals["summaries"]):
        raise Rejected("user", f"memory holds nothing of {visit.user[:80]!r}")
    newest = years[-1]
    rows: list[PeriodRow] = []
    for year in reversed(years):
        found = visit.inspection.summaries(
            year.period, user_id=visit.user, most=SHOWN
        )
        rows += _list_rows([year], found, _greatest(years))
    values = {
        "rows": rows,
        "core": _draw_core(strata, None),
        "chart": _draw_chart(strata.days),
        "changes": visit.inspection.changes(newest.period, most=SHOWN_CHANGES),
        "newest": newest,
        "totals": totals,
        "noun": "year",
        "bare": name_period_briefly,
    }
    return PageView("timeline.html", "Timeline", values, command=("status",))


def show_period(visit: Visit) -> PageView:
    """Show one period: its summaries, what changed, and the periods in it.

    Raises Rejected: not a period's label, or nothing was ever held of it.
    """
    period = Period.parse(visit.key())
    strata = visit.strata
    stratum = strata.get(period)
    if stratum is None:
        raise Rejected("period", f"memory holds nothing of {period.label}")
    expires = visit.inspection.expiry(period)
    values = {
        "stratum": stratum,
        "period": period,
        "name": name_period(period),
        "span": name_span(period),
        "noun": GRAIN_NOUNS[period.grain],
        "path": _list_path(period),
        "before": _find_neighbour(strata, period, -1),
        "after": _find_neighbour(strata, period, 1),
        "tally": visit.inspection.count(period, user_id=visit.user),
        "summaries": _read_summaries(visit, period),
        "changes": visit.inspection.changes(period, most=SHOWN),
        "expires": None if expires >= LATEST else expires,
        "bare": name_period_briefly,
        "chart": None,
        "core": None,
        "rows": [],
        "conversations": None,
        "shown": SHOWN,
        "spoken": read_spoken,
    }
    values.update(_show_inside(visit, strata, period))
    command = (
        "search",
        "--since",
        str(period.days[0]),
        "--until",
        str(period.days[1]),
    )
    return PageView(
        "period.html",
        name_period(period),
        values,
        up=_find_parent(period, visit.user),
        command=command,
    )


def _show_inside(
    visit: Visit, strata: Strata, period: Period
) -> dict[str, object]:
    """Return what a period consists of: finer periods, or a day's conversations."""
    if period.grain is Grain.DAILY:
        start = visit.where.number("start")
        listing = visit.inspection.conversations(
            period, start=start, most=SHOWN
        )
        return {"conversations": listing}
    children = strata.children(period)
    found = visit.inspection.child_summaries(
        period, user_id=visit.user, most=SHOWN * 2
    )
    return {
        "rows": _list_rows(children[::-1], found, _greatest(children)),
        "core": _draw_core(strata, period),
        "chart": _draw_chart(_list_days(strata, period), period.days),
    }


def _find_parent(period: Period, user: str | None) -> Target:
    above = period.parent()
    if above is None:
        return target("timeline", user=user)
    return target("period", above.label, user=user)


def _list_path(period: Period) -> list[tuple[str, str]]:
    """Return label and short name of the periods above, the coarsest first."""
    path: list[tuple[str, str]] = []
    above = period.parent()
    while above is not None:
        path.append((above.label, name_period_briefly(above)))
        above = above.parent()
    return path[::-1]


def _find_neighbour(
    strata: Strata, period: Period, step: int
) -> Period | None:
    """Return the nearest period of the same grain before or after that holds something."""
    same = sorted(one for one in strata.by_period if one.grain is period.grain)
    place = same.index(period) + step
    return same[place] if 0 <= place < len(same) else None


def _read_summaries(visit: Visit, period: Period) -> list[ShownSummary]:
    found = visit.inspection.summaries(period, user_id=visit.user, most=SHOWN)
    ordered = sorted(found, key=lambda record: record.user_id or "")
    return [ShownSummary(one, split_summary(one.content)) for one in ordered]


def _list_rows(
    strata: Iterable[Stratum], summaries: Iterable[Record], greatest: int
) -> list[PeriodRow]:
    by_label: defaultdict[str, list[Record]] = defaultdict(list)
    for record in summaries:
        by_label[record.period].append(record)
    rows: list[PeriodRow] = []
    for stratum in strata:
        period = stratum.period
        own = by_label[period.label]
        share = stratum.amount / greatest if greatest else 0.0
        beginning = excerpt(own[0]) if own else ""
        row = PeriodRow(
            stratum=stratum,
            label=name_period_briefly(period),
            name=name_period(period),
            span=name_span(period),
            share=share,
            excerpt=beginning,
            summaries=stratum.summaries,
        )
        rows.append(row)
    return rows


def _greatest(strata: Sequence[Stratum]) -> int:
    return max((stratum.amount for stratum in strata), default=0)


def _sum(strata: Iterable[Stratum]) -> dict[str, int]:
    totals = {"turns": 0, "facts": 0, "amount": 0, "summaries": 0}
    for stratum in strata:
        totals["turns"] += stratum.turns
        totals["facts"] += stratum.facts
        totals["amount"] += stratum.amount
        totals["summaries"] += stratum.summaries
    return totals


def _draw_core(strata: Strata, period: Period | None) -> CoreSample:
    """Draw the layers inside a period, or of all years, as finely as they fit."""
    if period is not None:
        groups = strata.children(period)
        children = [strata.children(group.period) for group in groups]
        return draw_core(strata, _choose_layers(groups, [children]))
    groups = strata.years
    quarters = [strata.children(year.period) for year in groups]
    months = [_list_grandchildren(strata, year) for year in groups]
    return draw_core(strata, _choose_layers(groups, [months, quarters]))


def _choose_layers(
    groups: Sequence[Stratum],
    finest_first: Sequence[Sequence[Sequence[Stratum]]],
) -> Layers:
    """Return each group with its layers: the finest that are few enough, else itself."""
    for layers in finest_first:
        if 0 < sum(map(len, layers)) <= MAX_LAYERS:
            return list(zip(groups, layers, strict=True))
    return [(group, (group,)) for group in groups]


def _list_grandchildren(
    strata: Strata, stratum: Stratum
) -> tuple[Stratum, ...]:
    found: list[Stratum] = []
    for child in strata.children(stratum.period):
        found += strata.children(child.period)
    return tuple(found)


def _list_days(strata: Strata, period: Period) -> list[Stratum]:
    first, last = period.days
    return [day for day in strata.days if first <= day.period.days[0] <= last]


def _draw_chart(
    days: Sequence[Stratum], span: tuple[date, date] | None = None
) -> DayChart | None:
    if not days:
        return None
    if span is None:
        span = (days[0].period.days[0], days[-1].period.days[0])
    first, last = span
    return draw_days(days, first, last)
