"""Summaries of an answer: each stands as the statements that it repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from varve.domain.calendar import Grain
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked
from varve.domain.search.signals import EmbeddedQuestion
from varve.domain.statements.answers.expired import (
    Ranking,
    confirm_summary,
    judge_sentences,
)
from varve.domain.statements.answers.lone_sentence import LoneSentence
from varve.domain.statements.answers.repeats import StoreWords, list_sources
from varve.domain.statements.answers.summary_sentences import (
    SummarySentence,
    read_sentences,
)
from varve.domain.statements.pairs.superseding import relate
from varve.domain.statements.standings.standing import Standing
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.standings.unasked import judge_unasked
from varve.domain.statements.stores.paired import (
    StoreStatements,
    find_admitted,
)
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import Cues, read_cues

MOST_UNASKED = 4
"""A summary of so few sentences bears on a question as a whole if no word shows it."""

Key = tuple[str, object]
"""What is equal for two sentences, or records, that say one statement."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A sentence of a summary, and the row of the store that says it; None: none does."""

    id: str
    sentence: SummarySentence
    bears: bool
    row: int | None


@dataclass(slots=True)
class _Repeating:
    """A summary with its sentences, and their standings once they are known."""

    item: Ranked
    sentences: list[_Repeated]
    standings: dict[str, Standing] = field(default_factory=dict)

    @property
    def bearing(self) -> list[_Repeated]:
        """The sentences that bear on the question."""
        return [one for one in self.sentences if one.bears]

    def follow_successors(self) -> None:
        """Let a sentence bear on the question that supersedes one that does."""
        standings = [self.standings.get(one.id) for one in self.bearing]
        found = {one.successor for one in standings if one is not None}
        self.sentences = [
            replace(one, bears=one.bears or one.id in found)
            for one in self.sentences
        ]

    def holds(self, one: _Repeated) -> bool:
        """Return whether a sentence is not known to be superseded."""
        standing = self.standings.get(one.id)
        return standing is None or standing.current

    @property
    def outdated(self) -> tuple[str, ...]:
        """The folded words of the sentences that are superseded."""
        return tuple(
            one.sentence.wording
            for one in self.sentences
            if not self.holds(one)
        )


