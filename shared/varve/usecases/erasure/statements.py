"""What a subject stated outside its messages: profile values, triples, experience.

A statement without a message is found by its subject, whatever its time: the clock of the
process that wrote it may be ahead of this one's.
"""

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from varve.domain.erasure import (
    EXPERIENCE_ROWS,
    MessageKey,
    Selector,
    read_ended,
    report_key,
    row_key,
)
from varve.domain.experience.rows import (
    GENERALIZED,
    PROPOSED,
    WORDED,
    LessonVersion,
    lesson_from,
)
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType, Record
from varve.domain.triple import TripleOperation, evidence_of
from varve.usecases.erasure.conversations import split
from varve.usecases.erasure.sweep import read_profile_entries
from varve.usecases.experience.rows import read_rows
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class Statements:
    """Profile entries, triple operations and rows of experience.

    `lone` are the ids of episodes that no message of others begins. An episode that one
    begins has the same id when it is read again without the subject's messages.
    """

    entries: tuple[ProfileEntry, ...] = ()
    operations: tuple[TripleOperation, ...] = ()
    rows: tuple[Record, ...] = field(default=(), repr=False)
    lone: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.entries or self.operations or self.rows)

    def tombstone_keys(self) -> Iterator[tuple[str, ...]]:
        """Yield the parts from which the tombstones' hashes of them are made."""
        for entry in self.entries:
            yield (entry.id,)
        for operation in self.operations:
            yield (operation.id,)
        yield from row_keys(self.rows)
        for row in self.rows:
            if row.id in self.lone:
                yield row_key(row)

    def texts(self) -> Iterator[str]:
        """Yield their words, each text by itself."""
        for entry in self.entries:
            yield entry.value
        for operation in self.operations:
            yield operation.subject
            yield operation.object
        for row in self.rows:
            yield from texts_of_row(row)

    def labels(self) -> Iterator[str]:
        """Yield the names of their attributes and predicates, as "allergic_to"."""
        for entry in self.entries:
            yield entry.key
        for operation in self.operations:
            yield operation.predicate


@dataclass(frozen=True, slots=True)
class Divided:
    """All statements of an agent: those of a subject, and those of others.

    `cited` are the lessons that people wrote on evidence of the subject: neither.
    """

    own: Statements
    others: Statements
    cited: tuple[Record, ...]


def find_statements(
    session: Session,
    selector: Selector,
    messages: Set[MessageKey] = frozenset(),
    whole: Set[str] = frozenset(),
    others: Set[MessageKey] | None = None,
    records: Set[str] = frozenset(),
) -> Divided:
    """Divide the agent's statements by a selector.

    `messages` are the subject's, `others` those of others, and `whole` the conversations
    that are the subject's alone. `records` are the ids of the subject's facts and turns.
    Raises Damaged, Retryable.
    """
    chosen = _Chosen(selector, messages, whole, records)
    entries = read_profile_entries(session.scope, objects=session.objects)
    evidence = evidence_of(session.graph.triples(session.scope))
    operations = list(evidence.values())
    rows = read_rows(session.scope, reader=session.records)
    textual = [row for row in rows if row.memory_type in EXPERIENCE_ROWS]
    gone, cited = chosen.divide_rows(textual)
    own_entries, other_entries = split(entries, chosen.owns)
    own_operations, other_operations = split(operations, chosen.owns)
    known = gone | {row.id for row in cited}
    own_rows = [row for row in textual if row.id in gone]
    other_rows = [row for row in textual if row.id not in known]
    own = Statements(
        tuple(own_entries),
        tuple(own_operations),
        tuple(own_rows),
        _find_lone(own_rows, others),
    )
    left = Statements(
        tuple(other_entries), tuple(other_operations), tuple(other_rows)
    )
    return Divided(own, left, tuple(cited))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A selector with the messages, conversations and records that it takes."""

    selector: Selector
    messages: Set[MessageKey]
    whole: Set[str]
    records: Set[str]

    def owns(self, one: ProfileEntry | TripleOperation) -> bool:
        conversation = one.conversation_id or ""
        if self._names(one.user_id, conversation):
            return True
        cited = {(conversation, id_) for id_ in one.message_ids}
        if not cited.isdisjoint(self.messages):
            return True
        return not self.records.isdisjoint(read_ended(one))

    def owns_row(self, row: Record) -> bool:
        """Return whether an episode, outcome, answer or finding is of the subject."""
        if row.memory_type is MemoryType.LESSON:
            return False
        conversation = row.conversation_id or ""
        if self._names(row.user_id, conversation):
            return True
        if row.memory_type is MemoryType.OUTCOME:
            return conversation in self.whole
        if row.memory_type is not MemoryType.EPISODE:
            return False
        said = {(conversation, id_) for id_ in row.source_ids}
        return not said.isdisjoint(self.messages)

    def divide_rows(
        self, rows: Sequence[Record]
    ) -> tuple[set[str], list[Record]]:
        """Return the ids of rows that go, and the lessons of people that cite them.

        A lesson that was derived from the subject's episodes goes with them.
        """
        gone = {row.id for row in rows if self.owns_row(row)}
        cited: list[Record] = []
        derived: set[str] = set()
        for row in rows:
            if row.memory_type is not MemoryType.LESSON:
                continue
            version = lesson_from(row)
            if not self.is_cited_by(version, gone):
                continue
            if version.origin in {GENERALIZED, PROPOSED, WORDED}:
                derived.add(row.id)
            else:
                cited.append(row)
        return gone | derived, cited

    def is_cited_by(self, version: LessonVersion, rows: Set[str]) -> bool:
        """Return whether a lesson rests on the subject or on one of its rows."""
        if self.selector.user in version.user_ids:
            return True
        if self.selector.conversation in version.conversation_ids:
            return True
        evidence = (*version.supporting, *version.contradicting)
        return not rows.isdisjoint(evidence)

    def _names(self, user: str | None, conversation: str) -> bool:
        if self.selector.user is not None and user == self.selector.user:
            return True
        return conversation == self.selector.conversation


def _find_lone(
    rows: Iterable[Record], others: Set[MessageKey] | None
) -> frozenset[str]:
    """Return the ids of episodes that none of the others' messages begins."""
    if others is None:
        return frozenset()
    lone: set[str] = set()
    for row in rows:
        if row.memory_type is MemoryType.EPISODE:
            first = (row.conversation_id or "", row.source_ids[0])
            if first not in others:
                lone.add(row.id)
    return frozenset(lone)


def row_keys(rows: Iterable[Record]) -> Iterator[tuple[str, ...]]:
    """Yield the tombstones' parts of rows; episodes are barred by their messages."""
    for row in rows:
        if row.memory_type in EXPERIENCE_ROWS - {MemoryType.EPISODE}:
            yield row_key(row)
        if row.memory_type is MemoryType.OUTCOME:
            yield report_key(row)


def texts_of_row(row: Record) -> Iterator[str]:
    """Yield the texts of a row of experience: its content and its details.

    The content of an outcome begins with the id of its target, which is no text.
    """
    if row.memory_type is not MemoryType.OUTCOME:
        yield row.content
    details = json.loads(row.key_facts) if row.key_facts else {}
    for name in _SAID[row.memory_type]:
        value: Any = details.get(name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


_SAID = {
    MemoryType.EPISODE: ("decisions", "assumptions", "corrections"),
    MemoryType.OUTCOME: ("correction", "decision", "resolution"),
    MemoryType.PRIOR_ANSWER: ("answer",),
    MemoryType.FINDING: ("answer",),
    MemoryType.LESSON: ("condition", "action", "reason"),
}
"""The details of each sort of row that hold words."""
