"""The signals of the ranking, for all rows of all lanes.

| signal | high if |
|---|---|
| turn | the record's words match the question's by BM25 |
| kin | the telling words of the question, or similar words, occur around the record |
| kind | the record contains words of the kinds of things that the question asks for |
| cosine | the record's vector is close to that of the question's telling words |
| session | the best passage of its conversation matches well |
| speaker | the only speaker that the question names said it, or is its subject |
| when | the question asks for a time, and the record's words tell one |
| date | it lies in or near the time that the question names |
| reply | the message before asks a question that has the question's words |
| opening | it opens its conversation, where people tell news |
| address | its words address the listener; such records say less about events |
| substance | it is more than an interjection |
| recency, importance | it is new; it was judged important |

Each signal is scaled to [0, 1] over the rows that pass the filter.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

import numpy as np

from varve.domain.record import Vector
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Floats, Term, WordVectors, idf
from varve.domain.search.nearness import (
    measure_date_nearness,
    measure_row_recency,
)
from varve.domain.search.occurrences import Kinship, write_weighted_sum
from varve.domain.search.outline import NO_FILTER
from varve.domain.search.query import Filter
from varve.domain.search.question import Question
from varve.domain.search.scoring import SignalTable
from varve.domain.search.strategies import Strategy

WORDS_PER_BATCH = 64
"""The most words of a question whose similar words are held in memory together.

For a pasted text without batches, they would take as much memory as the store.
"""
COMMON_SIGNALS = ("turn", "kin", "cosine", "session", "reply", "recency")
"""The signals that every question uses and that depend on it."""


@dataclass(frozen=True, eq=False)
class EmbeddedQuestion:
    """A question with its vectors.

    `whole` embeds all its words, `focus` the telling ones without speakers' names.
    `embed_words` embeds single words, if the embedder supports that.
    """

    question: Question
    whole: Vector
    focus: Vector
    embed_words: WordVectors | None = None


def names_in(question: Question, lanes: Sequence[Columns]) -> set[str]:
    """Return the words of the question that occur in speakers' names."""
    names: set[str] = set()
    for lane in lanes:
        names |= lane.speakers_by_word.keys() & question.forms
    return names


def compute_signals(
    embedded: EmbeddedQuestion,
    lanes: Sequence[Columns],
    filters: Sequence[Filter],
    present: datetime,
    strategy: Strategy,
) -> SignalTable:
    """Compute all signals for all rows of the lanes, each with its filter.

    No signal is estimated and no row is skipped, so that the order is that of the whole
    sum. It is fast because of two caches: occurrences of single words
    (`domain/search/occurrences.py`) and signals that do not depend on the question.
    """
    question = embedded.question
    names = names_in(question, lanes)
    used = _list_signals(question, names)
    table = SignalTable(used, lanes, _find_hidden(lanes, filters))
    idfs = _compute_idfs(question.forms, lanes)
    for lane, lines in zip(lanes, table.by_lane, strict=True):
        words = _LaneWords(embedded, lane, names, idfs, strategy)
        words.fill(lines)
        _fill_cosine(lines["cosine"], embedded.focus, lane)
        half_life = strategy.half_life_days
        lines["recency"][:] = measure_row_recency(lane, present, half_life)
        _fill_optional(lines, lane, question, names, strategy)
    _scale(table)
    return table


def _scale(table: SignalTable) -> None:
    """Scale the raw signals to [0, 1], and derive `session` from the scaled ones."""
    turn = table.get_raw("turn")
    greatest = float(np.maximum.reduce(turn, initial=0))
    factor = 1 / (greatest or 1.0)
    table.set_factor("turn", factor)
    table.set_factor("reply", factor)
    table.scale_to_range("cosine")
    _fill_session(table)
    table.scale_to_range("session")


def _list_signals(question: Question, names: Collection[str]) -> list[str]:
    """List the signals that the question uses; all rows have 0 for the others."""
    used = list(COMMON_SIGNALS)
    if question.kinds:
        used.append("kind")
    if names:
        used.append("speaker")
    if question.asks_when:
        used.append("when")
    if question.since is not None or question.until is not None:
        used.append("date")
    return used


def _find_hidden(
    lanes: Sequence[Columns], filters: Sequence[Filter]
) -> Bools | None:
    """Mark the rows that the filters exclude; return None if they exclude none."""
    if all(where == NO_FILTER for where in filters):
        return None
    pairs = zip(lanes, filters, strict=True)
    admitted = [lane.admitted(where) for lane, where in pairs]
    hidden: Bools = ~np.concatenate(admitted)
    return hidden if hidden.any() else None


def _compute_idfs(
    forms: Sequence[str], lanes: Sequence[Columns]
) -> Mapping[str, float]:
    """Return the idf of each word over all lanes."""
    size = sum(len(lane) for lane in lanes)
    idfs = {}
    for form in forms:
        terms = [lane.lexical.term(form) for lane in lanes]
        frequency = sum(term.frequency for term in terms)
        idfs[form] = idf(frequency, size)
    return idfs