class Repetitions:
    """The summaries of one agent's answer, and what they repeat.

    `store` are the agent's facts and turns; None: there are none in memory. `levels` are
    the columns of the summaries. Without `by_line` a sentence that a fact or turn says is
    read only if it bears on the question.
    """

    def __init__(
        self,
        summaries: Sequence[Ranked],
        levels: Sequence[Columns],
        store: Columns | None,
        question: Cues,
        *,
        by_line: bool,
    ) -> None:
        self._by_line = by_line
        self._levels = levels
        self._store = store
        self._question = question
        self._concerned: set[str] = set()
        self._summaries = [self._read(item, question) for item in summaries]

    def _read(self, item: Ranked, question: Cues) -> _Repeating:
        sentences = read_sentences(item.content)
        bearing = {one for one in sentences if one.bears_on(question)}
        if not bearing and len(sentences) <= MOST_UNASKED:
            bearing = set(sentences)
        rows = self._find_rows(item, sentences)
        repeated: list[_Repeated] = []
        for number, (one, row) in enumerate(zip(sentences, rows, strict=True)):
            bears = one in bearing
            if self._by_line or bears or row is None:
                id_ = f"{item.id}#{number}"
                repeated.append(_Repeated(id_, one, bears, row))
        return _Repeating(item, repeated)

    def _find_rows(
        self, item: Ranked, sentences: Sequence[SummarySentence]
    ) -> list[int | None]:
        """Return the row that says each sentence: any in the same words, else a source."""
        if self._store is None:
            return [None] * len(sentences)
        store = self._store.derive(StoreWords)
        rows = [store.find_same(one, item.row.user) for one in sentences]
        if None not in rows:
            return rows
        sources = list_sources(item.row.sources, self._levels, self._store)
        for number, sentence in enumerate(sentences):
            if rows[number] is None:
                rows[number] = store.find_source(sentence, sources)
        return rows

    def build_stand_ins(
        self, told: Sequence[Ranked], question: Floats
    ) -> list[Ranked]:
        """Return the statements that the summaries repeat and that are not `told`.

        They have the least score of the answer.
        """
        known = {item.number for item in told}
        scores = [item.score for item in told]
        built: dict[int, Ranked] = {}
        for summary in self._summaries:
            score = min([summary.item.score, *scores])
            for one in summary.bearing:
                row = one.row
                if row is not None and row not in known and row not in built:
                    built[row] = self._build(
                        row, summary.item, question, score
                    )
        return list(built.values())

    def _build(
        self, row: int, like: Ranked, question: Floats, score: float
    ) -> Ranked:
        assert self._store is not None  # it has the row
        (record,) = self._store.read_rows(np.array([row]))
        return Ranked(
            row=record,
            grain=Grain.WORKING,
            score=score,
            vector=float(self._store.vectors[row] @ question),
            keyword=0.0,
            recency=like.recency,
            columns=self._store,
            number=row,
            is_near=like.is_near,
            agent=like.agent,
        )

    def judge(
        self,
        settled: Sequence[Ranked],
        visible: Filter,
        sought: EmbeddedQuestion,
        told: ToldValues,
        ranking: Ranking,
        *,
        about_present: bool,
    ) -> None:
        """Find the standings of all sentences.

        `settled` are the rows of the store with their standings, stand-ins among them.
        `told` has the values of the agent's triples.
        """
        by_row = {item.number: item.standing for item in settled}
        self._concerned = self._find_concerned(settled)
        lone = self._list_lone()
        turns = self._list_turns(settled)
        judged = judge_sentences(
            lone,
            turns,
            visible,
            sought,
            told,
            ranking,
            about_present=about_present,
        )
        rest = self._judge_rest(by_row, visible)
        for summary in self._summaries:
            for one in summary.sentences:
                standing = judged.get(one.id)
                if one.row is not None:
                    standing = by_row.get(one.row)
                    if standing is None or not one.bears:
                        # No question judges what has nothing to do with it.
                        standing = rest.get(one.row, standing)
                if standing is not None:
                    summary.standings[one.id] = standing
            summary.follow_successors()

    def _find_concerned(self, settled: Sequence[Ranked]) -> set[str]:
        """Return the conversations of the rows that have to do with the question."""
        found: set[str] = set()
        for item in settled:
            conversation = item.row.conversation
            if conversation and relate(
                self._question, read_cues(item.content)
            ):
                found.add(conversation)
        return found

    def _find_apart(self, summary: _Repeating) -> frozenset[str]:
        """Return the folded sentences said in conversations that are not concerned."""
        if self._store is None:
            return frozenset()
        found: set[str] = set()
        for one in summary.sentences:
            if one.row is None:
                continue
            conversation = self._store.conversations.name(one.row)
            if conversation and conversation not in self._concerned:
                found.add(one.sentence.wording)
        return frozenset(found)

    def _list_lone(self) -> list[LoneSentence]:
        """Return the sentences that no fact or turn says."""
        found: list[LoneSentence] = []
        for summary in self._summaries:
            for one in summary.sentences:
                if one.row is None:
                    lone = LoneSentence(
                        one.id,
                        summary.item,
                        one.sentence,
                        self._by_line or one.bears,
                    )
                    found.append(lone)
        return found

    def _list_turns(self, settled: Sequence[Ranked]) -> list[Ranked]:
        """Return the turns by which the settled rows stand, each once."""
        if self._store is None:
            return []
        statements = self._store.derive(StoreStatements)
        turns: dict[int, Ranked] = {}
        for item in settled:
            row = statements.find_statement(item.number)
            if row is not None and row not in turns:
                (record,) = self._store.read_rows(np.array([row]))
                turns[row] = replace(item, row=record, number=row)
        return list(turns.values())

    def _judge_rest(
        self, by_row: Mapping[int, object], visible: Filter
    ) -> dict[int, Standing]:
        """Return the standings of the superseded rows that no question judges."""
        if self._store is None:
            return {}
        rows: set[int] = set()
        for summary in self._summaries:
            for one in summary.sentences:
                is_judged = one.bears and one.row in by_row
                if one.row is not None and not is_judged:
                    rows.add(one.row)
        admitted = find_admitted(self._store, visible)
        standings = Standings(self._store, admitted=admitted)
        return judge_unasked(standings, sorted(rows))

    def mark(self, *, about_present: bool) -> list["MarkedSummary"]:
        """Return the summaries with their standings and statements, in their order.

        A question about the past is answered by all sentences.
        """
        return [
            self._mark(summary, about_present) for summary in self._summaries
        ]

    def _mark(
        self, summary: _Repeating, about_present: bool
    ) -> "MarkedSummary":
        told = summary.bearing
        if about_present:
            told = [one for one in told if summary.holds(one)] or told
        keys = dict.fromkeys(self._find_key(summary, one) for one in told)
        item = replace(
            _give_standing(summary),
            repeats=self._list_repeats(summary),
            apart=self._find_apart(summary),
        )
        if not about_present:
            item = replace(item, outdated=())
        return MarkedSummary(item, tuple(keys))

    def _list_repeats(self, summary: _Repeating) -> dict[str, tuple[str, ...]]:
        """Return for each sentence the records that say it: a fact or turn, and its turn."""
        if self._store is None:
            return {}
        ids = self._store.ids
        statements = self._store.derive(StoreStatements)
        found: dict[str, tuple[str, ...]] = {}
        for one in summary.sentences:
            if one.row is not None:
                turn = statements.find_statement(one.row)
                rows = [one.row] if turn is None else [one.row, turn]
                found[one.sentence.wording] = tuple(ids[row] for row in rows)
        return found

    def find_key_by_id(self, id_: str) -> Key | None:
        """Return the key of a record of the store; None: it has no such record."""
        if self._store is None:
            return None
        row = self._store.row_by_id.get(id_)
        return None if row is None else find_row_key(self._store, row)

    def _find_key(self, summary: _Repeating, one: _Repeated) -> Key:
        if one.row is None or self._store is None:
            return "words", (summary.item.row.user, one.sentence.wording)
        return find_row_key(self._store, one.row)


