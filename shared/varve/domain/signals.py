"""What speaks for a record: every signal of the ranking, over all rows of all lanes at once.

| signal | high where |
|---|---|
| turn | BM25 of the record's words |
| kin | the share of the question's telling words met around it, where words that mean alike count in part |
| kind | the record has words of the kinds of things that the question asks for |
| cosine | the record's vector points where the question's telling words do |
| session | the best passage of its conversation is good |
| speaker | the one speaker whom the question names said it, or it is about that person |
| when | the question asks when, and the record's words tell a time |
| date | it lies in or near the time the question speaks of |
| reply | the message before asks a question with the question's words |
| opening | it opens its conversation: there people tell what is new |
| address | its words speak of the listener, and so less of what happened |
| substance | it is no mere interjection |
| recency, importance | it is new; it was judged important |

Each is in [0, 1] over what the filter lets through.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import sqrt
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from varve.domain.columns import Columns
from varve.domain.lexical import Floats, Term, WordVectors, idf
from varve.domain.nearness import near, recency
from varve.domain.occurrences import Kinship
from varve.domain.places import Spots
from varve.domain.query import Filter
from varve.domain.question import Question
from varve.domain.record import Vector
from varve.domain.strategies import Strategy

Number = TypeVar("Number", bound=np.generic)
Rows = Spots | None
"""Some rows of a lane; None for all."""

LEAST_WIDTH = 1e-5
"""Values that differ by less are equal: what is left is the order in which a product was summed."""


@dataclass(frozen=True, eq=False)
class Sought:
    """A question with its vectors: of all its words, and of the telling ones without speakers' names.

    `words` gives vectors of single words where the embedder has them.
    """

    question: Question
    whole: Vector
    focus: Vector
    words: WordVectors | None = None


@dataclass(frozen=True, eq=False)
class Signals:
    """The admitted rows of all lanes one after the other.

    `values` are the signals by name, without those that are 0 for every row; `keyword` is BM25 as it is.
    """

    admitted: Sequence[Rows]
    sizes: Sequence[int]
    values: Mapping[str, Floats]
    keyword: Floats

    def __len__(self) -> int:
        return len(self.keyword)

    @cached_property
    def starts(self) -> list[int]:
        """Where each lane's rows begin."""
        return [sum(self.sizes[:lane]) for lane in range(len(self.sizes))]

    def rows(self, lane: int, at: Spots) -> Spots:
        """The rows of a lane's columns, by their places among all rows of all lanes."""
        admitted, within = self.admitted[lane], at - self.starts[lane]
        return within if admitted is None else admitted[within]

    def value(self, name: str, at: int) -> float:
        """One row's value of a signal."""
        values = self.values.get(name)
        return 0.0 if values is None else float(values[at])

    def scores(self, weights: Mapping[str, float], lane_weights: Sequence[float]) -> Floats:
        """The sum of the signals by their weights, over the sum of those above 0, by the lanes' weights."""
        total = sum(weight for weight in weights.values() if weight > 0)
        names = [name for name in weights if name in self.values]
        summed = np.zeros(len(self), np.float32)
        spare = np.empty_like(summed)
        for name in names:
            np.multiply(self.values[name], np.float32(weights[name] / total), out=spare)
            summed += spare
        for start, size, weight in zip(self.starts, self.sizes, lane_weights, strict=True):
            if weight != 1:
                summed[start : start + size] *= np.float32(weight)
        np.maximum(summed, 0, out=summed)
        return np.minimum(summed, 1, out=summed)


def names_in(question: Question, lanes: Sequence[Columns]) -> set[str]:
    """The question's words that are names of speakers."""
    return {form for form in question.forms if any(form in lane.voices for lane in lanes)}


def signals(
    sought: Sought, lanes: Sequence[Columns], where: Filter, present: datetime, strategy: Strategy
) -> Signals:
    """All signals of all rows that the filter lets through.

    None is estimated and no row is left out, so that the order is that of the whole sum. What makes it
    quick is that a word's part of it is kept (`domain/occurrences.py`).
    """
    admitted = [_rows(lane, where) for lane in lanes]
    sizes = [len(lane) if rows is None else len(rows) for lane, rows in zip(lanes, admitted, strict=True)]
    names = names_in(sought.question, lanes)
    telling = _Telling(sought.question.forms, lanes)
    raw = [
        _raw(sought, lane, terms, names, telling, strategy)
        for lane, terms in zip(lanes, telling.terms, strict=True)
    ]
    most = max((float(values["turn"].max(initial=0)) for values in raw), default=0.0) or 1.0
    joined = {
        name: _joined([_of(values, name, lane) for values, lane in zip(raw, lanes, strict=True)], admitted)
        for name in dict.fromkeys(name for values in raw for name in values)
    }
    keyword = joined["turn"]
    joined |= {
        "turn": keyword / np.float32(most),
        "reply": joined["reply"] / np.float32(most),
        "cosine": _spread(joined["cosine"]),
    }
    joined["session"] = _of_sessions(joined["turn"] + joined["cosine"], lanes, admitted)
    times = _joined([lane.event_times for lane in lanes], admitted)
    if sought.question.since is not None or sought.question.until is not None:
        joined["date"] = near(times, sought.question, strategy)
    joined["recency"] = recency(times, present, strategy.half_life_days)
    return Signals(admitted, sizes, joined, keyword)


