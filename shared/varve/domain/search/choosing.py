"""Selection of the rows to show: one place a statement, then lower rows that add little."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from varve.domain.record import MemoryType, StoreName
from varve.domain.search.columns import Columns
from varve.domain.search.diversity import mmr
from varve.domain.search.lexical import Bools, Floats
from varve.domain.search.row import MessageKey, RecordRow
from varve.domain.search.strategies import Strategy
from varve.domain.statements.pairs.drawn import leaves_out
from varve.domain.statements.pairs.sameness import SAME_COSINE, tell_difference

SAME_SCORE = 1e-6
"""Scores that differ by less are equal; the rest depends on the order of summation."""
REPLACED_COSINE = 0.8
"""The least cosine at which a newer fact replaces an older one about its subject."""


class Contender(NamedTuple):
    """A row of a lane's columns, by its `number` there, with its score.

    `at` is the row's place among all rows of all lanes. `agent` is the other agent whose
    row it is; None: the searching agent's own. Contenders sort in ranking order: by
    score, then newest first, then by id. A sort key would double the time.
    """

    minus_score: float
    minus_time: int
    id: str
    at: int
    number: int
    row: RecordRow
    columns: Columns
    grain: StoreName
    agent: str | None = None


def choose_diverse(
    best: Sequence[Contender], vectors: Floats, strategy: Strategy, limit: int
) -> tuple[list[int], list[float]]:
    """Return the indices of the `limit` contenders to show, and their scores.

    First lower the score of facts that a newer fact replaces, and of rows that add no
    message to better rows. Then choose by maximal marginal relevance. The returned
    scores never rise.
    """
    scores = np.array([-item.minus_score for item in best])
    if strategy.superseded:
        scores -= strategy.superseded * _find_replaced(best, vectors)
    scores -= strategy.repeated * _find_covered(best)
    scores = np.maximum(0, scores)
    chosen = mmr(scores, vectors, limit, balance=1 - strategy.diversity)
    falling = np.minimum.accumulate(scores[chosen])
    return chosen, falling.tolist()


def _find_replaced(best: Sequence[Contender], vectors: Floats) -> Bools:
    """Mark facts for which the same agent has a newer, similar fact of the same subject."""
    rows = [item.row for item in best]
    facts = [
        at for at, row in enumerate(rows) if _is_fact_about_something(row)
    ]
    fact_vectors = vectors[facts]
    similar = fact_vectors @ fact_vectors.T >= REPLACED_COSINE
    replaced = np.zeros(len(best), np.bool_)
    for number, at in enumerate(facts):
        for other in np.flatnonzero(similar[number]).tolist():
            candidate = best[facts[other]]
            if candidate.agent != best[at].agent:
                continue
            if _is_newer_of_same_subject(candidate.row, rows[at]):
                replaced[at] = True
                break
    return replaced


def _is_fact_about_something(row: RecordRow) -> bool:
    return row.type is MemoryType.FACT and bool(row.about)


def _is_newer_of_same_subject(row: RecordRow, other: RecordRow) -> bool:
    is_newer = row.time > other.time
    return is_newer and row.about == other.about


def _find_covered(best: Sequence[Contender]) -> Bools:
    """Mark rows all of whose messages appear in better rows of the same agent."""
    shown_by_agent: dict[str | None, set[MessageKey]] = {}
    covered = []
    for item in best:
        shown = shown_by_agent.setdefault(item.agent, set())
        messages = item.row.messages
        covered.append(bool(messages) and messages <= shown)
        shown |= messages
    return np.array(covered, np.bool_)


@dataclass(slots=True, eq=False)
class Place:
    """One place of an answer: the row to show, and the rows that say the same."""

    leader: Contender
    folded: list[Contender] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of the row to show."""
        return self.leader.id

    @property
    def shown(self) -> Contender:
        """The row to show: of a turn and its only fact the fact, if it matches as well.

        A fact is the shorter and the clearer of the two. With several facts, or one that
        leaves words out, it is the turn. The score stays that of the best row.
        """
        if not self.folded:
            return self.leader
        rows = [self.leader, *self.folded]
        turns = (one for one in rows if one.row.type is MemoryType.TURN)
        turn = next(turns, None)
        if turn is None or not self._has_message_of(turn):
            return self.leader
        facts = [one for one in rows if _is_fact_of(one.row, turn.row)]
        if len(facts) == 1 and _stands_for(facts[0], turn, self.leader):
            return facts[0]._replace(minus_score=self.leader.minus_score)
        return turn._replace(minus_score=self.leader.minus_score)

    def _has_message_of(self, turn: Contender) -> bool:
        return self.leader.row.messages == turn.row.messages

    @property
    def says_more(self) -> bool:
        """Whether a turn of the place says more than the fact that leads it and its others.

        The fact's meaning is then not that of the place.
        """
        if self.leader.row.type is not MemoryType.FACT:
            return False
        rows = [self.leader.row, *(one.row for one in self.folded)]
        own = [row for row in rows if row.messages == self.leader.row.messages]
        facts = [row for row in own if row.type is MemoryType.FACT]
        turns = (row for row in own if row.type is MemoryType.TURN)
        return any(_leave_out(facts, turn) for turn in turns)

    @property
    def also_in(self) -> tuple[str, ...]:
        """The ids of the rows that say the same as the one shown."""
        if not self.folded:
            return ()
        shown = self.shown.id
        ids = [self.leader.id, *(one.id for one in self.folded)]
        return tuple(id_ for id_ in ids if id_ != shown)

    @property
    def said_in(self) -> tuple[str, ...]:
        """The messages of the folded facts and turns that the row shown does not name."""
        known = set(self.shown.row.sources)
        rows = [self.leader.row, *(one.row for one in self.folded)]
        told = [row for row in rows if row.type is not MemoryType.SUMMARY]
        more = (source for row in told for source in row.sources)
        return tuple(dict.fromkeys(one for one in more if one not in known))


