"""All records of one store at one version, held as columns, and what searching them needs but once."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import words
from varve.domain.record import EmbeddedRecord, MemoryType
from varve.domain.search.indexing import index_texts
from varve.domain.search.lexical import Floats, Lexical, Spots
from varve.domain.search.occurrences import Met
from varve.domain.search.outline import TYPES, Outline, coded, microseconds
from varve.domain.search.places import Places, places_of
from varve.domain.search.row import Row

MAX_ROWS = 100_000
"""The most rows a store may have to be held whole: faster at any size, but a process reads them all at first,
and again after each compaction.

docs/benchmarks.md, "Large stores", has what that takes, and how much memory.
"""

MOST_ROWS_KEPT = 4_096

_MONTHS = (
    "january|february|april|june|july|august|september|october|november|december|enero|febrero|abril|junio"
    "|julio|agosto|septiembre|octubre|noviembre|diciembre"
)
_WEEKDAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
_UNITS = r"days?|weeks?|weekends?|months?|years?|d[ií]as?|semanas?|meses|mes|años?"
TIME_EXPRESSION = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ayer|anoche|hoy|mañana|ago|{_WEEKDAYS}|{_MONTHS}|(?:19|20)\d\d"
    rf"|(?:last|next|this|past|few|couple of) (?:{_UNITS}|night|morning|evening|summer|winter|spring|fall"
    rf"|autumn|mon|tues?|wed|thu(?:rs)?|fri|sat|sun)|hace \w+ (?:{_UNITS})|(?:{_UNITS}) pasad[oa]s?"
    r"|\d{1,2}(?:st|nd|rd|th))\b"
)
"""Words in lower case by which a text tells when something was or will be."""


@dataclass(frozen=True, eq=False)
class Columns(Outline):
    """The records of one agent and grain, all about them; `vectors` n x d, unit.

    Rows stand conversation by conversation, each in order of position and id; those without one are last.
    The columns are all that a result shows. `expect` is told of which rows the ids and sources are asked for
    next: of candidates these are read late. `known` keeps what was worked out for a reach, `faded` for a
    half-life, `worths` for weights, `rows` for single rows.
    """

    ids: Sequence[str]
    contents: Sequence[str]
    sources: Sequence[Sequence[str]]
    vectors: Floats
    expect: Callable[[Spots], object] = field(default=len, repr=False)
    known: dict[int, Met] = field(default_factory=dict, repr=False)
    faded: dict[float, Floats] = field(default_factory=dict, repr=False)
    worths: dict[tuple[float, ...], Floats] = field(default_factory=dict, repr=False)
    rows: dict[int, Row] = field(default_factory=dict, repr=False)

    def some(self, numbers: Spots) -> list[Row]:
        """These rows; they are kept, for what answers one question often answers the next."""
        self.expect(numbers)
        known = self.rows
        return [known.get(number) or self._kept(number) for number in numbers.tolist()]

    def _kept(self, number: int) -> Row:
        if len(self.rows) >= MOST_ROWS_KEPT:
            self.rows.clear()
        row = self.rows[number] = self._row(number)
        return row

    def _row(self, number: int) -> Row:
        return Row(
            self.ids[number],
            self.contents[number],
            TYPES[self.types.item(number)],
            self.sources[number],
            self.conversations.name(number),
            self.speakers.name(number),
            self.users.name(number),
            self.periods.name(number) or "",
            self.event_times.item(number),
            self.importances.item(number),
        )

    @property
    def bytes(self) -> int:
        """About how much memory the columns take, with what is made of them."""
        return int(
            self.vectors.nbytes + 4 * sum(map(len, self.contents)) + 500 * len(self)
        )

    @cached_property
    def lexical(self) -> Lexical:
        """The inverted index of the contents."""
        return index_texts(self.contents)

    @cached_property
    def places(self) -> Places:
        """The rows' places."""
        speakers = np.where(
            self.types == TYPES.index(MemoryType.TURN), self.speakers.of, np.int32(-1)
        )
        return places_of(self.conversations.of, self.positions, speakers)

    @cached_property
    def standing(self) -> Mapping[str, Floats]:
        """The signals that are the same for every question (`domain/search/signals.py`)."""
        return {
            "opening": self.places.opening,
            "address": self.lexical.addressing,
            "substance": self.lexical.substance,
            "importance": self.importances,
        }

    def worth(self, weights: Mapping[str, float]) -> Floats:
        """What these add up to by their weights."""
        own = tuple(weights[name] for name in self.standing)
        if own not in self.worths:
            self.worths[own] = np.array(own, np.float32) @ np.stack(
                list(self.standing.values())
            )
        return self.worths[own]

    @cached_property
    def voices(self) -> Mapping[str, frozenset[int]]:
        """The folded words of the speakers' names, each with the speakers it may mean."""
        spoken = np.unique(self.speakers.of[self.types == TYPES.index(MemoryType.TURN)])
        found: dict[str, set[int]] = {}
        for code in spoken[spoken >= 0]:
            for word in words(self.speakers.names[code]):
                found.setdefault(word, set()).add(int(code))
        return {
            word: frozenset(codes)
            for word, codes in found.items()
            if word not in STOP_WORDS
        }

    @cached_property
    def centre(self) -> Floats:
        """The mean vector. Static embeddings share a direction that says nothing; it is taken away."""
        centre: Floats = (
            self.vectors.mean(axis=0) if len(self) else np.zeros(0, np.float32)
        )
        return centre

    @cached_property
    def steepness(self) -> Floats:
        """One over each vector's distance from the centre."""
        # |v - c|^2 = |v|^2 - 2 v.c + |c|^2, without a second matrix of the vectors' size
        lengths = np.einsum("nd,nd->n", self.vectors, self.vectors)
        squares = lengths - 2 * (self.vectors @ self.centre) + self.centre @ self.centre
        steepness: Floats = (1 / np.sqrt(np.maximum(squares, 1e-6))).astype(np.float32)
        return steepness

    def met(self, reach: int) -> Met:
        """Where words occur, with what is said up to `reach` places around."""
        if reach not in self.known:
            self.known[reach] = Met(self.lexical, self.places, reach)
        return self.known[reach]

    @cached_property
    def asking(self) -> Floats:
        """1 for each place where a question is asked."""
        return self.places.best(self.questions)

    @cached_property
    def questions(self) -> Floats:
        """1 for each row that asks a question."""
        return ask(self.contents)

    @cached_property
    def telling_time(self) -> Floats:
        """1 for each row whose words tell a time."""
        return tell_a_time(self.contents)


