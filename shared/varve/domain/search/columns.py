"""All records of one store at one version as columns, with cached derived values."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from varve.domain.calendar import microseconds
from varve.domain.language.named_words import split_words
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.timemarks import tells_time
from varve.domain.language.tokens import words
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.indexing import index_texts
from varve.domain.search.lexical import Bools, Floats, Lexical, Spots
from varve.domain.search.occurrences import Occurrences
from varve.domain.search.outline import (
    LINK_SEPARATOR,
    NO_CODE,
    TYPES,
    Codes,
    Outline,
    encode_values,
)
from varve.domain.search.places import Places, build_places
from varve.domain.search.query import Filter
from varve.domain.search.row import RecordRow
from varve.domain.search.sharing import Sharing, find_sharing

MAX_ROWS = 100_000
"""The most rows of a store that is held in memory as a whole.

Holding a store is faster at any size, but each process must first read all rows, and
read them again after each compaction. docs/benchmarks.md, "Large stores", has the times
and the memory.
"""

MAX_CACHED_ROWS = 4_096

NumberT = TypeVar("NumberT", bound=np.generic)
DerivedT = TypeVar("DerivedT")


@dataclass(frozen=True, eq=False)
class Columns(Outline):
    """The records of one agent and grain with everything that a result shows.

    Rows are grouped by conversation and sorted by position, then id. Rows without a
    conversation come last. `vectors` is n x d with unit rows. The other fields are caches:
    - `occurrences_by_reach`: where words occur, by reach in places;
    - `recency_by_half_life`: recency of all rows, by half-life in days;
    - `scores_by_weights`: weighted sums of the constant signals, by weights;
    - `row_cache`: single rows, by row number;
    - `derived_by_build`: what other packages derive from the columns (`derive`).
    """

    ids: Sequence[str]
    contents: Sequence[str]
    sources: Sequence[Sequence[str]]
    vectors: Floats
    occurrences_by_reach: dict[int, Occurrences] = field(
        default_factory=dict, repr=False
    )
    recency_by_half_life: dict[float, Floats] = field(
        default_factory=dict, repr=False
    )
    scores_by_weights: dict[tuple[float, ...], Floats] = field(
        default_factory=dict, repr=False
    )
    row_cache: dict[int, RecordRow] = field(default_factory=dict, repr=False)
    derived_by_build: dict[object, object] = field(
        default_factory=dict, repr=False
    )

    def derive(self, build: "Callable[[Columns], DerivedT]") -> DerivedT:
        """Return `build(self)`, built on its first use and kept with the columns."""
        if build not in self.derived_by_build:
            self.derived_by_build[build] = build(self)
        return cast(DerivedT, self.derived_by_build[build])

    def read_rows(self, numbers: Spots) -> list[RecordRow]:
        """Return these rows and cache them: consecutive questions share answers."""
        return [self._read_row(number) for number in numbers.tolist()]

    def _read_row(self, number: int) -> RecordRow:
        row = self.row_cache.get(number)
        if row is None:
            if len(self.row_cache) >= MAX_CACHED_ROWS:
                self.row_cache.clear()
            row = self._build_row(number)
            self.row_cache[number] = row
        return row

    def _build_row(self, number: int) -> RecordRow:
        return RecordRow(
            id=self.ids[number],
            content=self.contents[number],
            type=TYPES[self.types.item(number)],
            sources=self.sources[number],
            conversation=self.conversations.name(number),
            about=self.speakers.name(number),
            user=self.users.name(number),
            period=self.periods.name(number) or "",
            time=self.event_times.item(number),
            importance=self.importances.item(number),
        )

    def admitted(self, where: Filter) -> Bools:
        """Mark the rows that pass the filter, of which words and ids are a part."""
        passing = super().admitted(where)
        if where.ids is not None:
            among = [id_ in where.ids for id_ in self.ids]
            passing &= np.array(among, np.bool_)
        for phrases in where.mentions:
            passing &= self._has_any(phrases)
        return passing

    def _has_any(self, phrases: Iterable[str]) -> Bools:
        """Mark the rows that have all words of any phrase, in some form."""
        found = np.zeros(len(self), np.bool_)
        for phrase in phrases:
            found |= self._has_all_words(phrase)
        return found

    def _has_all_words(self, phrase: str) -> Bools:
        passing = np.ones(len(self), np.bool_)
        lexical = self.lexical
        for word in split_words(phrase):
            has = np.zeros(len(self), np.bool_)
            for code in lexical.term(word).codes:
                rows = slice(lexical.starts[code], lexical.starts[code + 1])
                has[lexical.rows[rows]] = True
            passing &= has
        return passing

    @property
    def bytes(self) -> int:
        """The estimated memory of the columns and their cached values, in bytes."""
        characters = sum(map(len, self.contents))
        texts = 4 * characters
        return int(self.vectors.nbytes + texts + 500 * len(self))

    @cached_property
    def lexical(self) -> Lexical:
        """The inverted index of the contents."""
        return index_texts(self.contents)

    @cached_property
    def row_by_id(self) -> Mapping[str, int]:
        """The row of each record's id."""
        return {id_: row for row, id_ in enumerate(self.ids)}

    @cached_property
    def is_turn(self) -> Bools:
        """Mark the turns."""
        turns: Bools = self.types == TYPES.index(MemoryType.TURN)
        return turns

    @cached_property
    def is_fact(self) -> Bools:
        """Mark the facts."""
        facts: Bools = self.types == TYPES.index(MemoryType.FACT)
        return facts

    @cached_property
    def sharing(self) -> Sharing | None:
        """Which turns and facts come from the same messages; None: no fact does."""
        return find_sharing(
            self.conversations.of, self.positions, self.is_fact
        )

    @cached_property
    def places(self) -> Places:
        """The places of the rows in their conversations."""
        no_speaker = np.int32(-1)
        speakers = np.where(self.is_turn, self.speakers.of, no_speaker)
        return build_places(self.conversations.of, self.positions, speakers)

    @cached_property
    def constant_signals(self) -> Mapping[str, Floats]:
        """The signals that no question changes (`domain/search/signals.py`)."""
        return {
            "opening": self.places.opening,
            "address": self.lexical.addressing,
            "substance": self.lexical.substance,
            "importance": self.importances,
        }

    def score_constant_signals(self, weights: Mapping[str, float]) -> Floats:
        """Return each row's weighted sum of the constant signals."""
        signals = self.constant_signals
        used = tuple(weights[name] for name in signals)
        scores = self.scores_by_weights.get(used)
        if scores is None:
            table = np.stack(list(signals.values()))
            scores = np.array(used, np.float32) @ table
            self.scores_by_weights[used] = scores
        return scores

    @cached_property
    def speakers_by_word(self) -> Mapping[str, frozenset[int]]:
        """The codes of the speakers whose names contain a word, by folded word."""
        speakers_of_turns = self.speakers.of[self.is_turn]
        codes_by_word = defaultdict[str, list[int]](list)
        for code in set(speakers_of_turns.tolist()) - {NO_CODE}:
            name = self.speakers.names[code]
            for word in words(name):
                codes_by_word[word].append(code)
        return {
            word: frozenset(codes)
            for word, codes in codes_by_word.items()
            if word not in STOP_WORDS
        }

    @cached_property
    def centre(self) -> Floats:
        """The mean vector.

        Static embeddings share a direction without meaning; subtract it.
        """
        if not len(self):
            return np.zeros(0, np.float32)
        centre: Floats = self.vectors.mean(axis=0)
        return centre

    @cached_property
    def inverse_distances(self) -> Floats:
        """1 / distance from the centre, for each vector."""
        # |v - c|^2 = |v|^2 - 2 v.c + |c|^2 needs no second matrix of the vectors' size.
        vectors = self.vectors
        centre = self.centre
        lengths = np.einsum("nd,nd->n", vectors, vectors)
        products = vectors @ centre
        squares = lengths - 2 * products + centre @ centre
        distances = np.sqrt(np.maximum(squares, 1e-6))
        inverse: Floats = (1 / distances).astype(np.float32)
        return inverse

    def occurrences(self, reach: int) -> Occurrences:
        """Return where words occur, up to `reach` places around each place."""
        found = self.occurrences_by_reach.get(reach)
        if found is None:
            found = Occurrences(self.lexical, self.places, reach)
            self.occurrences_by_reach[reach] = found
        return found

    @cached_property
    def question_places(self) -> Floats:
        """1 for each place with a row that asks a question, else 0."""
        return self.places.best(self.questions)

    @cached_property
    def questions(self) -> Floats:
        """1 for each row that asks a question, else 0."""
        return mark_questions(self.contents)

    @cached_property
    def telling_time(self) -> Floats:
        """1 for each row whose words tell a time, else 0."""
        return mark_time_expressions(self.contents)


