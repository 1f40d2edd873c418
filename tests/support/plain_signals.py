"""The signals of a ranking as their table defines them, row by row in plain Python, to compare with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from varve.domain.columns import Columns
from varve.domain.lexical import K1, B, stems
from varve.domain.query import Filter
from varve.domain.signals import Sought, names_in
from varve.domain.strategies import Strategy


def _idf(frequency: int, size: int) -> float:
    return math.log1p((size - frequency + 0.5) / (frequency + 0.5))


def _bm25(count: float, length: float, mean: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))


class PlainLane:
    """One store's rows with their words, and the rows said around each."""

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

    def longest(self, place: int) -> int:
        return max(self.lengths[row] for row in self.seats[place])

    def most(self, place: int, form: str) -> int:
        return max(self.counts[row].get(stem, 0) for row in self.seats[place] for stem in stems(form))


def plain(
    sought: Sought, lanes: Sequence[Columns], where: Filter, strategy: Strategy
) -> dict[str, list[float]]:
    """turn, window, cover, kin (of equal words alone), cosine, context, session and reply, each by row."""
    known = [PlainLane(lane, strategy.reach) for lane in lanes]
    forms, names = sought.question.forms, names_in(sought.question, lanes)
    size = sum(len(lane) for lane in lanes)
    found = {
        form: sum(stem in c for lane in known for c in lane.counts for stem in stems(form)) for form in forms
    }
    told = {form: _idf(count, size) for form, count in found.items()}
    focus = [form for form in forms if form not in names] or list(forms)
    share = sum(told[form] for form in focus if found[form]) or 1.0
    rows: dict[str, list[float]] = {name: [] for name in ("turn", "window", "cover", "kin", "cosine",
                                                          "context", "reply", "session")}  # fmt: skip
    most, numbers = 0.0, []
    for number, lane in enumerate(known):
        columns, places = lane.columns, lane.columns.places
        mean = max(1.0, float(np.mean(lane.lengths)))
        wide = [sum(lane.longest(q) for q in near) for near in lane.around]
        wide_mean = max(1.0, float(np.mean(wide)))
        centred = sought.focus - columns.centre
        centred = centred / max(float(np.linalg.norm(centred)), 1e-6)
        about = columns.vectors - columns.centre
        means = [np.mean([about[row] for row in seat], axis=0) for seat in lane.seats]
        turn = [
            sum(told[form] * _bm25(counts[stem], length, mean) for form in forms for stem in stems(form)
                if stem in counts)
            for counts, length in zip(lane.counts, lane.lengths, strict=True)
        ]  # fmt: skip
        most = max([most, *turn])
        asked = [max(turn[r] for r in seat) * any("?" in columns.contents[r] for r in seat)
                 for seat in lane.seats]  # fmt: skip
        sums = {form: [sum(lane.most(q, form) for q in near) for near in lane.around] for form in forms}
        for row in np.flatnonzero(columns.admitted(where)).tolist():
            place = int(places.of[row])
            near = lane.around[place]
            numbers.append((number, int(places.numbers[place])))
            rows["turn"].append(turn[row])
            rows["window"].append(
                sum(
                    _idf(sum(x > 0 for x in there), len(there)) * _bm25(there[place], wide[place], wide_mean)
                    for there in sums.values()
                    if there[place]
                )
            )
            has = [form for form in focus if any(stem in lane.counts[row] for stem in stems(form))]
            rows["cover"].append(sum(told[form] for form in has) / share)
            everywhere = sum(told[form] for form in focus) or 1.0
            rows["kin"].append(sum(told[form] for form in focus if sums[form][place]) / everywhere)
            spread = max(math.sqrt(1e-6), float(np.linalg.norm(about[row])))
            rows["cosine"].append(float(about[row] @ centred) / spread)
            context = np.sum([means[q] for q in near], axis=0)
            rows["context"].append(float(context @ centred) / max(1e-3, float(np.linalg.norm(context))))
            rows["reply"].append(asked[place - 1] if place - 1 in near else 0.0)
    rows["turn"] = [x / (most or 1.0) for x in rows["turn"]]
    rows["reply"] = [x / (most or 1.0) for x in rows["reply"]]
    rows["window"] = _spread([0.0, *rows["window"]])[1:]
    rows["cosine"], rows["context"] = _spread(rows["cosine"]), _spread(rows["context"])
    best = [sum(three) for three in zip(rows["turn"], rows["window"], rows["cosine"], strict=True)]
    of_session = {
        one: sorted((x for x, n in zip(best, numbers, strict=True) if n == one), reverse=True)
        for one in numbers
    }
    depth = strategy.session_depth
    rows["session"] = _spread([float(np.mean(of_session[one][:depth])) for one in numbers])
    return rows


def _spread(values: list[float]) -> list[float]:
    if not values:
        return values
    low, width = min(values), max(values) - min(values)
    return [(x - low) / width if width > 1e-5 else 0.0 for x in values]
