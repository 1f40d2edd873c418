"""Give the rows of an answer their standings, those of the facts and turns first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Lane, Ranked
from varve.domain.search.signals import EmbeddedQuestion
from varve.domain.statements.answers.answering import settle, settle_replies
from varve.domain.statements.answers.expired import Ranking
from varve.domain.statements.answers.repeating import (
    Key,
    Repetitions,
    find_row_key,
)
from varve.domain.statements.answers.replies import asks_for_replies
from varve.domain.statements.answers.summary_places import AnswerPlaces
from varve.domain.statements.questions.asking import SCARCE
from varve.domain.statements.standings.confirmed_places import (
    fold_confirmations,
)
from varve.domain.statements.standings.known import (
    KnownStandings,
    mark_known,
    put_successors_first,
    tell_rests,
)
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.persons import Persons


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question with the filter of what it may find.

    `ranking` ranks sentences of summaries as turns. `about_present`: superseded statements
    stand behind. `folds`: a summary gives its place to the statements that it repeats; a
    question for one grain keeps it.
    `by_line`: each sentence is judged, not only those that are found first or bear on the
    question, and doubtful statements are marked.
    `guesses`: what likely answers need share no word or meaning with the question.
    """

    sought: EmbeddedQuestion
    where: Filter
    ranking: Ranking
    about_present: bool
    folds: bool
    by_line: bool
    guesses: bool

    @property
    def visible(self) -> Filter:
        """The filter of the statements that may supersede others."""
        return Filter(until=self.where.until, user_id=self.where.user_id)


@dataclass(frozen=True, slots=True)
class AgentLanes:
    """One agent's lanes, and its facts and turns if they are in memory.

    These need no lane: a question for one grain searches no other. `told` has the values
    that their messages state.
    """

    lanes: Sequence[Lane]
    store: Columns | None
    told: ToldValues

    @property
    def working(self) -> Lane | None:
        """The lane of the facts and turns; None: the question does not search it."""
        found = (one for one in self.lanes if one.grain is Grain.WORKING)
        return next(found, None)

    def tells_few(self, visible: Filter) -> bool:
        """Return whether persons told so little that any of it may answer."""
        if self.store is None:
            return False
        return self.store.derive(Persons).count_told(visible) <= SCARCE

    @property
    def levels(self) -> list[Columns]:
        """The columns of the summaries."""
        return [
            one.columns
            for one in self.lanes
            if isinstance(one.grain, Grain) and one.grain is not Grain.WORKING
        ]

    @property
    def is_foreign(self) -> bool:
        """Whether another agent than the searching one has the lanes."""
        return any(one.agent is not None for one in self.lanes)


def settle_answer(
    ranked: Sequence[Ranked],
    agents: Sequence[AgentLanes],
    asked: AnswerQuestion,
) -> list[Ranked]:
    """Return the rows of an answer with their standings, best first.

    Where nothing shares a word or a meaning with the question, only what likely answers
    it, tells of its topic or is among few statements is left, if the question `guesses`. For
    a question of one's people ("Who is my fiancée?") that is the topic alone.

    A statement is superseded by another one of the same agent only: two agents may speak
    with different people of the same name.
    """
    settled: list[Ranked] = []
    for agent in agents:
        own = [one.columns for one in agent.lanes]
        items = [item for item in ranked if _is_among(item, own)]
        settled += _settle_agent(items, agent, asked)
    known = [item for item in settled if item.is_near]
    others = [item for item in settled if not item.is_near]
    known += _guess(others, agents, asked)
    return sorted(known, key=lambda item: -item.score)


def _guess(
    others: Sequence[Ranked],
    agents: Sequence[AgentLanes],
    asked: AnswerQuestion,
) -> list[Ranked]:
    """Return the rows that may answer, of those that are not near the question.

    Each of few statements may answer an everyday question. Empty: the question guesses none.
    """
    if not (others and asked.guesses):
        return []
    asking = asked.sought.question
    question = read_cues(asking.text)
    is_of_few = bool(question.topics or asking.kinds) and all(
        agent.tells_few(asked.visible) for agent in agents
    )
    return [
        item
        for item in others
        if _is_guessed(item, question, is_of_few=is_of_few)
    ]


