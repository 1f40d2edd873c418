"""The report of a trial: shuffles of the rounds, and differences with their intervals."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from varve.domain.identity import digest
from varve.domain.trial.rounds import Judged, Round, Scenario

RESAMPLES = 2_000
_NAMES_EARLIER = re.compile(
    r"\b(?:again|as before|same as|last time|earlier|previous\w*|this time|still|once more"
    r"|otra vez|de nuevo|como antes|la vez pasada|anterior\w*)\b",
    re.IGNORECASE,
)
"""Words by which a situation speaks of an earlier round."""


def shuffle_rounds(scenario: Scenario, seed: int) -> Scenario:
    """Return the scenario with its rounds in another order; seed 0 keeps the order.

    A round that names an earlier one stays behind all rounds that it came after.
    """
    if seed == 0:
        return scenario
    places = {id(one): place for place, one in enumerate(scenario.rounds)}
    order = [one for one in scenario.rounds if not _names_earlier(one)]

    def by_digest(one: Round) -> str:
        place = places[id(one)]
        return digest(scenario.name, str(seed), str(place))

    order.sort(key=by_digest)
    for bound in scenario.rounds:
        if not _names_earlier(bound):
            continue
        own = places[id(bound)]
        before = [i for i, one in enumerate(order) if places[id(one)] < own]
        last = max(before, default=-1)
        order.insert(last + 1, bound)
    return scenario.model_copy(update={"rounds": order})


def _names_earlier(round_: Round) -> bool:
    return _NAMES_EARLIER.search(round_.situation) is not None


@dataclass(frozen=True, slots=True)
class Difference:
    """How much larger one share of right rounds is, with its 95 percent interval."""

    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return JSON values."""
        return {
            "difference": round(self.mean, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
        }


GROUPS: Mapping[str, Callable[[Judged], bool]] = {
    "all": lambda _: True,
    "seen": lambda one: one.seen,
    "new": lambda one: not one.seen,
}
"""The rounds that a difference is given for: by whether their cause was seen before."""


def compare(
    ours: Sequence[Judged], theirs: Sequence[Judged], group: str
) -> Difference | None:
    """Return the paired difference of two agents over the same rounds; None: no rounds.

    The interval is a percentile bootstrap in which whole scenarios are drawn, since rounds
    of one scenario depend on each other (Efron and Tibshirani 1993).
    """
    belongs = GROUPS[group]
    gains: defaultdict[str, int] = defaultdict(int)
    rounds: defaultdict[str, int] = defaultdict(int)
    for one, other in zip(ours, theirs, strict=True):
        if belongs(one):
            gains[one.scenario] += one.right - other.right
            rounds[one.scenario] += 1
    if not rounds:
        return None
    names = sorted(rounds)
    gain = np.array([gains[name] for name in names])
    count = np.array([rounds[name] for name in names])
    drawn = np.random.default_rng(0).integers(
        len(names), size=(RESAMPLES, len(names))
    )
    means = gain[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(float(gain.sum() / count.sum()), float(low), float(high))
