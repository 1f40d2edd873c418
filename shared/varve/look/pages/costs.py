"""Costs: what the workspace's agents used in a calendar month, with its prices."""

import re
from calendar import monthrange
from datetime import date

from varve.domain.costs import Costs, month_of_day
from varve.domain.errors import Rejected
from varve.domain.prices import Price
from varve.domain.usage import MODEL_ITEMS, STORE_REQUESTS, Item, split_name
from varve.look.day_chart import DayChart, draw_amounts
from varve.look.formats import name_month
from varve.look.links import target
from varve.look.visit import PageView, Visit

MILLION = 1_000_000
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


def show_costs(visit: Visit) -> PageView:
    """Show a month's work by agent and verb. Raises Rejected: it is no month."""
    current = month_of_day(visit.day_label(visit.inspection.now))
    month = visit.key() or current
    if not _MONTH.fullmatch(month):
        raise Rejected(
            "month", f"{month[:40]!r} is not a month, such as {current}"
        )
    found = visit.inspection.costs(month)
    months = visit.inspection.cost_months()
    earlier = [one for one in months if one < month]
    later = [one for one in months if one > month]
    values = {
        "month": month,
        "name": name_month(month),
        "rows": sorted(found.by_verb(), key=lambda row: -row.dollars),
        "found": found,
        "requests": sum(found.count(item) for item in STORE_REQUESTS),
        "tokens": sum(found.count(item) for item in MODEL_ITEMS[1:]),
        "items": Item,
        "store_requests": STORE_REQUESTS,
        "before": max(earlier, default=None),
        "after": min(later, default=None),
        "chart": _draw(found, month),
        "million": MILLION,
        "prices": _prices_of(visit, found),
    }
    up = target("costs") if visit.key() else target("timeline")
    command = ("costs", "--since", f"{month}-01")
    return PageView("costs.html", "Costs", values, up=up, command=command)


def _draw(found: Costs, month: str) -> DayChart | None:
    """Return the chart of a month's millionths of a dollar; None: nothing cost any."""
    first = date.fromisoformat(f"{month}-01")
    _, days = monthrange(first.year, first.month)
    last = first.replace(day=days)
    amounts: dict[date, int] = {}
    for day, dollars in found.dollars_by_day().items():
        amounts[date.fromisoformat(day)] = round(dollars * MILLION)
    if not any(amounts.values()):
        return None
    return draw_amounts(amounts, first, last)


def _prices_of(visit: Visit, found: Costs) -> list[Price]:
    """Return the prices of the use."""
    known = visit.inspection.prices()
    used: dict[str, Price] = {}
    for row in found.rows:
        for name in row.counts:
            item, model = split_name(name)
            price = known.find(model or item)
            if price is not None:
                used[price.name] = price
    return [used[name] for name in sorted(used)]