class _LaneWords:
    """The question's words in the rows of one lane.

    `names` are the words of the question that occur in speakers' names.
    """

    def __init__(
        self,
        embedded: EmbeddedQuestion,
        lane: Columns,
        names: Collection[str],
        idfs: Mapping[str, float],
        strategy: Strategy,
    ) -> None:
        self._embedded = embedded
        self._lane = lane
        self._names = names
        self._idfs = idfs
        self._strategy = strategy
        self._occurrences = lane.occurrences(strategy.reach)

    def fill(self, lines: Mapping[str, Floats]) -> None:
        """Fill the lines of the signals that depend on the words of the rows."""
        lexical = self._lane.lexical
        forms = self._embedded.question.forms
        terms = [lexical.term(form) for form in forms]
        self._fill_turn(lines["turn"], terms)
        self._fill_kin(lines["kin"], terms)
        self._fill_reply(lines["reply"], lines["turn"])
        if "kind" in lines:
            self._fill_kind(lines["kind"])

    def _fill_turn(self, line: Floats, terms: Sequence[Term]) -> None:
        rows = self._occurrences.words(terms)
        write_weighted_sum(rows, self._get_idfs(terms), line)

    def _fill_reply(self, line: Floats, turn: Floats) -> None:
        """Give each row the BM25 of the place before it, if a question is asked there."""
        places = self._lane.places
        asked = places.best(turn) * self._lane.question_places
        asked_before = places.shifted(asked, -1)
        line[:] = places.to_rows(asked_before)

    def _fill_kind(self, line: Floats) -> None:
        """Give each row the share of the asked kinds of which it contains a word."""
        kinds = self._occurrences.kinds(self._embedded.question.kinds)
        weight = 1 / len(kinds)
        write_weighted_sum(kinds, [weight] * len(kinds), line)

    def _fill_kin(self, line: Floats, terms: Sequence[Term]) -> None:
        """Give each row the share of the question's words that occur around its place.

        A word counts by its idf, times its likeness to the most similar word there.
        """
        without_names = [
            term for term in terms if term.form not in self._names
        ]
        focus = without_names or terms
        idfs = self._get_idfs(focus)
        total = sum(idfs) or 1.0
        weights = [idf / total for idf in idfs]
        kinship = Kinship(self._strategy.kinship, self._get_name_codes())
        places = self._lane.places
        kin = np.zeros(len(places), np.float32)
        batch_sum = np.empty_like(kin)
        for start in range(0, len(focus), WORDS_PER_BATCH):
            batch = slice(start, start + WORDS_PER_BATCH)
            rows = self._occurrences.kin(
                focus[batch], kinship, self._embedded.embed_words
            )
            write_weighted_sum(rows, weights[batch], batch_sum)
            kin += batch_sum
        line[:] = places.to_rows(kin)

    def _get_idfs(self, terms: Sequence[Term]) -> list[float]:
        return [self._idfs[term.form] for term in terms]

    def _get_name_codes(self) -> tuple[int, ...]:
        """Return the codes of the speakers' names; they are similar to no other word."""
        codes: set[int] = set()
        for name in self._names:
            codes.update(self._lane.lexical.term(name).codes)
        return tuple(sorted(codes))


def _fill_cosine(line: Floats, focus: Vector, lane: Columns) -> None:
    """Write the cosine of each row to the question, both relative to the centre."""
    centred = focus - lane.centre
    length = sqrt(centred @ centred)
    centred /= max(length, 1e-6)
    np.matmul(lane.vectors, centred, out=line)
    line -= np.float32(lane.centre @ centred)
    line *= lane.inverse_distances


def _fill_optional(
    lines: Mapping[str, Floats],
    lane: Columns,
    question: Question,
    names: Collection[str],
    strategy: Strategy,
) -> None:
    """Fill the lines of the signals that only some questions use."""
    if "speaker" in lines:
        speaker = _find_speaker(lane, names)
        if speaker is not None:
            lines["speaker"][:] = lane.speakers.of == speaker
    if "when" in lines:
        lines["when"][:] = lane.telling_time
    if "date" in lines:
        times = lane.event_times
        lines["date"][:] = measure_date_nearness(times, question, strategy)


def _find_speaker(lane: Columns, names: Collection[str]) -> int | None:
    """Return the only speaker that the names may mean; None if there are 0 or several."""
    speakers: set[int] = set()
    for name in names:
        speakers |= lane.speakers_by_word.get(name, frozenset())
    return speakers.pop() if len(speakers) == 1 else None


def _fill_session(table: SignalTable) -> None:
    """Give each row the value of the best passage of its conversation.

    A passage is judged by its words alone: facts that repeat them would count twice.
    """
    scores = table.scale("turn")
    scores += table.scale("cosine")
    if table.hidden is not None:
        scores[table.hidden] = 0
    lanes = zip(table.lanes, table.spans, table.by_lane, strict=True)
    for lane, span, lines in lanes:
        lane_scores = scores[span]
        if lane.sharing is not None:
            lane_scores[lane.sharing.repeats] = 0
        passages = lane.places.best_passages(lane_scores)
        lines["session"][:] = passages