@dataclass(frozen=True, slots=True)
class MarkedSummary:
    """A summary with its standing, and the statements that it tells of the question.

    `keys` are those that hold; without any, and asked about the past, all of them.
    """

    item: Ranked
    keys: tuple[Key, ...]


def find_row_key(store: Columns, row: int) -> Key:
    """Return the key of a store's row: that of the statement by which it stands."""
    statement = store.derive(StoreStatements).find_statement(row)
    return "row", row if statement is None else statement


def _give_standing(summary: _Repeating) -> Ranked:
    """Return a summary with its standing.

    It is superseded if all its sentences that bear on the question are.
    """
    item = summary.item
    confirmed = confirm_summary(item.row.about, item.row.period)
    standings = [summary.standings.get(one.id) for one in summary.bearing]
    over = [one for one in standings if one is not None and not one.current]
    standing = Standing(current=True, confirmed=confirmed)
    if over and len(over) == len(standings):
        standing = Standing(
            current=False,
            confirmed=confirmed,
            successor=_strip(over[0].successor),
            is_corrected=all(one.is_corrected for one in over),
            odds=min(one.odds for one in over),
        )
    return replace(item, standing=standing, outdated=summary.outdated)


def _strip(id_: str | None) -> str | None:
    """Return the id of the summary of a sentence's id, and any other id as it is."""
    return id_.partition("#")[0] if id_ else id_
