"""How memories are ranked: named sets of weights and widths, and which question gets which.

The weights of the signals were fitted by `benchmarks/fit.py`, which states the search; recency and
importance, on which no evaluation with answers bears, are set by hand and kept small.
"""

from dataclasses import dataclass, field, replace
from types import MappingProxyType

HALF_LIFE_DAYS = 180.0


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to rank.

    `weights` by signal (`domain/search/signals.py` says what each is). `reach`: how many places either side
    count as a message's surroundings. `kinship`: how alike two words must be (cosine) to count as kin.
    `date_days`: in so many days outside the asked time the date's signal halves. `diversity`: how much of
    the score likeness to what is shown already costs (MMR's 1 - lambda), `repeated` what another fact of
    a message already shown costs. `superseded`: what a fact loses that a newer one replaces.
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
"""For most questions."""

CURRENT = replace(
    BALANCED,
    name="current",
    weights=MappingProxyType({**BALANCED.weights, "recency": 0.8}),
    superseded=0.1,
)
"""For questions about how things stand: the newest of what says otherwise."""

STRATEGIES = {strategy.name: strategy for strategy in (BALANCED, CURRENT)}


def with_half_life(strategy: Strategy, days: float) -> Strategy:
    """The strategy with a workspace's own half-life."""
    return (
        strategy
        if strategy.half_life_days == days
        else replace(strategy, half_life_days=days)
    )
