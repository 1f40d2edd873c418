"""The subject of an erasure: its messages, and the records made from them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from varve.domain.erasure import MessageKey, Selector, turn_ids
from varve.domain.errors import Rejected
from varve.domain.notes import Note, note_records
from varve.domain.record import MemoryType, Record
from varve.domain.summary import KeyFact, key_facts_from_json
from varve.usecases.erasure.conversations import split
from varve.usecases.erasure.notes import find_notes, texts_of_notes
from varve.usecases.erasure.statements import (
    Divided,
    find_statements,
    row_keys,
)
from varve.usecases.erasure.sweep import TimelineLine, read_timeline
from varve.usecases.session import Session
from varve.usecases.whole_stores import read_summaries, read_working


@dataclass(frozen=True, slots=True)
class Subject:
    """The data to forget, as it is before the erasure.

    `lines` are its messages that are still on the timeline, and `others` all other
    messages there. `facts_and_turns` are the records to delete. `records` are the parts
    from which the tombstones' hashes of all that goes are made. `statements` are those
    that no message of the timeline tells of, divided. `notes` are the subject's own.
    `texts` are its words and those derived from them; `kept` are the texts of statements
    that stay.
    """

    messages: frozenset[MessageKey]
    lines: tuple[TimelineLine, ...]
    others: tuple[TimelineLine, ...]
    kept: tuple[str, ...]
    facts_and_turns: tuple[Record, ...]
    records: frozenset[tuple[str, ...]]
    statements: Divided
    notes: tuple[Note, ...]
    texts: tuple[str, ...]

    @property
    def taken(self) -> tuple[Record, ...]:
        """The records to delete that hold words as they were said or noted."""
        noted = chain.from_iterable(map(note_records, self.notes))
        return (*self.facts_and_turns, *noted)

    @property
    def whole(self) -> frozenset[str]:
        """The conversations on the timeline that hold no message of anyone else."""
        return _whole(self.lines, self.others)

    def with_lessons(self, rows: Iterable[Record]) -> "Subject":
        """Return the subject with lessons that go because they repeat its words."""
        lessons = tuple(rows)
        records = self.records.union(row_keys(lessons))
        return replace(self, records=records)

    @property
    def is_known(self) -> bool:
        """Whether memory holds anything of it: messages, records or statements."""
        return bool(self or self.texts)

    def __bool__(self) -> bool:
        return bool(self.messages or self.records)


def find_subject(session: Session, selector: Selector) -> Subject:
    """Return everything the selector takes. Raises Rejected: it names a summary.

    A fact or a turn takes the messages it was said in, with everything else they say:
    reading those messages again would bring it back.
    """
    scope = session.scope
    records = list(read_working(scope, session.records))
    summaries = [
        record for _, record in read_summaries(scope, session.records)
    ]
    _require_no_summary(selector, summaries)
    facts: list[KeyFact] = []
    for summary in summaries:
        facts += key_facts_from_json(summary.key_facts)
    said = read_timeline(scope, objects=session.objects)
    timeline = list(chain(*said.values()))
    keys = _find_messages(selector, records, facts, timeline)
    lines, others = split(timeline, lambda line: line.message_key in keys)
    taken, kept = split(
        records, lambda record: _takes_record(selector, record, keys)
    )
    hashed: set[tuple[str, ...]] = {(record.id,) for record in taken}
    hashed.update(_only_in_summaries(selector, facts, summaries))
    hashed.update(_turns_of(lines))
    gone, staying = split(facts, lambda fact: _is_gone(fact, hashed, keys))
    theirs = {line.message_key for line in others}
    ids = frozenset(key[0] for key in hashed if len(key) == 1)
    divided = find_statements(
        session, selector, keys, _whole(lines, others), theirs, ids
    )
    hashed.update(divided.own.tombstone_keys())
    notes = find_notes(scope, selector, objects=session.objects)
    hashed.update(notes.tombstone_keys())
    return Subject(
        messages=frozenset(keys),
        lines=tuple(lines),
        others=tuple(others),
        kept=(
            *_fact_texts(kept),
            *_contents(staying),
            *divided.others.texts(),
            *divided.others.labels(),
            *texts_of_notes(notes.others),
        ),
        facts_and_turns=tuple(taken),
        records=frozenset(hashed),
        statements=divided,
        notes=notes.own,
        texts=(
            *(line.message.text for line in lines),
            *(record.words for record in taken),
            *_contents(gone),
            *divided.own.texts(),
            *texts_of_notes(notes.own),
        ),
    )


def _whole(
    lines: Iterable[TimelineLine], others: Iterable[TimelineLine]
) -> frozenset[str]:
    shared = {line.conversation_id for line in others}
    return frozenset(line.conversation_id for line in lines) - shared


def _require_no_summary(
    selector: Selector, summaries: Iterable[Record]
) -> None:
    if any(record.id in selector.ids for record in summaries):
        raise Rejected(
            "id",
            "is a summary's; name the facts and turns it is made from (varve show)",
        )


def _find_messages(
    selector: Selector,
    records: Iterable[Record],
    facts: Iterable[KeyFact],
    timeline: Iterable[TimelineLine],
) -> set[MessageKey]:
    """Return the messages the selector takes, on the timeline or cited by records."""
    keys: set[MessageKey] = set()
    on_timeline: set[MessageKey] = set()
    for line in timeline:
        on_timeline.add(line.message_key)
        if _takes_line(selector, line):
            keys.add(line.message_key)
    for record in records:
        if record.id in selector.ids or _is_in_conversation(selector, record):
            keys |= _messages_of(record)
        elif _is_turn_of_user(selector, record):
            # A turn decides only for messages that the timeline does not have.
            keys |= _messages_of(record) - on_timeline
    for fact in facts:
        if fact.id in selector.ids:
            keys |= _messages_of_fact(fact)
    return keys


def _takes_line(selector: Selector, line: TimelineLine) -> bool:
    """Return whether the selector takes a message, or names a turn of it, expired or not."""
    is_of_user = selector.user in line.users
    if is_of_user or line.conversation_id == selector.conversation:
        return True
    if not selector.ids:
        return False
    turns = turn_ids(line.conversation_id, line.message)
    return not set(turns).isdisjoint(selector.ids)


def _only_in_summaries(
    selector: Selector, facts: Iterable[KeyFact], summaries: Iterable[Record]
) -> Iterator[tuple[str, ...]]:
    """Yield what may be left in summaries alone.

    These are the key facts the selector takes, and all sources of the user's summaries.
    """
    for fact in facts:
        if _takes(selector, fact.id, fact.user_id, fact.conversation_id):
            yield (fact.id,)
    for summary in summaries:
        if selector.user and summary.user_id == selector.user:
            yield from zip(
                summary.source_ids, summary.source_fingerprints, strict=True
            )


def _turns_of(lines: Iterable[TimelineLine]) -> Iterator[tuple[str]]:
    for line in lines:
        for id_ in turn_ids(line.conversation_id, line.message):
            yield (id_,)


def _fact_texts(records: Iterable[Record]) -> list[str]:
    return [
        one.content for one in records if one.memory_type is MemoryType.FACT
    ]


def _contents(facts: Iterable[KeyFact]) -> list[str]:
    return [fact.content for fact in facts]


def _is_gone(
    fact: KeyFact, hashed: set[tuple[str, ...]], keys: set[MessageKey]
) -> bool:
    """Return whether a key fact goes, by its id or by its messages."""
    return (fact.id,) in hashed or not _messages_of_fact(fact).isdisjoint(keys)


def _takes_record(
    selector: Selector, record: Record, keys: set[MessageKey]
) -> bool:
    """Return whether a record is named, or was extracted from one of the messages."""
    if _takes(selector, record.id, record.user_id, record.conversation_id):
        return True
    return not _messages_of(record).isdisjoint(keys)


def _takes(
    selector: Selector, id_: str, user: str | None, conversation: str | None
) -> bool:
    if id_ in selector.ids:
        return True
    if selector.user is not None and user == selector.user:
        return True
    return (
        selector.conversation is not None
        and conversation == selector.conversation
    )


def _is_in_conversation(selector: Selector, record: Record) -> bool:
    return _takes(selector, "", None, record.conversation_id)


def _is_turn_of_user(selector: Selector, record: Record) -> bool:
    is_turn = record.memory_type is MemoryType.TURN
    return is_turn and bool(selector.user) and record.user_id == selector.user


def _messages_of(record: Record) -> set[MessageKey]:
    return {(record.conversation_id or "", id_) for id_ in record.source_ids}


def _messages_of_fact(fact: KeyFact) -> set[MessageKey]:
    return {(fact.conversation_id or "", id_) for id_ in fact.message_ids}
