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
from math import sqrt

import numpy as np

from varve.domain.record import Vector
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Floats, Term, WordVectors, idf
from varve.domain.search.nearness import fresh, near
from varve.domain.search.occurrences import Kinship, summed
from varve.domain.search.outline import EVERYTHING
from varve.domain.search.query import Filter
from varve.domain.search.question import Question
from varve.domain.search.scoring import Signals
from varve.domain.search.strategies import Strategy

AT_ONCE = 64
"""Words of a question whose kin is held at once: of a pasted text it would be as much as the store."""
ALWAYS = ("turn", "kin", "cosine", "session", "reply", "recency")
"""The signals that every question calls for; the rest are called for by some, or the same for all."""


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
    return {form for lane in lanes for form in lane.voices.keys() & question.forms}


def signals(
    sought: Sought,
    lanes: Sequence[Columns],
    where: Filter,
    present: datetime,
    strategy: Strategy,
) -> Signals:
    """All signals of all rows of the lanes.

    None is estimated and no row is left out, so that the order is that of the whole sum. What makes it
    quick is that a word's part of it is kept (`domain/search/occurrences.py`), and what stands for every
    question.
    """
    question, names = sought.question, names_in(sought.question, lanes)
    found = Signals(_called_for(question, names), lanes, _hidden(lanes, where))
    telling = _Telling(question.forms, lanes)
    for lane, into, terms in zip(lanes, found.by_lane, telling.terms, strict=True):
        _words(into, sought, lane, terms, names, telling, strategy)
        _towards(into["cosine"], sought.focus, lane)
        into["recency"][:] = fresh(lane, present, strategy.half_life_days)
        if "speaker" in into and (speaker := _speaker(lane, names)) is not None:
            into["speaker"][:] = lane.speakers.of == speaker
        if "when" in into:
            into["when"][:] = lane.telling_time
        if "date" in into:
            into["date"][:] = near(lane.event_times, question, strategy)
    most = float(np.maximum.reduce(found.measured("turn"), initial=0)) or 1.0
    found.scale("turn", 1 / most)
    found.scale("reply", 1 / most)
    found.spread("cosine")
    _sessions(found)
    found.spread("session")
    return found


def _called_for(question: Question, names: Collection[str]) -> list[str]:
    """The signals that the question calls for; of the others all rows have 0."""
    some = {
        "kind": bool(question.kinds),
        "speaker": bool(names),
        "when": question.asks_when,
        "date": question.since is not None or question.until is not None,
    }
    return [*ALWAYS, *(name for name, asked in some.items() if asked)]


def _hidden(lanes: Sequence[Columns], where: Filter) -> Bools | None:
    """The rows that the filter does not let through, where there are any."""
    if where == EVERYTHING:
        return None
    hidden: Bools = ~np.concatenate([lane.admitted(where) for lane in lanes])
    return hidden if hidden.any() else None


class _Telling:
    """How telling each word of the question is, over all lanes; `terms` are the words as each has them."""

    def __init__(self, forms: Sequence[str], lanes: Sequence[Columns]) -> None:
        self.terms = [[lane.lexical.term(form) for form in forms] for lane in lanes]
        size = sum(len(lane) for lane in lanes)
        self.idf = {
            form: idf(sum([term.frequency for term in found]), size)
            for form, *found in zip(forms, *self.terms, strict=True)
        }


def _words(
    into: Mapping[str, Floats],
    sought: Sought,
    lane: Columns,
    terms: Sequence[Term],
    names: Collection[str],
    telling: _Telling,
    strategy: Strategy,
) -> None:
    """What the words of one lane's rows tell."""
    places, met, idf_of = lane.places, lane.met(strategy.reach), telling.idf
    summed(met.words(terms), [idf_of[term.form] for term in terms], into["turn"])
    focus = [term for term in terms if term.form not in names] or terms
    into["kin"][:] = places.to_rows(_kin(sought, lane, focus, names, telling, strategy))
    into["reply"][:] = places.to_rows(
        places.shifted(places.best(into["turn"]) * lane.asking, -1)
    )
    if "kind" in into:
        kinds = met.kinds(sought.question.kinds)
        summed(kinds, [1 / len(kinds)] * len(kinds), into["kind"])


def _towards(into: Floats, focus: Vector, lane: Columns) -> None:
    """The cosine of each row about the centre."""
    centred = focus - lane.centre
    centred /= max(sqrt(centred @ centred), 1e-6)
    np.matmul(lane.vectors, centred, out=into)
    into -= np.float32(lane.centre @ centred)
    into *= lane.steepness


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
    part = np.empty_like(kin)
    total = sum(telling.idf[term.form] for term in terms) or 1.0
    named = tuple(
        sorted({code for name in names for code in lane.lexical.term(name).codes})
    )
    wanted = Kinship(strategy.kinship, named)
    for start in range(0, len(terms), AT_ONCE):
        some = terms[start : start + AT_ONCE]
        found = lane.met(strategy.reach).kin(some, wanted, sought.words)
        summed(found, [telling.idf[term.form] / total for term in some], part)
        kin += part
    return kin


def _speaker(lane: Columns, names: Collection[str]) -> int | None:
    """The one speaker whom the question names; None where it names none or several."""
    speakers = {
        code for name in names if name in lane.voices for code in lane.voices[name]
    }
    return speakers.pop() if len(speakers) == 1 else None


def _sessions(found: Signals) -> None:
    """How good the best passage of each row's conversation is."""
    scores = found.of("turn")
    scores += found.of("cosine")
    if found.hidden is not None:
        scores[found.hidden] = 0
    for lane, span, into in zip(found.lanes, found.spans, found.by_lane, strict=True):
        into["session"][:] = lane.places.best_passages(scores[span])
