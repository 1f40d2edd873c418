"""Records as sources of a summary."""

from collections.abc import Iterator
from dataclasses import replace

from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record
from varve.domain.summary import (
    KEY_FACTS_HEADING,
    NO_WORDS,
    RECURRING_HEADING,
    KeyFact,
    Source,
    key_facts_from_json,
)


def source_of(record: Record) -> Source:
    """Return a record as a source; of a summary, its sentences alone."""
    text = record.content
    label = None
    messages = record.messages
    if record.memory_type is MemoryType.SUMMARY:
        text, _, _ = text.partition(KEY_FACTS_HEADING)
        text, _, _ = text.partition(RECURRING_HEADING)
        text = "" if text == NO_WORDS else text
        label = record.period
        messages = frozenset()
    return Source(
        id=record.id,
        memory_type=record.memory_type,
        fingerprint=record.fingerprint[:16],
        text=text,
        at=record.event_time,
        importance=record.importance,
        user_id=record.user_id,
        label=label,
        messages=messages,
    )


def hidden_source_of(record: Record) -> Source:
    """Return a record that is not told any more: as changed, and again only once."""
    source = source_of(record)
    hidden = digest("hidden", source.fingerprint, length=16)
    return replace(source, fingerprint=hidden)


def list_key_facts(record: Record) -> Iterator[KeyFact]:
    """Yield a fact itself, or the key facts that a summary carries."""
    if record.memory_type is MemoryType.FACT:
        yield KeyFact(
            record.id,
            record.content,
            record.event_time,
            record.importance,
            record.user_id,
            record.conversation_id,
            record.source_ids,
        )
    elif record.memory_type is MemoryType.SUMMARY:
        yield from key_facts_from_json(record.key_facts)