def _is_guessed(item: Ranked, question: Cues, *, is_of_few: bool) -> bool:
    """Return whether a row likely answers, tells of the topic, or is one of few of one's own."""
    if question.has("own") and (item.answers or is_of_few):
        return True
    return not question.topics.isdisjoint(read_cues(item.content).topics)


def _is_among(item: Ranked, columns: Sequence[Columns]) -> bool:
    return any(item.columns is one for one in columns)


def _settle_agent(
    items: Sequence[Ranked], agent: AgentLanes, asked: AnswerQuestion
) -> list[Ranked]:
    told = [item for item in items if item.grain is Grain.WORKING]
    levels = agent.levels
    summaries = [
        item
        for item in items
        if item.row.type is MemoryType.SUMMARY and _is_among(item, levels)
    ]
    others = [
        item for item in items if item not in told and item not in summaries
    ]
    settled = _settle_told(told, agent, asked)
    shown = _admit(settled, told, agent, asked)
    if summaries:
        shown = _settle_summaries(summaries, settled, shown, agent, asked)
    return [*shown, *others]


def _settle_told(
    told: Sequence[Ranked], agent: AgentLanes, asked: AnswerQuestion
) -> list[Ranked]:
    store = agent.store
    if not told or store is None:
        return []
    text = asked.sought.question.text
    known = KnownStandings(store, asked.visible, agent.told, text)
    if asks_for_replies(text):
        settled = settle_replies(
            told, store, asked.visible, text, asked.sought.whole, agent.told
        )
        return fold_confirmations(mark_known(settled, known), store)
    settled = settle(
        told,
        store,
        asked.visible,
        text,
        asked.sought.whole,
        about_present=asked.about_present,
        told=agent.told,
        by_line=asked.by_line,
    )
    marked = fold_confirmations(mark_known(settled, known), store)
    if not asked.about_present:
        return marked
    return tell_rests(put_successors_first(marked, known), known)


def _settle_summaries(
    summaries: Sequence[Ranked],
    settled: Sequence[Ranked],
    shown: Sequence[Ranked],
    agent: AgentLanes,
    asked: AnswerQuestion,
) -> list[Ranked]:
    """Return the shown rows with the summaries among them."""
    store = agent.store
    cues = read_cues(asked.sought.question.text)
    repetitions = Repetitions(
        summaries, agent.levels, store, cues, by_line=asked.by_line
    )
    spare = repetitions.build_stand_ins(settled, asked.sought.whole)
    every = list(settled)
    if spare:
        known = {item.number for item in settled}
        both = _settle_told([*settled, *spare], agent, asked)
        every += [item for item in both if item.number not in known]
    repetitions.judge(
        every,
        asked.visible,
        asked.sought,
        agent.told,
        asked.ranking,
        about_present=asked.about_present,
    )
    marked = repetitions.mark(about_present=asked.about_present)

    def find_key(item: Ranked) -> Key:
        assert item.columns is not None  # a ranked row has its columns
        return find_row_key(item.columns, item.number)

    spares = _admit(every, (), agent, asked)
    places = AnswerPlaces(shown, spares, find_key, repetitions.find_key_by_id)
    for summary in marked:
        places.add(summary, folds=asked.folds)
    return places.sort() if asked.about_present else places.list_rows()


def _admit(
    settled: Sequence[Ranked],
    told: Sequence[Ranked],
    agent: AgentLanes,
    asked: AnswerQuestion,
) -> list[Ranked]:
    """Return the rows that the filter passes; `told` passed it.

    A statement that supersedes a result need not pass it.
    """
    lane = agent.working
    if lane is None:
        return []
    if len(settled) == len(told) and not agent.is_foreign:
        return list(settled)
    admitted = lane.columns.admitted(lane.where or asked.where)
    passed = [item for item in settled if admitted[item.number]]
    if agent.is_foreign:
        passed = [_without_hidden_successor(item, admitted) for item in passed]
    return passed


def _without_hidden_successor(item: Ranked, admitted: Bools) -> Ranked:
    """Return the row without the id of a successor that is not granted."""
    standing = item.standing
    if standing is None or standing.successor is None or item.columns is None:
        return item
    if admitted[item.columns.ids.index(standing.successor)]:
        return item
    return replace(item, standing=replace(standing, successor=None))
