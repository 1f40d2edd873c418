"""The values of a ranking's signals, and their weighted sum."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Floats

MIN_WIDTH = 1e-5
"""A smaller range of values counts as none: it is rounding of a product's sum."""


class SignalTable:
    """The value of each signal for every row of all lanes, one lane after the other.

    The signals in `names` depend on the question. Each has a line in a table of raw
    values, and a factor and an offset that scale it to [0, 1]. The other signals are
    the constant signals of the lanes' columns. `by_lane` has for each lane its part of
    every line, to be written to. `hidden` marks the rows that the filter excludes, or is
    None if it excludes none. `spans` are the rows of each lane.
    """

    def __init__(
        self, names: Sequence[str], lanes: Sequence[Columns], hidden: Bools | None
    ) -> None:
        self.lanes = lanes
        self.hidden = hidden
        ends = list(accumulate(map(len, lanes), initial=0))
        self.spans = [slice(start, end) for start, end in pairwise(ends)]
        self._raw = np.zeros((len(names), ends[-1]), np.float32)
        self.by_lane = [
            dict(zip(names, self._raw[:, span], strict=True)) for span in self.spans
        ]
        self._lines = {name: line for line, name in enumerate(names)}
        self._factors = [1.0] * len(names)
        self._offsets = [0.0] * len(names)

    def __len__(self) -> int:
        """Return the number of rows that pass the filter."""
        size = self._raw.shape[1]
        if self.hidden is None:
            return size
        return size - int(np.count_nonzero(self.hidden))

    def get_raw(self, name: str) -> Floats:
        """Return the raw values of a signal for all rows."""
        line: Floats = self._raw[self._lines[name]]
        return line

    def set_factor(self, name: str, factor: float) -> None:
        """Set the factor that scales a signal to [0, 1]."""
        self._factors[self._lines[name]] = factor

    def scale_to_range(self, name: str) -> None:
        """Scale a signal so that its visible values reach from 0 to 1.

        If all visible values are equal, they become 0.
        """
        visible = self._select_visible(self.get_raw(name))
        if not len(visible):
            return
        line = self._lines[name]
        low = float(np.minimum.reduce(visible))
        width = float(np.maximum.reduce(visible)) - low
        if width > MIN_WIDTH:
            self._factors[line] = 1 / width
            self._offsets[line] = -low / width
        else:
            self._factors[line] = 0.0
            self._offsets[line] = 0.0

    def scale(self, name: str) -> Floats:
        """Return the values of a signal in [0, 1] for all rows."""
        if name not in self._lines:
            return np.concatenate([lane.constant_signals[name] for lane in self.lanes])
        line = self._lines[name]
        values: Floats = self._raw[line] * np.float32(self._factors[line])
        if self._offsets[line]:
            values += np.float32(self._offsets[line])
        return values

    @property
    def values(self) -> dict[str, Floats]:
        """All signals in [0, 1] for the rows that pass the filter."""
        names = (*self._lines, *self.lanes[0].constant_signals)
        return {name: self._select_visible(self.scale(name)) for name in names}

    def value(self, name: str, at: int) -> float:
        """Return one row's value of a signal; 0 if the question does not use it."""
        line = self._lines.get(name)
        if line is not None:
            raw = float(self._raw[line, at])
            return raw * self._factors[line] + self._offsets[line]
        lane, row = self._locate(at)
        signals = lane.constant_signals
        return float(signals[name][row]) if name in signals else 0.0

    def score_rows(
        self, weights: Mapping[str, float], lane_weights: Sequence[float]
    ) -> Floats:
        """Return the score of each row in [0, 1], or -1 for a row that is hidden.

        The score is the weighted sum of the signals, divided by the sum of the positive
        weights and multiplied by the weight of the lane.
        """
        factors = []
        offset = 0.0
        for name, line in self._lines.items():
            factors.append(weights[name] * self._factors[line])
            offset += weights[name] * self._offsets[line]
        total = sum(weight for weight in weights.values() if weight > 0)
        scores: Floats = np.array(factors, np.float32) @ self._raw
        for lane, span, lane_weight in zip(
            self.lanes, self.spans, lane_weights, strict=True
        ):
            lane_scores = scores[span]
            lane_scores += lane.score_constant_signals(weights)
            lane_scores += np.float32(offset)
            lane_scores *= np.float32(lane_weight / total)
        np.maximum(scores, 0, out=scores)
        np.minimum(scores, 1, out=scores)
        if self.hidden is not None:
            scores[self.hidden] = -1
        return scores

    def _locate(self, at: int) -> tuple[Columns, int]:
        """Return the lane of a row, and the row's number there."""
        for lane, span in zip(self.lanes, self.spans, strict=True):
            if at < span.stop:
                return lane, at - span.start
        raise IndexError(f"row {at} is outside of all lanes")

    def _select_visible(self, values: Floats) -> Floats:
        return values if self.hidden is None else values[~self.hidden]
