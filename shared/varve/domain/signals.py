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

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

import numpy as np

from varve.domain.columns import Columns
from varve.domain.lexical import Floats, Term, WordVectors, idf
from varve.domain.nearness import fresh, near
from varve.domain.occurrences import Kinship
from varve.domain.query import Filter
from varve.domain.question import Question
from varve.domain.record import Vector
from varve.domain.scoring import Rows, Signals
from varve.domain.strategies import Strategy


@dataclass(frozen=True, eq=False)
class Sought:
    """A question with its vectors: of all its words, and of the telling ones without speakers' names.

    `words` gives vectors of single words where the embedder has them.
    """

    question: Question
    whole: Vector
    focus: Vector
    words: WordVectors | None = None


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
    names = names_in(sought.question, lanes)
    telling = _Telling(sought.question.forms, lanes)
    raw = [
        _raw(sought, lane, terms, names, telling, strategy)
        for lane, terms in zip(lanes, telling.terms, strict=True)
    ]
    found = Signals(lanes, admitted)
    for name in dict.fromkeys(name for values in raw for name in values):
        found.put(name, [values.get(name) for values in raw])
    most = max(float(values["turn"].max(initial=0)) for values in raw) or 1.0
    found.scale("turn", 1 / most)
    found.scale("reply", 1 / most)
    found.spread("cosine")
    found.measured["session"] = _of_sessions(found, lanes)
    found.spread("session")
    if sought.question.since is not None or sought.question.until is not None:
        found.put("date", [near(lane.event_times, sought.question, strategy) for lane in lanes])
    found.put("recency", [fresh(lane, present, strategy.half_life_days) for lane in lanes])
    return found


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
        size = sum(len(lane) for lane in lanes)
        self.idf = {
            form: idf(sum([term.frequency for term in found]), size)
            for form, *found in zip(forms, *self.terms, strict=True)
        }


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


def _of_sessions(found: Signals, lanes: Sequence[Columns]) -> Floats:
    """How good the best passage of each row's conversation is."""
    scores = found.of("turn")
    scores += found.of("cosine")
    best = []
    for lane, rows, start, size in zip(lanes, found.admitted, found.starts, found.sizes, strict=True):
        own = scores[start : start + size]
        if rows is None:
            best.append(lane.places.best_passages(own))
        else:
            whole = np.zeros(len(lane), np.float32)
            whole[rows] = own
            best.append(lane.places.best_passages(whole)[rows])
    return best[0] if len(best) == 1 else np.concatenate(best)