def tell_a_time(texts: Sequence[str]) -> Floats:
    """1 for each text whose words tell a time."""
    found = (TIME_EXPRESSION.search(text.lower()) is not None for text in texts)
    return np.fromiter(found, np.float32, len(texts))


def ask(texts: Sequence[str]) -> Floats:
    """1 for each text that asks a question."""
    return np.fromiter(("?" in text for text in texts), np.float32, len(texts))


def columns_of(embedded: Iterable[EmbeddedRecord]) -> Columns:
    """The records as columns."""
    given = sorted(embedded, key=_place)
    records = [one.record for one in given]
    vectors = (
        np.array([one.vector for one in given], np.float32)
        if given
        else np.zeros((0, 1), np.float32)
    )
    return Columns(
        ids=[record.id for record in records],
        contents=[record.content for record in records],
        sources=[record.source_ids for record in records],
        types=np.array(
            [TYPES.index(record.memory_type) for record in records], np.int8
        ),
        periods=coded([record.period for record in records]),
        conversations=coded([record.conversation_id for record in records]),
        users=coded([record.user_id for record in records]),
        speakers=coded([record.about for record in records]),
        positions=np.array([record.position for record in records], np.int32),
        event_times=np.array(
            [microseconds(record.event_time) for record in records], np.int64
        ),
        importances=np.array([record.importance for record in records], np.float32),
        vectors=vectors,
    )


def _place(one: EmbeddedRecord) -> tuple[bool, str, int, str]:
    record = one.record
    return (
        record.conversation_id is None,
        record.conversation_id or "",
        record.position,
        record.id,
    )
