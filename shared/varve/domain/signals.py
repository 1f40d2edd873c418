"""What speaks for a record: every signal of the ranking, over all rows of all lanes at once.

| signal | high where |
|---|---|
| turn | BM25 of the record's words |
| window | BM25 of the message with those around it |
| cover | the share of the question's words, by how telling they are, that the record has |
| kin | the same of the message with those around it, where words that mean alike count in part |
| cosine | the record's vector points where the question's telling words do |
| context | the same of the message with those around it |
| session | the best messages of its conversation are good |
| speaker | the one speaker whom the question names said it, or it is about that person |
| when | the question asks when, and the record's words tell a time |
| date | it lies in or near the time the question speaks of |
| reply | the message before asks a question with the question's words |
| opening | it opens its conversation: there people tell what is new |
| address | its words speak of the listener, and so less of what happened |
| recency, importance | it is new; it was judged important |

Each is in [0, 1] over what the filter lets through.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from varve.domain.columns import Columns
from varve.domain.lexical import Floats, Ints, Term, WordVectors, idf, saturated
from varve.domain.nearness import near, recency
from varve.domain.query import Filter
from varve.domain.question import Question
from varve.domain.record import Vector
from varve.domain.strategies import Strategy

Number = TypeVar("Number", bound=np.generic)

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
    """The admitted rows of all lanes one after the other: `lane` and `row` say which each is.

    `values` are the signals by name; `keyword` is BM25 as it is.
    """

    lane: Ints
    row: Ints
    values: Mapping[str, Floats]
    keyword: Floats


def names_in(question: Question, lanes: Sequence[Columns]) -> set[str]:
    """The question's words that are names of speakers."""
    return {form for form in question.forms if any(form in lane.voices for lane in lanes)}


def signals(
    sought: Sought, lanes: Sequence[Columns], where: Filter, present: datetime, strategy: Strategy
) -> Signals:
    """All signals of all rows that the filter lets through."""
    admitted = [np.flatnonzero(lane.admitted(where)).astype(np.int32) for lane in lanes]
    names = names_in(sought.question, lanes)
    telling = _Telling(sought.question.forms, lanes)
    raw = [
        _raw(sought, lane, terms, names, telling, strategy)
        for lane, terms in zip(lanes, telling.terms, strict=True)
    ]
    joined = {name: _joined([values[name] for values in raw], admitted) for name in raw[0]}
    most = max((float(values["turn"].max(initial=0)) for values in raw), default=0.0) or 1.0
    keyword = joined["turn"]
    joined |= {
        "turn": joined["turn"] / most,
        "reply": joined["reply"] / most,
        "window": _spread(joined["window"], 0.0),
        "cosine": _spread(joined["cosine"]),
        "context": _spread(joined["context"]),
    }
    sessions = _sessions(lanes, admitted)
    joined["session"] = _of_sessions(
        joined["turn"] + joined["window"] + joined["cosine"], sessions, strategy.session_depth
    )
    times = _joined([lane.event_times for lane in lanes], admitted)
    joined["date"] = near(times, sought.question, strategy)
    joined["recency"] = recency(times, present, strategy.half_life_days)
    of = np.repeat(np.arange(len(lanes), dtype=np.int32), [len(rows) for rows in admitted])
    return Signals(of, np.concatenate(admitted), joined, keyword)


class _Telling:
    """How telling each word of the question is, over all lanes; `terms` are the words as each has them."""

    def __init__(self, forms: Sequence[str], lanes: Sequence[Columns]) -> None:
        self.terms = [[lane.lexical.term(form) for form in forms] for lane in lanes]
        self.frequencies = dict.fromkeys(forms, 0)
        for lane, terms in zip(lanes, self.terms, strict=True):
            for term in terms:
                self.frequencies[term.form] += lane.lexical.frequency(term)
        size = sum(len(lane) for lane in lanes)
        self.idf = {form: idf(count, size) for form, count in self.frequencies.items()}


def _raw(
    sought: Sought,
    lane: Columns,
    terms: Sequence[Term],
    names: set[str],
    telling: _Telling,
    strategy: Strategy,
) -> dict[str, Floats]:
    """The signals of one lane's rows before they are brought to one scale."""
    places = lane.places
    focus = [term for term in terms if term.form not in names] or terms
    turn, window = _bm25(lane, terms, telling, strategy.reach)
    centred = sought.focus - lane.centre
    centred = centred / max(float(np.linalg.norm(centred)), 1e-6)
    towards = lane.vectors @ centred - np.float32(lane.centre @ centred)
    by_place = np.bincount(places.of, towards, minlength=len(places)).astype(np.float32) / places.counts
    context = places.around(by_place, strategy.reach) / lane.context_spreads(strategy.reach)
    asked = places.best(turn) * lane.asking
    return {
        "turn": turn,
        "window": window[places.of],
        "cover": _cover(lane, focus, telling),
        "kin": _kin(sought, lane, focus, names, telling, strategy)[places.of],
        "cosine": towards / lane.spreads,
        "context": context[places.of],
        "speaker": _spoken(lane, names),
        "when": lane.telling_time if sought.question.asks_when else np.zeros(len(lane), np.float32),
        "reply": places.shifted(asked, -1)[places.of],
        "opening": places.opening,
        "address": lane.lexical.addressing,
        "importance": lane.importances,
    }


