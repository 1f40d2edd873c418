"""The values of a ranking's signals, and their weighted sum."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Floats

LEAST_WIDTH = 1e-5
"""Values that differ by less are equal: what is left is the order in which a product was summed."""


class Signals:
    """What each signal is for every row of all lanes, one lane after the other.

    `names` are the signals that depend on the question: each has a line in a table, as it was measured, with
    a factor and a summand that bring it to [0, 1]. The others stand in the lanes' columns. `by_lane` are the
    lines of each lane's rows, to be written. `hidden` are the rows that the filter does not let through, None
    where it lets all through.
    """

    def __init__(
        self, names: Sequence[str], lanes: Sequence[Columns], hidden: Bools | None
    ) -> None:
        self.lanes, self.hidden = lanes, hidden
        ends = list(accumulate(map(len, lanes), initial=0))
        self.spans = [slice(start, end) for start, end in pairwise(ends)]
        self._table = np.zeros((len(names), ends[-1]), np.float32)
        self.by_lane = [
            dict(zip(names, self._table[:, span], strict=True)) for span in self.spans
        ]
        self._lines = {name: line for line, name in enumerate(names)}
        self._factors = [1.0] * len(names)
        self._summands = [0.0] * len(names)

    def __len__(self) -> int:
        """How many rows the filter lets through."""
        size = self._table.shape[1]
        return (
            size if self.hidden is None else size - int(np.count_nonzero(self.hidden))
        )

    def measured(self, name: str) -> Floats:
        """A signal as it was measured, of all rows."""
        line: Floats = self._table[self._lines[name]]
        return line

    def scale(self, name: str, factor: float) -> None:
        """Bring a signal to [0, 1] by a factor."""
        self._factors[self._lines[name]] = factor

    def spread(self, name: str) -> None:
        """Map what is shown of a signal to [0, 1], least to greatest; all 0 where all are equal."""
        values, line = self._shown(self.measured(name)), self._lines[name]
        if not len(values):
            return
        low = float(np.minimum.reduce(values))
        width = float(np.maximum.reduce(values)) - low
        self._factors[line] = 1 / width if width > LEAST_WIDTH else 0.0
        self._summands[line] = -low / width if width > LEAST_WIDTH else 0.0

    def of(self, name: str) -> Floats:
        """A signal in [0, 1], of all rows."""
        if name not in self._lines:
            return np.concatenate([lane.standing[name] for lane in self.lanes])
        line = self._lines[name]
        values: Floats = self._table[line] * np.float32(self._factors[line])
        if self._summands[line]:
            values += np.float32(self._summands[line])
        return values

    @property
    def values(self) -> dict[str, Floats]:
        """All signals in [0, 1] of the rows that the filter lets through."""
        return {
            name: self._shown(self.of(name))
            for name in (*self._lines, *self.lanes[0].standing)
        }

    def value(self, name: str, at: int) -> float:
        """One row's value of a signal; 0 of one that the question does not call for."""
        if name in self._lines:
            line = self._lines[name]
            return (
                float(self._table[line, at]) * self._factors[line]
                + self._summands[line]
            )
        lane, row = self.place(at)
        standing = self.lanes[lane].standing
        return float(standing[name][row]) if name in standing else 0.0

    def scores(
        self, weights: Mapping[str, float], lane_weights: Sequence[float]
    ) -> Floats:
        """The sum of the signals by their weights, over the sum of those above 0, by the lanes' weights.

        -1 for what the filter does not let through.
        """
        own = [weights[name] for name in self._lines]
        factors = [
            weight * factor for weight, factor in zip(own, self._factors, strict=True)
        ]
        summand = sum(
            weight * summand
            for weight, summand in zip(own, self._summands, strict=True)
        )
        total = sum(weight for weight in weights.values() if weight > 0)
        summed: Floats = np.array(factors, np.float32) @ self._table
        for lane, span, lane_weight in zip(
            self.lanes, self.spans, lane_weights, strict=True
        ):
            scores = summed[span]
            scores += lane.worth(weights)
            scores += np.float32(summand)
            scores *= np.float32(lane_weight / total)
        np.minimum(np.maximum(summed, 0, out=summed), 1, out=summed)
        if self.hidden is not None:
            summed[self.hidden] = -1
        return summed

    def place(self, at: int) -> tuple[int, int]:
        """Which lane, and which of its rows, stands there."""
        lane = next(number for number, span in enumerate(self.spans) if at < span.stop)
        return lane, at - self.spans[lane].start

    def _shown(self, values: Floats) -> Floats:
        return values if self.hidden is None else values[~self.hidden]
