"""A plain implementation of the signals, row by row, to compare with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from varve.domain.language.stems import stems
from varve.domain.record import MemoryType
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import K1, B
from varve.domain.search.outline import TYPES
from varve.domain.search.query import Filter
from varve.domain.search.signals import EmbeddedQuestion, names_in
from varve.domain.search.strategies import Strategy


def _idf(frequency: int, size: int) -> float:
    return math.log1p((size - frequency + 0.5) / (frequency + 0.5))


def _bm25(count: float, length: float, mean: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))


class PlainLane:
    """One store's rows with their words, and the neighbours of each place."""

    def __init__(self, columns: Columns, reach: int) -> None:
        self.columns, index = columns, columns.lexical
        self.counts: list[dict[str, int]] = [{} for _ in range(len(columns))]
        for stem, code in index.codes.items():
            for at in range(index.starts[code], index.starts[code + 1]):
                self.counts[index.rows[at]][stem] = int(index.counts[at])
        self.lengths = [sum(counts.values()) for counts in self.counts]
        places = columns.places
        self.seats: list[list[int]] = [[] for _ in range(len(places))]
        for row, place in enumerate(places.of):
            self.seats[place].append(row)
        self.around = [
            [q for q in range(p - reach, p + reach + 1)
             if 0 <= q < len(places) and places.numbers[q] == places.numbers[p]]
            for p in range(len(places))
        ]  # fmt: skip

    def repeats_a_turn(self, row: int) -> bool:
        """Whether the row is a fact of a message whose words are in the store."""
        columns = self.columns
        if columns.types[row] != TYPES.index(MemoryType.FACT):
            return False
        if columns.conversations.of[row] < 0:
            return False
        same = columns.conversations.of == columns.conversations.of[row]
        same &= columns.positions == columns.positions[row]
        return bool((columns.types[same] != columns.types[row]).any())

    def longest(self, place: int) -> int:
        return max(self.lengths[row] for row in self.seats[place])

    def most(self, place: int, form: str) -> int:
        return max(
            self.counts[row].get(stem, 0)
            for row in self.seats[place]
            for stem in stems(form)
        )


def plain(
    sought: EmbeddedQuestion,
    lanes: Sequence[Columns],
    where: Filter,
    strategy: Strategy,
) -> dict[str, list[float]]:
    """Return turn, kin (equal words only), kind, cosine, session and reply, by row."""
    known = [PlainLane(lane, strategy.reach) for lane in lanes]
    forms, names = sought.question.forms, names_in(sought.question, lanes)
    size = sum(len(lane) for lane in lanes)
    found = {
        form: sum(
            stem in c
            for lane in known
            for c in lane.counts
            for stem in stems(form)
        )
        for form in forms
    }
    told = {form: _idf(count, size) for form, count in found.items()}
    focus = [form for form in forms if form not in names] or list(forms)
    rows: dict[str, list[float]] = {
        name: []
        for name in ("turn", "kin", "kind", "cosine", "session", "reply")
    }
    most, spots = 0.0, []
    for lane in known:
        columns, places = lane.columns, lane.columns.places
        mean = max(1.0, float(np.mean(lane.lengths)))
        centred = sought.focus - columns.centre
        centred = centred / max(float(np.linalg.norm(centred)), 1e-6)
        about = columns.vectors - columns.centre
        turn = [
            sum(told[form] * _bm25(counts[stem], length, mean) for form in forms for stem in stems(form)
                if stem in counts)
            for counts, length in zip(lane.counts, lane.lengths, strict=True)
        ]  # fmt: skip
        most = max([most, *turn])
        asked = [max(turn[r] for r in seat) * any("?" in columns.contents[r] for r in seat)
                 for seat in lane.seats]  # fmt: skip
        sums = {
            form: [
                sum(lane.most(q, form) for q in near) for near in lane.around
            ]
            for form in forms
        }
        for row in np.flatnonzero(columns.admitted(where)).tolist():
            place = int(places.of[row])
            near = lane.around[place]
            spots.append((lane, row))
            rows["turn"].append(turn[row])
            has = [any(stem in lane.counts[row] for word in kind for stem in stems(word))
                   for kind in sought.question.kinds]  # fmt: skip
            rows["kind"].append(sum(has) / max(1, len(has)))
            everywhere = sum(told[form] for form in focus) or 1.0
            rows["kin"].append(
                sum(told[form] for form in focus if sums[form][place])
                / everywhere
            )
            spread = max(math.sqrt(1e-6), float(np.linalg.norm(about[row])))
            rows["cosine"].append(float(about[row] @ centred) / spread)
            rows["reply"].append(
                asked[place - 1] if place - 1 in near else 0.0
            )
    rows["turn"] = [x / (most or 1.0) for x in rows["turn"]]
    rows["reply"] = [x / (most or 1.0) for x in rows["reply"]]
    rows["cosine"] = _spread(rows["cosine"])
    scores = {(id(lane), row): t + c
              for (lane, row), t, c in zip(spots, rows["turn"], rows["cosine"], strict=True)}  # fmt: skip
    for lane, row in spots:
        if lane.repeats_a_turn(row):
            scores[id(lane), row] = 0.0
    rows["session"] = _spread(
        [_best_passage(lane, row, scores) for lane, row in spots]
    )
    return rows


def _best_passage(
    lane: PlainLane, row: int, scores: dict[tuple[int, int], float]
) -> float:
    places = lane.columns.places
    numbers = places.numbers.tolist()
    own = [
        place
        for place in range(len(places))
        if numbers[place] == numbers[places.of[row]]
    ]
    best = {
        place: max(scores.get((id(lane), r), 0.0) for r in lane.seats[place])
        for place in own
    }
    return max(
        sum(best.get(place + by, 0.0) for by in (-1, 0, 1)) for place in own
    )


def _spread(values: list[float]) -> list[float]:
    if not values:
        return values
    low, width = min(values), max(values) - min(values)
    return [(x - low) / width if width > 1e-5 else 0.0 for x in values]
