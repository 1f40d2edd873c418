"""Prices: dollars for a million units, as listed or as a workspace gives them."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.usage import MODEL_ITEMS, Item, split_name

MILLION = 1_000_000
_FREE_ITEMS = (Item.MODEL_CALLS,)


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million units, with the day and the place where they were read.

    `out` is the price of a model's answers; `dollars` then that of what it reads.
    """

    name: str
    dollars: float
    out: float | None
    date: str
    source: str
    check: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "dollars": self.dollars,
            "out": self.out,
            "date": self.date,
            "source": self.source,
            "check": self.check,
        }


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of items and models by name."""

    by_name: Mapping[str, Price]

    def estimate(
        self, counts: Mapping[str, int]
    ) -> tuple[float, tuple[str, ...]]:
        """Return the dollars that the counts cost, and the models without a price."""
        dollars = 0.0
        unpriced: set[str] = set()
        for name, count in counts.items():
            item, model = split_name(name)
            if item not in MODEL_ITEMS:
                dollars += self._item_price(item) * count
            elif self.find(model) is None:
                unpriced.add(model)
            elif item not in _FREE_ITEMS:
                dollars += self._token_price(item, model) * count
        return dollars / MILLION, tuple(sorted(unpriced))

    def of_models(self, counts: Mapping[str, int]) -> float:
        """Return the dollars of the models among the counts."""
        models = {}
        for name, count in counts.items():
            if split_name(name)[0] in MODEL_ITEMS:
                models[name] = count
        return self.estimate(models)[0]

    def _item_price(self, item: str) -> float:
        """Return an item's price; bytes and time as such have none."""
        price = self.by_name.get(item)
        return price.dollars if price else 0.0

    def _token_price(self, item: str, model: str) -> float:
        price = self.find(model)
        assert price is not None
        if item == Item.TOKENS_OUT:
            return price.out or 0.0
        return price.dollars

    def find(self, name: str) -> Price | None:
        """Return an item's or model's price; a model may have its provider before it."""
        _, _, model = name.rpartition("/")
        return self.by_name.get(name) or self.by_name.get(model)


def prices_with(overrides: str | None) -> Prices:
    """Return the list prices, replaced by those that a workspace gives."""
    listed = _read_list()
    if not overrides:
        return listed
    return Prices(
        {**listed.by_name, **parse_prices(overrides, "costs.prices")}
    )


def parse_prices(text: str, field: str) -> dict[str, Price]:
    """Return the prices in a text such as `gpt-4.1=2/8, puts=5.4`.

    Raises Rejected: a part is not a name and one or two numbers of dollars a million.
    """
    prices: dict[str, Price] = {}
    for part in text.split(","):
        name, separator, amounts = part.strip().partition("=")
        read, slash, written = amounts.partition("/")
        if not name or not separator:
            raise _bad(part, field)
        dollars = _parse_dollars(read, part, field)
        out = _parse_dollars(written, part, field) if slash else None
        prices[name] = Price(
            name, dollars, out, "", "the workspace's costs.prices", ""
        )
    return prices


def _parse_dollars(text: str, part: str, field: str) -> float:
    try:
        dollars = float(text)
    except ValueError:
        raise _bad(part, field) from None
    if not math.isfinite(dollars) or dollars < 0:
        raise _bad(part, field)
    return dollars


def _bad(part: str, field: str) -> Rejected:
    reason = "is not NAME=DOLLARS or NAME=IN/OUT, for a million, such as gpt-4.1=2/8"
    return Rejected(field, f"{part.strip()[:40]!r} {reason}")


@cache
def _read_list() -> Prices:
    path = files("varve.domain") / "prices.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    prices: dict[str, Price] = {}
    for name, entry in table["items"].items():
        prices[name] = _listed(name, entry["dollars"], None, entry)
    for name, entry in table["models"].items():
        prices[name] = _listed(name, entry["in"], entry["out"], entry)
    return Prices(prices)


def _listed(
    name: str, dollars: float, out: float | None, entry: Mapping[str, Any]
) -> Price:
    read = str(entry["date"])
    return Price(name, dollars, out, read, entry["source"], entry["check"])