def _bm25(lane: Columns, terms: Sequence[Term], telling: _Telling, reach: int) -> tuple[Floats, Floats]:
    """BM25 of each row, and of each place with those around it."""
    index, places = lane.lexical, lane.places
    turn, window = np.zeros(len(lane), np.float32), np.zeros(len(places), np.float32)
    lengths = lane.window_lengths(reach)
    mean = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
    for term in terms:
        if not term.codes:
            continue
        rows, counts = index.postings(term.codes)
        weight = np.float32(telling.idf[term.form])
        np.add.at(turn, rows, weight * saturated(counts, index.lengths[rows], index.mean_length))
        there = np.zeros(len(places), np.float32)
        np.maximum.at(there, places.of[rows], counts)
        wide = places.around(there, reach)
        spread = np.flatnonzero(wide)
        weight = np.float32(idf(len(spread), len(places)))
        window[spread] += weight * saturated(wide[spread], lengths[spread], mean)
    return turn, window


def _cover(lane: Columns, terms: Sequence[Term], telling: _Telling) -> Floats:
    known = [term for term in terms if telling.frequencies[term.form]]
    cover = np.zeros(len(lane), np.float32)
    total = sum(telling.idf[term.form] for term in known)
    for term in known:
        if term.codes:
            rows, _ = lane.lexical.postings(term.codes)
            here = np.zeros(len(lane), np.float32)
            here[rows] = telling.idf[term.form] / total
            cover += here
    return cover


def _kin(
    sought: Sought,
    lane: Columns,
    terms: Sequence[Term],
    names: set[str],
    telling: _Telling,
    strategy: Strategy,
) -> Floats:
    """By place: the question's words met around it, the most alike of the words there for each."""
    index, places = lane.lexical, lane.places
    kin = np.zeros(len(places), np.float32)
    total = sum(telling.idf[term.form] for term in terms) or 1.0
    for term, (codes, weights) in zip(terms, _alike(sought, lane, terms, names, strategy), strict=True):
        if not len(codes):
            continue
        here = np.zeros(len(places), np.float32)
        counts = index.starts[codes + 1] - index.starts[codes]
        ends = np.cumsum(counts)
        spots = np.arange(ends[-1]) + np.repeat(index.starts[codes] - ends + counts, counts)
        np.maximum.at(here, places.of[index.rows[spots]], np.repeat(weights, counts))
        kin += np.float32(telling.idf[term.form] / total) * places.best_around(here, strategy.reach)
    return kin


def _alike(
    sought: Sought, lane: Columns, terms: Sequence[Term], names: set[str], strategy: Strategy
) -> list[tuple[Ints, Floats]]:
    """For each term the stems that are alike, each once, and how much, in [0, 1]: its own 1."""
    index = lane.lexical
    own = [np.array(term.codes, np.int32) for term in terms]
    if sought.words is None or not index.forms:
        return [(codes, np.ones(len(codes), np.float32)) for codes in own]
    named = [code for name in names for code in index.term(name).codes]
    alike = []
    near = index.likenesses(sought.words).of([term.form for term in terms])
    for mine, (codes, cosines) in zip(own, near, strict=True):
        kept = (cosines > strategy.kinship) & ~np.isin(codes, [*named, *mine])
        weights = np.sqrt((cosines[kept] - strategy.kinship) / (1 - strategy.kinship))
        alike.append(
            (np.append(codes[kept], mine), np.append(weights, np.ones(len(mine))).astype(np.float32))
        )
    return alike


def _spoken(lane: Columns, names: set[str]) -> Floats:
    """1 for what the one speaker said, or is about, whom the question names; 0 where it names several."""
    meant = [lane.voices[name] for name in names if name in lane.voices]
    speakers = {code for codes in meant for code in codes}
    if len(speakers) != 1:
        return np.zeros(len(lane), np.float32)
    meant_rows: Floats = (lane.speakers.of == speakers.pop()).astype(np.float32)
    return meant_rows


def _sessions(lanes: Sequence[Columns], admitted: Sequence[Ints]) -> Ints:
    """The conversations' numbers of all admitted rows, those of one lane after the other's."""
    offsets = np.cumsum([0, *(len(lane.places.starts) for lane in lanes)], dtype=np.int32)
    numbered = [lane.places.of_rows + offset for lane, offset in zip(lanes, offsets[:-1], strict=True)]
    return _joined(numbered, admitted)


def _joined(columns: Sequence[npt.NDArray[Number]], admitted: Sequence[Ints]) -> npt.NDArray[Number]:
    """The admitted rows of all lanes one after the other; the column itself where that is all of one."""
    kept = [
        column if len(rows) == len(column) else column[rows]
        for column, rows in zip(columns, admitted, strict=True)
    ]
    return kept[0] if len(kept) == 1 else np.concatenate(kept)


def _of_sessions(scores: Floats, sessions: Ints, depth: int) -> Floats:
    """The mean of each conversation's best `depth` scores, from 0 for the worst to 1 for the best."""
    if not len(scores):
        return scores
    left, total = scores.astype(np.float32, copy=True), np.zeros(int(sessions.max()) + 1, np.float32)
    taken = np.zeros_like(total)
    for _ in range(depth):
        best = np.full(len(total), -np.inf, np.float32)
        np.maximum.at(best, sessions, left)
        some = np.isfinite(best)
        total[some] += best[some]
        taken[some] += 1
        left[left == best[sessions]] = -np.inf
    means = (total / np.maximum(taken, np.float32(1))).astype(np.float32, copy=False)
    return _spread(means[sessions])


def _spread(values: Floats, floor: float | None = None) -> Floats:
    """The values mapped to [0, 1]: least (or the given floor) to greatest; all 0 where all are equal."""
    if not len(values):
        return values
    low = float(values.min()) if floor is None else floor
    width = float(values.max()) - low
    return (values - np.float32(low)) / np.float32(width) if width > LEAST_WIDTH else np.zeros_like(values)
