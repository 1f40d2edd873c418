"""The rows of the tables of analytics, read from one agent's stores."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from varve.domain.analytics import Row
from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.costs import CostRow, price_rows
from varve.domain.experience.history import History
from varve.domain.experience.lessons import derive_lessons
from varve.domain.prices import prices_with
from varve.domain.record import MemoryType, Record, Store, span_of
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.triple import Triple
from varve.domain.usage import Item
from varve.ports.records import MemoryReader
from varve.usecases.corrections.known_ends import KnownEnds
from varve.usecases.experience.rows import read_history
from varve.usecases.forget.asked_to_forget import (
    leave_out_forgotten,
    read_forgotten,
)
from varve.usecases.forget.asked_triples import find_triple_request
from varve.usecases.notes import iterate_notes
from varve.usecases.operate.cost_objects import months_in, read_days
from varve.usecases.search.objects import read_rows
from varve.usecases.session import Session


class AgentTables:
    """One agent's memory as rows, each store at the version it has when it is opened."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._scope = session.scope

    def read_turns(self) -> Iterator[Row]:
        """Yield a row for each turn, by day."""
        for record in self._read_working(MemoryType.TURN):
            yield (
                *_list_shared_values(record),
                record.about,
                record.words,
                self._is_current(record),
                record.position,
                record.source_ids,
            )

    def read_facts(self) -> Iterator[Row]:
        """Yield a row for each fact, by day."""
        for record in self._read_working(MemoryType.FACT):
            yield (
                *_list_shared_values(record),
                record.about,
                record.content,
                self._is_current(record),
                record.importance,
                record.confidence,
                record.source_ids,
            )

    def read_summaries(self) -> Iterator[Row]:
        """Yield a row for each summary, from the finest grain up."""
        for grain in SUMMARY_GRAINS:
            for record in self._read_store(grain):
                first_day, last_day = span_of(record.about, record.period)
                yield (
                    record.id,
                    record.user_id,
                    record.period,
                    str(grain),
                    record.event_time,
                    record.created_at,
                    first_day,
                    last_day,
                    record.content,
                    record.people,
                    record.topics,
                    record.open_questions,
                    record.source_ids,
                    record.importance,
                )

    def read_triples(self) -> Iterator[Row]:
        """Yield a row for each triple, past ones too."""
        for triple in self._triples:
            told = triple.evidence[-1]
            yield (
                triple.id,
                triple.source_id,
                triple.label,
                triple.target_id,
                triple.valid_at,
                triple.invalid_at,
                triple.created_at,
                triple.expired_at,
                triple.invalid_at is None
                and find_triple_request(triple, self._forgotten) is None,
                triple.confidence,
                told.conversation_id,
                told.user_id,
                told.message_ids,
            )

    def read_episodes(self) -> Iterator[Row]:
        """Yield a row for each episode, the oldest first."""
        for past in self._history.past_episodes:
            episode = past.episode
            yield (
                episode.id,
                episode.conversation_id,
                episode.user_id,
                episode.began,
                episode.ended,
                episode.created_at,
                episode.situation,
                episode.state,
                episode.subject,
                episode.task_type,
                str(past.outcome),
                len(past.reports),
                past.decision,
                past.correction,
                episode.tags,
                episode.importance,
                episode.message_ids,
            )

    def read_lessons(self) -> Iterator[Row]:
        """Yield a row for each lesson, retired ones too."""
        embed = self.session.embedder.embed
        for lesson in derive_lessons(self._history, embed):
            yield (
                lesson.id,
                lesson.claim,
                lesson.condition,
                lesson.action,
                lesson.state,
                lesson.standing,
                lesson.active,
                lesson.confidence,
                len(lesson.supporting),
                len(lesson.contradicting),
                lesson.version,
                lesson.tags,
                min(version.created_at for version in lesson.versions),
                max(version.at for version in lesson.versions),
            )

    def read_notes(self) -> Iterator[Row]:
        """Yield a row for each kept version of a note, the oldest first."""
        notes = iterate_notes(self._scope, objects=self.session.objects)
        for note in notes:
            for one in note.kept:
                yield (
                    note.id,
                    note.path,
                    note.user_id,
                    one.at,
                    note.created_at,
                    one.content,
                    one.version,
                    one.number,
                    one is note.current,
                )

    def read_costs(self) -> Iterator[Row]:
        """Yield a row for each day and verb."""
        for row in self._price_months():
            yield (
                row.day,
                row.verb,
                row.count(Item.GETS),
                row.count(Item.PUTS),
                row.count(Item.LISTS),
                row.count(Item.DELETES),
                row.count(Item.BYTES_READ),
                row.count(Item.BYTES_WRITTEN),
                row.count(Item.MODEL_CALLS),
                row.count(Item.TOKENS_IN),
                row.count(Item.TOKENS_OUT),
                row.count(Item.EMBEDDING_TOKENS),
                row.dollars,
                row.unpriced,
            )

    def read_searches(self) -> Iterator[Row]:
        """Yield a row for each logged question, by day."""
        for _, rows in read_rows(self._scope, objects=self.session.objects):
            for row in rows:
                yield (
                    row.id,
                    row.user_id,
                    row.at,
                    row.question,
                    row.words,
                    row.results,
                    row.best_score,
                    not row.results,
                    row.fallback,
                )

    def _price_months(self) -> Iterator[CostRow]:
        objects = self.session.objects
        prices = prices_with(self.session.config.costs.prices)
        for key in months_in(objects, f"costs/{self._scope}").values():
            days = read_days(objects, key)
            yield from price_rows(
                self._scope.workspace, self._scope.agent, days, prices
            )

    def _is_current(self, record: Record) -> bool:
        """Return whether a fact or turn holds, and its user did not ask to forget it."""
        told = leave_out_forgotten(record, self._forgotten, self.session.zone)
        return told is not None and self._ends.is_current(record)

    def _read_working(self, memory_type: MemoryType) -> Iterator[Record]:
        for record in self._read_store(Grain.WORKING):
            if record.memory_type is memory_type:
                yield record

    def _read_store(self, grain: Grain) -> Iterator[Record]:
        """Yield a store's records a period at a time, so that memory holds one."""
        for label in sorted(self._reader.periods(self._scope, grain)):
            yield from self._reader.in_period(self._scope, grain, label)

    @cached_property
    def _reader(self) -> MemoryReader:
        return self.session.records.at(self._scope, (*Grain, Store.EXPERIENCE))

    @cached_property
    def _triples(self) -> list[Triple]:
        return self.session.graph.triples(self._scope)

    @cached_property
    def _history(self) -> History:
        return read_history(self._scope, reader=self._reader)

    @cached_property
    def _forgotten(self) -> list[AnyForgotten]:
        return read_forgotten(self._scope, self._reader, self._triples)

    @cached_property
    def _ends(self) -> KnownEnds:
        return KnownEnds(
            self._scope, self._reader, self._triples, self.session.now
        )


def _list_shared_values(record: Record) -> Row:
    """Return the values that the tables of turns and facts begin with."""
    return (
        record.id,
        record.conversation_id,
        record.user_id,
        record.period,
        str(Grain.WORKING),
        record.event_time,
        record.created_at,
    )


ReadTable = Callable[[AgentTables], Iterator[Row]]

READERS: Mapping[str, ReadTable] = {
    "turns": AgentTables.read_turns,
    "facts": AgentTables.read_facts,
    "summaries": AgentTables.read_summaries,
    "triples": AgentTables.read_triples,
    "episodes": AgentTables.read_episodes,
    "lessons": AgentTables.read_lessons,
    "notes": AgentTables.read_notes,
    "costs": AgentTables.read_costs,
    "searches": AgentTables.read_searches,
}
"""What reads the rows of each of `domain.analytics.TABLES` from one agent's stores."""