def _stands_for(fact: Contender, turn: Contender, best: Contender) -> bool:
    if fact.minus_score > best.minus_score + SAME_SCORE:
        return False
    return not leaves_out(fact.row.content, turn.row.content)


def _leave_out(facts: Iterable[RecordRow], turn: RecordRow) -> bool:
    """Return whether facts, taken together, leave out what a turn says."""
    return leaves_out(" ".join(one.content for one in facts), turn.content)


def _is_fact_of(row: RecordRow, turn: RecordRow) -> bool:
    return row.type is MemoryType.FACT and row.messages == turn.messages


def fold_repeats(best: Sequence[Contender]) -> list[Place]:
    """Give each statement one place, in the order of its best row.

    These are one statement by their sources:
    - a brief turn and the facts made from it. Without the turn, several facts of one
      message are not: they say different things. Nor are a fact and a long turn.
    - two facts in the same words.
    - a summary and the only summary it was made from, such as a week and its one day.

    Two agents' ids may be equal by chance, so each agent's sources are apart. All others
    are one statement if they mean the same (`domain/statements`), apart from the passages
    of one long text: each is a part of what was said.
    """
    agents = dict.fromkeys(item.agent for item in best)
    by_source_of = {
        agent: _Shown(_list_brief(best, agent)) for agent in agents
    }
    places: list[Place] = []
    for item in best:
        by_source = by_source_of[item.agent]
        place = by_source.find(item.row)
        if place is None:
            place = Place(item)
            places.append(place)
        else:
            place.folded.append(item)
        by_source.add(item.row, place)
    return _fold_by_meaning(places)


def _list_brief(
    best: Iterable[Contender], agent: str | None
) -> Iterator[frozenset[MessageKey]]:
    """Yield the messages of an agent's brief turns."""
    for item in best:
        row = item.row
        if item.agent == agent and row.type is MemoryType.TURN and row.brief:
            yield row.messages


def _fold_by_meaning(places: Sequence[Place]) -> list[Place]:
    """Fold each place into the first one that means the same; two users' never."""
    if len(places) < 2:
        return list(places)
    vectors = get_vectors([place.leader for place in places])
    near = vectors @ vectors.T >= SAME_COSINE
    kept: list[Place] = []
    kept_at: list[int] = []
    for at, place in enumerate(places):
        candidates = [number for number in kept_at if near[at, number]]
        others = [places[number] for number in candidates]
        same = None if place.says_more else _find_same(place, others)
        if same is None:
            kept.append(place)
            kept_at.append(at)
        else:
            same.folded += [place.leader, *place.folded]
    return kept


