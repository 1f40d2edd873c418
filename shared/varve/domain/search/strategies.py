"""Ranking strategies: named sets of weights and parameters.

`benchmarks/fit.py` fitted the weights of the signals and documents how. The weights of
recency and importance are small and set by hand: no evaluation with answers covers them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from varve.domain.errors import Rejected

HALF_LIFE_DAYS = 180.0
MAX_WEIGHT = 3.0
"""The greatest weight of a signal, to either side, that a workspace may set."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """Weights and parameters of one way to rank.

    - `weights`: the weight of each signal (`domain/search/signals.py` describes them).
    - `reach`: how many places on either side count as a message's surroundings.
    - `kinship`: the least cosine at which two words count as similar.
    - `date_days`: outside the time asked for, the date signal halves every `date_days`.
    - `diversity`: what a row loses per likeness to rows already chosen (1 - lambda of
      maximal marginal relevance).
    - `repeated`: what a row loses if better rows show all of its messages.
    - `superseded`: what a fact loses if a newer fact replaces it.
    """

    name: str
    weights: MappingProxyType[str, float] = field(repr=False)
    half_life_days: float = HALF_LIFE_DAYS
    reach: int = 2
    kinship: float = 0.3
    date_days: float = 14.0
    diversity: float = 0.02
    repeated: float = 0.05
    superseded: float = 0.0


BALANCED = Strategy(
    "balanced",
    MappingProxyType(
        {
            "turn": 0.49, "kin": 1.25, "kind": 0.22, "cosine": 0.56, "session": 0.49, "speaker": 0.73,
            "when": 0.54, "date": 1.22, "reply": 0.51, "opening": 0.26, "address": -0.41,
            "substance": 0.58, "recency": 0.05, "importance": 0.1,
        }
    ),
)  # fmt: skip
"""The strategy for most questions."""

CURRENT = replace(
    BALANCED,
    name="current",
    weights=MappingProxyType({**BALANCED.weights, "recency": 0.8}),
    superseded=0.1,
)
"""The strategy for questions about the present state: prefers the newest facts."""


def with_half_life(strategy: Strategy, days: float) -> Strategy:
    """Return the strategy with a workspace's own half-life in days."""
    if strategy.half_life_days == days:
        return strategy
    return replace(strategy, half_life_days=days)


def with_weights(strategy: Strategy, weights: Mapping[str, float]) -> Strategy:
    """Return the strategy with a workspace's own weights.

    A question about the present keeps its weight of recency.
    """
    own = dict(weights)
    if strategy.name == CURRENT.name:
        own.pop("recency", None)
    if not own:
        return strategy
    merged = MappingProxyType({**strategy.weights, **own})
    return replace(strategy, weights=merged)


def parse_weights(text: str, field: str = "weights") -> dict[str, float]:
    """Return the weights of a text such as `date=0.8,kin=1.5`.

    Raises Rejected: names the field, and the signals that there are.
    """
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in BALANCED.weights:
            known = ", ".join(BALANCED.weights)
            raise Rejected(field, f"{name[:40]!r} is not one of {known}")
        if name in weights:
            raise Rejected(field, f"{name} is given twice")
        try:
            weight = float(number)
        except ValueError as error:
            reason = f"{part[:40]!r} is not NAME=NUMBER"
            raise Rejected(field, reason) from error
        if not -MAX_WEIGHT <= weight <= MAX_WEIGHT:
            raise Rejected(
                field, f"{name} must be from -{MAX_WEIGHT:g} to {MAX_WEIGHT:g}"
            )
        weights[name] = weight
    return weights