def mark_time_expressions(texts: Sequence[str]) -> Floats:
    """Return 1 for each text whose words tell a time, else 0."""
    return np.fromiter(map(tells_time, texts), np.float32, len(texts))


def mark_questions(texts: Sequence[str]) -> Floats:
    """Return 1 for each text that contains a question mark, else 0."""
    found = ("?" in text for text in texts)
    return np.fromiter(found, np.float32, len(texts))


def columns_of(embedded: Iterable[EmbeddedRecord]) -> Columns:
    """Build columns from records."""
    given = sorted(embedded, key=_get_order)
    records = [one.record for one in given]
    return Columns(
        ids=[record.id for record in records],
        contents=[record.content for record in records],
        sources=[record.source_ids for record in records],
        vectors=_stack_vectors(given),
        types=_build_array(records, _get_type_code, np.int8),
        periods=_encode_field(records, "period"),
        conversations=_encode_field(records, "conversation_id"),
        users=_encode_field(records, "user_id"),
        speakers=_encode_field(records, "about"),
        positions=_build_array(records, attrgetter("position"), np.int32),
        event_times=_build_array(records, _get_event_time, np.int64),
        importances=_build_array(
            records, attrgetter("importance"), np.float32
        ),
        links=encode_values([_join_links(record) for record in records]),
    )


def _join_links(record: Record) -> str | None:
    return LINK_SEPARATOR.join(record.links) or None


def _get_type_code(record: Record) -> int:
    return TYPES.index(record.memory_type)


def _get_event_time(record: Record) -> int:
    return microseconds(record.event_time)


def _build_array(
    records: Sequence[Record],
    get_value: Callable[[Record], float],
    dtype: type[NumberT],
) -> npt.NDArray[NumberT]:
    return np.fromiter(map(get_value, records), dtype, len(records))


def _encode_field(records: Sequence[Record], name: str) -> Codes:
    return encode_values([getattr(record, name) for record in records])


def _stack_vectors(embedded: Sequence[EmbeddedRecord]) -> Floats:
    if not embedded:
        return np.zeros((0, 1), np.float32)
    return np.array([one.vector for one in embedded], np.float32)


def _get_order(one: EmbeddedRecord) -> tuple[bool, str, int, str]:
    record = one.record
    return (
        record.conversation_id is None,
        record.conversation_id or "",
        record.position,
        record.id,
    )
