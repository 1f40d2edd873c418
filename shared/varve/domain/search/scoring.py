"""The values of a ranking's signals, and their weighted sum."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Floats

MIN_WIDTH = 1e-5
"""A smaller range of values counts as none: it is rounding of a product's sum."""


@dataclass(slots=True)
class _Signal:
    """The raw values of a signal, with the factor and offset that scale them."""

    raw: Floats
    factor: float = 1.0
    offset: float = 0.0


class SignalTable:
    """The value of each signal for every row of all lanes, one lane after the other.

    The signals in `names` depend on the question. Each has a line in a table of raw
    values, and a factor and an offset that scale it to [0, 1]. The other signals are
    the constant signals of the lanes' columns. `spans` are the rows of each lane.
    `by_lane` has for each lane its part of every line, to be written to. `hidden` marks
    the rows that the filter excludes, or is None if it excludes none.
    """

    def __init__(
        self,
        names: Sequence[str],
        lanes: Sequence[Columns],
        hidden: Bools | None,
    ) -> None:
        self.lanes = lanes
        self.hidden = hidden
        ends = list(accumulate(map(len, lanes), initial=0))
        self._size = ends[-1]
        self._raw = np.zeros((len(names), self._size), np.float32)
        self._signals = {
            name: _Signal(line)
            for name, line in zip(names, self._raw, strict=True)
        }
        self.spans = [slice(start, end) for start, end in pairwise(ends)]
        self.by_lane = [self._select_lane(span) for span in self.spans]

    def _select_lane(self, span: slice) -> dict[str, Floats]:
        return {
            name: signal.raw[span] for name, signal in self._signals.items()
        }

    def __len__(self) -> int:
        """Return the number of rows that pass the filter."""
        if self.hidden is None:
            return self._size
        return self._size - int(np.count_nonzero(self.hidden))

    def get_raw(self, name: str) -> Floats:
        """Return the raw values of a signal for all rows."""
        return self._signals[name].raw

    def reaches(self, name: str, least: float) -> bool:
        """Return whether the raw value of any visible row is at least `least`."""
        if name not in self._signals:
            return False
        visible = self._select_visible(self.get_raw(name))
        return bool(np.maximum.reduce(visible, initial=0) >= least)

    def set_factor(self, name: str, factor: float) -> None:
        """Set the factor that scales a signal to [0, 1]."""
        self._signals[name].factor = factor

    def scale_to_range(self, name: str) -> None:
        """Scale a signal so that its visible values reach from 0 to 1.

        If all visible values are equal, they become 0.
        """
        signal = self._signals[name]
        visible = self._select_visible(signal.raw)
        if not len(visible):
            return
        low = float(np.minimum.reduce(visible))
        high = float(np.maximum.reduce(visible))
        width = high - low
        if width > MIN_WIDTH:
            signal.factor = 1 / width
            signal.offset = -low / width
        else:
            signal.factor = 0.0
            signal.offset = 0.0

    def scale(self, name: str) -> Floats:
        """Return the values of a signal in [0, 1] for all rows."""
        signal = self._signals.get(name)
        if signal is None:
            parts = [lane.constant_signals[name] for lane in self.lanes]
            return np.concatenate(parts)
        values: Floats = signal.raw * np.float32(signal.factor)
        if signal.offset:
            values += np.float32(signal.offset)
        return values

    @property
    def values(self) -> dict[str, Floats]:
        """All signals in [0, 1] for the rows that pass the filter."""
        constant = self.lanes[0].constant_signals
        found = {}
        for name in (*self._signals, *constant):
            found[name] = self._select_visible(self.scale(name))
        return found

    def value(self, name: str, at: int) -> float:
        """Return one row's value of a signal; 0 if the question does not use it."""
        signal = self._signals.get(name)
        if signal is not None:
            raw = float(signal.raw[at])
            return raw * signal.factor + signal.offset
        lane, row = self._locate(at)
        values = lane.constant_signals.get(name)
        return 0.0 if values is None else float(values[row])

    def score_rows(
        self, weights: Mapping[str, float], lane_weights: Sequence[float]
    ) -> Floats:
        """Return the score of each row in [0, 1], or -1 for a row that is hidden.

        The score is the weighted sum of the signals, divided by the sum of the positive
        weights and multiplied by the weight of the lane.
        """
        scores = self._sum_signals(weights)
        offset = np.float32(self._sum_offsets(weights))
        total = sum_positive(weights)
        spans = zip(self.lanes, self.spans, lane_weights, strict=True)
        for lane, span, lane_weight in spans:
            lane_scores = scores[span]
            lane_scores += lane.score_constant_signals(weights)
            lane_scores += offset
            lane_scores *= np.float32(lane_weight / total)
        np.maximum(scores, 0, out=scores)
        np.minimum(scores, 1, out=scores)
        if self.hidden is not None:
            scores[self.hidden] = -1
        return scores

    def _sum_signals(self, weights: Mapping[str, float]) -> Floats:
        """Return the weighted sum of the table's signals, without their offsets."""
        factors = []
        for name, signal in self._signals.items():
            factors.append(weights[name] * signal.factor)
        scores: Floats = np.array(factors, np.float32) @ self._raw
        return scores

    def _sum_offsets(self, weights: Mapping[str, float]) -> float:
        offset = 0.0
        for name, signal in self._signals.items():
            offset += weights[name] * signal.offset
        return offset

    def _locate(self, at: int) -> tuple[Columns, int]:
        """Return the lane of a row, and the row's number there."""
        for lane, span in zip(self.lanes, self.spans, strict=True):
            if at < span.stop:
                return lane, at - span.start
        raise IndexError(f"row {at} is outside of all lanes")

    def _select_visible(self, values: Floats) -> Floats:
        return values if self.hidden is None else values[~self.hidden]


def sum_positive(weights: Mapping[str, float]) -> float:
    """Return the sum of the positive weights, by which scores are divided."""
    return sum(weight for weight in weights.values() if weight > 0)