def _find_same(place: Place, others: Iterable[Place]) -> Place | None:
    """Return the first of the similar places that says the same."""
    row = place.leader.row
    for other in others:
        leader = other.leader.row
        if leader.user != row.user or _are_passages(leader, row):
            continue
        same_day = leader.day == row.day
        difference = tell_difference(
            leader.content, row.content, same_day=same_day
        )
        if difference is None:
            return other
    return None


def _are_passages(one: RecordRow, other: RecordRow) -> bool:
    """Return whether two turns hold parts of one message, however alike they are."""
    are_turns = one.type is other.type is MemoryType.TURN
    return are_turns and one.messages == other.messages


class _Shown:
    """The places of the messages, wordings and summaries seen so far.

    `brief` has the messages of the brief turns among all rows.
    """

    def __init__(self, brief: Iterable[frozenset[MessageKey]] = ()) -> None:
        self._brief = frozenset(brief)
        self._whole: dict[frozenset[MessageKey], Place] = {}
        self._turns: dict[MessageKey, Place] = {}
        self._facts: dict[MessageKey, Place] = {}
        self._repeated: dict[MessageKey, list[RecordRow]] = {}
        self._wordings: dict[MessageKey, Place] = {}
        self._ids: dict[str, Place] = {}
        self._only_sources: dict[str, Place] = {}

    def find(self, row: RecordRow) -> Place | None:
        """Return the place of a better row that the row repeats; None: it is new."""
        if row.type is MemoryType.TURN:
            return self._find_fact_of(row)
        if row.type is MemoryType.FACT:
            return self._find_turn_of(row) or self._wordings.get(row.wording)
        return self._find_summary(row)

    def _find_fact_of(self, turn: RecordRow) -> Place | None:
        if not turn.brief:
            return None
        if turn.messages in self._whole:
            return self._whole[turn.messages]
        for message in turn.messages:
            if message in self._facts:
                return self._facts[message]
            facts = self._repeated.get(message, ())
            if facts and not _leave_out(facts, turn):
                return self._wordings[facts[0].wording]
        return None

    def _find_turn_of(self, fact: RecordRow) -> Place | None:
        """Return the place of the turns that have all of a fact's messages."""
        if fact.messages in self._whole:
            return self._whole[fact.messages]
        places = []
        for message in fact.messages:
            places.append(self._turns.get(message))
        return places[0] if all(places) else None

    def _find_summary(self, row: RecordRow) -> Place | None:
        if row.id in self._only_sources:
            return self._only_sources[row.id]
        if len(row.sources) == 1:
            return self._ids.get(row.sources[0])
        return None

    def add(self, row: RecordRow, place: Place) -> None:
        """Note the row's place for the rows behind it.

        A fact in the words of another message's fact brings its own message's turn to that
        place only if it says all of it: "my sister Jule" may be named beside anything.
        """
        self._ids.setdefault(row.id, place)
        if self._repeats_words(row, place):
            for message in row.messages:
                self._repeated.setdefault(message, []).append(row)
        else:
            self._note(row, place)

    def _note(self, row: RecordRow, place: Place) -> None:
        """Note a row that brings what is of the same source to its place."""
        if row.messages in self._brief and not _is_passage(row):
            self._whole.setdefault(row.messages, place)
        if row.type is MemoryType.TURN and row.brief:
            for message in row.messages:
                self._turns.setdefault(message, place)
        elif row.type is MemoryType.FACT:
            self._wordings.setdefault(row.wording, place)
            for message in row.messages:
                self._facts.setdefault(message, place)
        elif len(row.sources) == 1:
            self._only_sources.setdefault(row.sources[0], place)

    def _repeats_words(self, row: RecordRow, place: Place) -> bool:
        """Return whether a fact has its place only by the words of another message's."""
        if row.type is not MemoryType.FACT:
            return False
        if self._wordings.get(row.wording) is not place:
            return False
        return self._find_turn_of(row) is None


def _is_passage(row: RecordRow) -> bool:
    return row.type is MemoryType.TURN and not row.brief


def get_vectors(best: Sequence[Contender]) -> Floats:
    """Return the contenders' vectors, one in each row."""
    first = best[0].columns
    if all(item.columns is first for item in best):
        numbers = [item.number for item in best]
        return first.vectors[numbers]
    vectors = []
    for item in best:
        lane_vectors = item.columns.vectors
        vectors.append(lane_vectors[item.number])
    return np.array(vectors)
