"""The use of each day, and its price; one object holds a month of one agent."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.prices import Prices
from varve.domain.usage import MODEL_ITEMS, Item, split_name, total

Days = dict[str, dict[str, Counter[str]]]
"""Counts by day and verb."""
MONTH_LENGTH = len("2026-11")


def month_of_day(day: str) -> str:
    """Return the calendar month of a day's label: `2026-11` of `2026-11-22`."""
    return day[:MONTH_LENGTH]


def format_dollars(amount: float) -> str:
    """Return an amount as `$1.23`; below a cent with six decimals."""
    return f"${amount:.6f}" if 0 < amount < 0.01 else f"${amount:,.2f}"


def add_counts(
    days: Days, day: str, verb: str, counts: Mapping[str, int]
) -> None:
    """Add counts to those of a day and verb."""
    verbs = days.setdefault(day, {})
    verbs.setdefault(verb, Counter()).update(counts)


def merge(first: Days, second: Days) -> Days:
    """Return the sums of both."""
    merged: Days = {}
    for days in (first, second):
        for day, verbs in days.items():
            for verb, counts in verbs.items():
                add_counts(merged, day, verb, counts)
    return merged


def encode_days(days: Days, put: str) -> bytes:
    """Return the content of a month's object.

    `put` names this put alone. Without it two processes with equal counts would put
    equal bytes, and a store takes equal bytes for one put that was repeated.
    """
    body = {"days": days, "put": put}
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def parse_days(data: bytes, key: str) -> Days:
    """Return the days in a month's object. Raises Rejected: it has another form."""
    days: Days = {}
    try:
        for day, verbs in json.loads(data)["days"].items():
            for verb, counts in verbs.items():
                add_counts(days, day, verb, counts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Rejected(
            key, f"is not an object of costs ({type(error).__name__})"
        ) from None
    return days


def models_share(counts: Mapping[str, int]) -> Counter[str]:
    """Return the counts of models alone."""
    share: Counter[str] = Counter()
    for name, count in counts.items():
        if split_name(name)[0] in MODEL_ITEMS:
            share[name] = count
    return share


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one agent's work of one kind used on one day, and what it costs.

    Without an `agent` it was done for the store as a whole; then `workspace` is None too.
    `dollars` is an estimate at list prices. `unpriced` are models whose price is not
    known: their tokens are not in it. `day` is None in a sum over days.
    """

    workspace: str | None
    agent: str | None
    verb: str
    day: str | None
    counts: Mapping[str, int]
    dollars: float
    unpriced: tuple[str, ...] = ()

    def without_day(self) -> "CostRow":
        """Return the row as a part of a sum over days."""
        return replace(self, day=None)

    def __add__(self, other: "CostRow") -> "CostRow":
        """Return the sum of two rows of the same agent and verb."""
        return replace(
            self,
            counts=Counter(self.counts) + Counter(other.counts),
            dollars=self.dollars + other.dollars,
            unpriced=tuple(sorted({*self.unpriced, *other.unpriced})),
        )

    def count(self, item: Item) -> int:
        """Return the count of an item, over all models."""
        return total(self.counts, item)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "workspaceId": self.workspace,
            "agentId": self.agent,
            "verb": self.verb,
            "day": self.day,
            "requests": {
                "get": self.count(Item.GETS),
                "put": self.count(Item.PUTS),
                "list": self.count(Item.LISTS),
                "delete": self.count(Item.DELETES),
            },
            "bytesRead": self.count(Item.BYTES_READ),
            "bytesWritten": self.count(Item.BYTES_WRITTEN),
            "queueRequests": self.count(Item.SENDS),
            "lambdaMilliseconds": self.count(Item.LAMBDA_MILLISECONDS),
            "modelCalls": self.count(Item.MODEL_CALLS),
            "tokensIn": self.count(Item.TOKENS_IN),
            "tokensOut": self.count(Item.TOKENS_OUT),
            "embeddingTokens": self.count(Item.EMBEDDING_TOKENS),
            "dollars": round(self.dollars, 9),
            "unpriced": list(self.unpriced),
        }


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs from the day `since` to `until`, by workspace, agent, verb and day."""

    since: str
    until: str
    rows: tuple[CostRow, ...]

    @property
    def dollars(self) -> float:
        """The estimated dollars of all rows."""
        return sum(row.dollars for row in self.rows)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models whose price is not known."""
        found: set[str] = set()
        for row in self.rows:
            found.update(row.unpriced)
        return tuple(sorted(found))

    def by_verb(self) -> list[CostRow]:
        """Return a row for each workspace, agent and verb, over all days."""
        sums: dict[tuple[str | None, ...], CostRow] = {}
        for row in self.rows:
            key = (row.workspace, row.agent, row.verb)
            sums[key] = (
                row.without_day() + sums[key]
                if key in sums
                else row.without_day()
            )
        return list(sums.values())

    def dollars_by_day(self) -> dict[str, float]:
        """Return the estimated dollars of each day that has any work."""
        days: dict[str, float] = {}
        for row in self.rows:
            if row.day is not None:
                days[row.day] = days.get(row.day, 0.0) + row.dollars
        return days

    def count(self, item: Item) -> int:
        """Return the count of an item over all rows."""
        return sum(row.count(item) for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "since": self.since,
            "until": self.until,
            "dollars": round(self.dollars, 9),
            "unpriced": list(self.unpriced),
            "rows": [row.to_dict() for row in self.rows],
        }


def price_rows(
    workspace: str | None, agent: str | None, days: Days, prices: Prices
) -> list[CostRow]:
    """Return a priced row for each day and verb."""
    rows: list[CostRow] = []
    for day, verbs in sorted(days.items()):
        for verb, counts in sorted(verbs.items()):
            dollars, unpriced = prices.estimate(counts)
            rows.append(
                CostRow(workspace, agent, verb, day, counts, dollars, unpriced)
            )
    return rows
