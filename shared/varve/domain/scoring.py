"""The values of a ranking's signals, and their weighted sum."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from varve.domain.columns import Columns
from varve.domain.lexical import Floats
from varve.domain.places import Spots

Rows = Spots | None
"""Some rows of a lane; None for all."""

LEAST_WIDTH = 1e-5
"""Values that differ by less are equal: what is left is the order in which a product was summed."""


class Signals:
    """What each signal is for the admitted rows of all lanes, one lane after the other.

    Values stay as they were measured, in `measured`; a factor and a summand for each signal bring them to
    [0, 1] where they are summed up or shown.
    """

    def __init__(self, lanes: Sequence[Columns], admitted: Sequence[Rows]) -> None:
        self.admitted = admitted
        both = zip(lanes, admitted, strict=True)
        self.sizes = [len(lane) if rows is None else len(rows) for lane, rows in both]
        self.starts = list(accumulate(self.sizes, initial=0))[:-1]
        self.measured: dict[str, Floats] = {}
        self._factors: dict[str, float] = {}
        self._summands: dict[str, float] = {}

    def __len__(self) -> int:
        return sum(self.sizes)

    def put(self, name: str, by_lane: Sequence[Floats | None]) -> None:
        """Set a signal, whose value each row of a lane has; None: all of them 0."""
        kept = [
            np.zeros(size, np.float32) if values is None else values if rows is None else values[rows]
            for values, rows, size in zip(by_lane, self.admitted, self.sizes, strict=True)
        ]
        self.measured[name] = kept[0] if len(kept) == 1 else np.concatenate(kept)

    def scale(self, name: str, factor: float) -> None:
        """Bring a signal to [0, 1] by a factor."""
        self._factors[name] = factor

    def spread(self, name: str, floor: float | None = None) -> None:
        """Map a signal to [0, 1]: least (or the given floor) to greatest; all 0 where all are equal."""
        values = self.measured[name]
        if not len(values):
            return
        low = float(np.minimum.reduce(values)) if floor is None else floor
        width = float(np.maximum.reduce(values)) - low
        self._factors[name] = 1 / width if width > LEAST_WIDTH else 0.0
        self._summands[name] = -low / width if width > LEAST_WIDTH else 0.0

    def of(self, name: str) -> Floats:
        """A signal in [0, 1]."""
        values = self.measured[name] * np.float32(self._factors.get(name, 1))
        if summand := self._summands.get(name):
            values += np.float32(summand)
        return values

    @property
    def values(self) -> dict[str, Floats]:
        """All signals in [0, 1], but for those that are 0 for every row."""
        return {name: self.of(name) for name in self.measured}

    def value(self, name: str, row: int) -> float:
        """One row's value of a signal; 0 of one that there is not."""
        if name not in self.measured:
            return 0.0
        return float(self.measured[name][row]) * self._factors.get(name, 1) + self._summands.get(name, 0)

    def scores(self, weights: Mapping[str, float], lane_weights: Sequence[float]) -> Floats:
        """The sum of the signals by their weights, over the sum of those above 0, by the lanes' weights."""
        total = sum(weight for weight in weights.values() if weight > 0)
        names = [name for name in self.measured if name in weights]
        factors = [weights[name] / total * self._factors.get(name, 1.0) for name in names]
        table = np.concatenate([self.measured[name] for name in names]).reshape(len(names), len(self))
        summed: Floats = np.array(factors, np.float32) @ table
        summed += np.float32(sum(weights[name] / total * self._summands.get(name, 0.0) for name in names))
        for start, size, weight in zip(self.starts, self.sizes, lane_weights, strict=True):
            if weight != 1:
                summed[start : start + size] *= np.float32(weight)
        np.maximum(summed, 0, out=summed)
        return np.minimum(summed, 1, out=summed)

    def rows(self, lane: int, at: Spots) -> Spots:
        """The rows of a lane's columns, by their places among all rows of all lanes."""
        admitted, within = self.admitted[lane], at - self.starts[lane]
        return within if admitted is None else admitted[within]