def _rows(lane: Columns, where: Filter) -> Rows:
    """The rows that the filter lets through."""
    if where == Filter():
        return None
    rows = np.flatnonzero(lane.admitted(where))
    return None if len(rows) == len(lane) else rows


class _Telling:
    """How telling each word of the question is, over all lanes; `terms` are the words as each has them."""

    def __init__(self, forms: Sequence[str], lanes: Sequence[Columns]) -> None:
        self.terms = [[lane.lexical.term(form) for form in forms] for lane in lanes]
        counted = [map(lane.lexical.frequency, terms) for lane, terms in zip(lanes, self.terms, strict=True)]
        frequencies = map(sum, zip(*counted, strict=True))
        size = sum(len(lane) for lane in lanes)
        self.idf = {form: idf(count, size) for form, count in zip(forms, frequencies, strict=True)}


def _raw(
    sought: Sought,
    lane: Columns,
    terms: Sequence[Term],
    names: Collection[str],
    telling: _Telling,
    strategy: Strategy,
) -> dict[str, Floats]:
    """The signals of one lane's rows before they are brought to one scale, but for some that are 0."""
    places = lane.places
    focus = [term for term in terms if term.form not in names] or terms
    met = lane.met(strategy.reach)
    turn = np.zeros(len(lane), np.float32)
    for term, one in zip(terms, met.words(terms), strict=True):
        one.add(turn, telling.idf[term.form])
    asked = places.best(turn) * lane.asking
    found = {
        "turn": turn,
        "kin": places.to_rows(_kin(sought, lane, focus, names, telling, strategy)),
        "cosine": _towards(sought.focus, lane),
        "reply": places.to_rows(places.shifted(asked, -1)),
        "opening": places.opening,
        "address": lane.lexical.addressing,
        "substance": lane.lexical.substance,
        "importance": lane.importances,
    }
    kinds = met.kinds(sought.question.kinds)
    if kinds:
        found["kind"] = np.zeros(len(lane), np.float32)
        for one in kinds:
            one.add(found["kind"], 1 / len(kinds))
    speaker = _speaker(lane, names)
    if speaker is not None:
        found["speaker"] = (lane.speakers.of == speaker).astype(np.float32)
    if sought.question.asks_when:
        found["when"] = lane.telling_time
    return found


def _towards(focus: Vector, lane: Columns) -> Floats:
    """The cosine of each row about the centre."""
    centred = focus - lane.centre
    centred /= max(sqrt(centred @ centred), 1e-6)
    towards: Floats = lane.vectors @ centred
    towards -= np.float32(lane.centre @ centred)
    towards *= lane.steepness
    return towards


def _kin(
    sought: Sought,
    lane: Columns,
    terms: Sequence[Term],
    names: Collection[str],
    telling: _Telling,
    strategy: Strategy,
) -> Floats:
    """By place: the question's words met around it, the most alike of the words there for each."""
    kin = np.zeros(len(lane.places), np.float32)
    total = sum(telling.idf[term.form] for term in terms) or 1.0
    named = tuple(sorted({code for name in names for code in lane.lexical.term(name).codes}))
    wanted = Kinship(strategy.kinship, named)
    for term, found in zip(terms, lane.met(strategy.reach).kin(terms, wanted, sought.words), strict=True):
        found.add(kin, telling.idf[term.form] / total)
    return kin


def _speaker(lane: Columns, names: Collection[str]) -> int | None:
    """The one speaker whom the question names; None where it names none or several."""
    speakers = {code for name in names if name in lane.voices for code in lane.voices[name]}
    return speakers.pop() if len(speakers) == 1 else None


def _of(values: Mapping[str, Floats], name: str, lane: Columns) -> Floats:
    """A lane's values of a signal that some lane has."""
    return values[name] if name in values else np.zeros(len(lane), np.float32)


def _joined(columns: Sequence[npt.NDArray[Number]], admitted: Sequence[Rows]) -> npt.NDArray[Number]:
    """The admitted rows of all lanes one after the other; the column itself where that is all of one."""
    kept = [column if rows is None else column[rows] for column, rows in zip(columns, admitted, strict=True)]
    return kept[0] if len(kept) == 1 else np.concatenate(kept)


def _of_sessions(scores: Floats, lanes: Sequence[Columns], admitted: Sequence[Rows]) -> Floats:
    """How good the best passage of each row's conversation is, from 0 for the worst to 1 for the best."""
    best, start = [], 0
    for lane, rows in zip(lanes, admitted, strict=True):
        size = len(lane) if rows is None else len(rows)
        own = scores[start : start + size]
        start += size
        if rows is None:
            best.append(lane.places.best_passages(own))
        else:
            whole = np.zeros(len(lane), np.float32)
            whole[rows] = own
            best.append(lane.places.best_passages(whole)[rows])
    return _spread(best[0] if len(best) == 1 else np.concatenate(best))


def _spread(values: Floats) -> Floats:
    """The values mapped to [0, 1], least to greatest; all 0 where all are equal."""
    if not len(values):
        return values
    low = float(values.min())
    width = float(values.max()) - low
    if width <= LEAST_WIDTH:
        return np.zeros_like(values)
    spread = values - np.float32(low)
    spread /= np.float32(width)
    return spread
