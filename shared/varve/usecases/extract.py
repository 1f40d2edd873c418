"""Read a conversation: keep its messages, extract what to remember, embed it, send it to the writer."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain
from varve.domain.conversation import SPOKEN, Message
from varve.domain.echo import without_injected
from varve.domain.erasure import Tombstones
from varve.domain.extraction import Fact, Utterance, restate_changes
from varve.domain.profile import build_entries
from varve.domain.record import EmbeddedRecord, MemoryType, Record, fact_id, turn_id
from varve.domain.text import passages, salience
from varve.domain.transcript import introduction, speakers
from varve.domain.triple import TripleOperation
from varve.messages.erasure import admitted
from varve.messages.ingest import IngestMessage
from varve.messages.write import (
    WriteProfile,
    WriteRecords,
    WriteTriples,
    records_in_bounds,
    send_profile,
    send_records,
    send_triples,
)
from varve.ports.models import Embedder, Extractor
from varve.ports.objects import Objects
from varve.ports.queues import Queue
from varve.usecases.batching import CONTEXT_UTTERANCES, extracted
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import sweep_again, sweep_payloads
from varve.usecases.experience.episodes import Cutting, keep_episodes
from varve.usecases.timeline import Said, TakenIn, keep, working_day


@dataclass(frozen=True, slots=True)
class ExtractOutcome:
    """What one delivery added; `ignored` messages came before with other words, which stay."""

    messages: int = 0
    turns: int = 0
    facts: int = 0
    operations: int = 0
    ignored: int = 0


def summed(outcomes: Sequence[ExtractOutcome]) -> ExtractOutcome:
    """What several deliveries added."""
    total = ExtractOutcome()
    for one in outcomes:
        total = replace(
            total,
            messages=total.messages + one.messages,
            turns=total.turns + one.turns,
            facts=total.facts + one.facts,
            operations=total.operations + one.operations,
            ignored=total.ignored + one.ignored,
        )
    return total


def extract(
    message: IngestMessage,
    zone: ZoneInfo,
    *,
    extractor: Extractor,
    embedder: Embedder,
    queue: Queue,
    objects: Objects,
    cutting: Cutting = Cutting(),  # noqa: B008 - frozen
    afterwards: Callable[[Callable[[], None]], None] = lambda work: work(),
) -> ExtractOutcome:
    """Turn the new messages of a delivery into records and triple operations on the write queue.

    The conversation's messages count as taken in only after everything is safe on the queue, so that a
    failure anywhere makes the redelivery do all of it again; every id comes from the content. `afterwards`
    is given what must wait for that: on most queues a message is safe when it is sent.
    Raises Retryable, Rejected, Misconfigured.
    """
    scope, conversation_id = (
        message.conversation.scope,
        message.conversation.conversation_id,
    )
    barred = tombstones.load(scope, objects=objects)
    message, whole = _admitted(message, barred)
    if not whole:
        sweep_payloads(scope, barred, objects=objects)
    conversation = message.conversation
    taken_in = TakenIn(scope, conversation_id, objects)
    ignored = sum(1 for m in conversation.messages if taken_in.differs(m))
    new = _new(message, taken_in)
    if not new:
        return ExtractOutcome(ignored=ignored)
    keep(
        new, scope, conversation_id, zone, user_id=conversation.user_id, objects=objects
    )
    spoken = _spoken(new, message)
    turns = list(_turns(spoken, message, zone))
    # The words go first: whatever becomes of the extraction, they are in memory and can be found.
    _send_records(turns, message, embedder, queue, objects)
    facts, operations = learn(
        message,
        new,
        zone,
        extractor=extractor,
        embedder=embedder,
        queue=queue,
        objects=objects,
    )
    keep_episodes(
        message, new, zone, cutting, embedder=embedder, queue=queue, objects=objects
    )

    def done() -> None:
        taken_in.add(new)
        sweep_again(scope, barred, conversation_id, objects=objects)

    afterwards(done)
    return ExtractOutcome(len(new), len(turns), facts, operations, ignored)


def learn(
    message: IngestMessage,
    new: Sequence[Said],
    zone: ZoneInfo,
    *,
    extractor: Extractor,
    embedder: Embedder,
    queue: Queue,
    objects: Objects,
    about: Container[str] | None = None,
) -> tuple[int, int]:
    """Extract facts and triple operations from messages and send them to the writer; how many of each.

    `about` are the messages that facts may stand on (None: all of them). Raises as `extract` does.
    """
    scope, said = (
        message.conversation.scope,
        {s.id for s in new if about is None or s.id in about},
    )
    spoken = [u for _, u in _spoken(new, message)]
    extraction = extracted(message, spoken, _context(message, new[0]), zone, extractor)
    facts = [
        _fact_record(f, new, message, zone)
        for f in extraction.facts
        if said & set(f.message_ids)
    ]
    _send_records(facts, message, embedder, queue, objects)
    if operations := restate_changes(extraction.operations, spoken):
        triples = WriteTriples(scope, tuple(operations), message.correlation_id)
        send_triples(triples, queue=queue, objects=objects)
    _send_profiles(operations, spoken, message, queue, objects)
    return len(facts), len(extraction.operations)


def _admitted(message: IngestMessage, barred: Tombstones) -> tuple[IngestMessage, bool]:
    """The message without what has been forgotten, and whether that is all of it."""
    given = message.conversation
    if not barred:
        return message, True
    context, kept = admitted(given, list(message.context), message.received_at, barred)
    whole = (len(context), len(kept)) == (len(message.context), len(given.messages))
    conversation = given.model_copy(update={"messages": kept})
    return replace(message, conversation=conversation, context=tuple(context)), whole


def _spoken(
    new: Sequence[Said], message: IngestMessage
) -> list[tuple[Said, Utterance]]:
    names = _names(message)
    return [
        (said, u)
        for said in new
        if (u := _utterance(said.message, said.at, message, names))
    ]


def _new(message: IngestMessage, taken_in: TakenIn) -> list[Said]:
    """The messages not taken in yet, each with its time: its own, the conversation's, or arrival."""
    start = message.conversation.started_at or message.received_at
    new = [m for m in message.conversation.messages if m not in taken_in]
    return [
        Said(m, m.timestamp or start, len(taken_in) + index)
        for index, m in enumerate(new)
    ]


def _context(message: IngestMessage, first: Said) -> list[Utterance]:
    """The last utterances before the first new message, from this part and the end of the last."""
    start = message.conversation.started_at or message.received_at
    known: list[Message] = list(message.context)
    for earlier in message.conversation.messages:
        if earlier.id == first.id:
            break
        known.append(earlier)
    names = _names(message)
    spoken = (_utterance(m, m.timestamp or start, message, names) for m in known)
    return [u for u in spoken if u][-CONTEXT_UTTERANCES:]


def _names(message: IngestMessage) -> frozenset[str]:
    """Who speaks by the texts themselves, of the messages that have no name."""
    said = (*message.context, *message.conversation.messages)
    return speakers(m.text for m in said if m.role in SPOKEN and m.name is None)


def _utterance(
    message: Message, at: datetime, source: IngestMessage, names: frozenset[str]
) -> Utterance | None:
    """What was said in person, without recalled memory; None for tools, system texts and silence."""
    text = without_injected(message.text) if message.role in SPOKEN else ""
    if not text:
        return None
    user_id = message.user_id or source.conversation.user_id
    name, words = introduction(text)
    if message.name is None and name in names:
        return Utterance(str(message.id), message.role, name, words, at, user_id)
    speaker = (
        message.name
        or (user_id if message.role == "user" else None)
        or message.role.capitalize()
    )
    return Utterance(str(message.id), message.role, speaker, text, at, user_id)


def _turns(
    spoken: Sequence[tuple[Said, Utterance]], message: IngestMessage, zone: ZoneInfo
) -> Iterator[Record]:
    """The words as said, with the speaker's name; a long message in several passages."""
    conversation_id = message.conversation.conversation_id
    for said, utterance in spoken:
        for index, passage in enumerate(passages(utterance.text)):
            yield Record(
                id=turn_id(conversation_id, said.id, index),
                memory_type=MemoryType.TURN,
                content=f"{utterance.speaker}: {passage}",
                period=working_day(said.at, zone),
                event_time=said.at,
                created_at=message.received_at,
                source_ids=(said.id,),
                conversation_id=conversation_id,
                user_id=utterance.user_id,
                about=utterance.speaker,
                importance=salience(passage),
                position=said.position,
            )


def _fact_record(
    fact: Fact, new: Sequence[Said], message: IngestMessage, zone: ZoneInfo
) -> Record:
    """The fact as a record of the period in which it was said."""
    sources = [said for said in new if said.id in fact.message_ids]
    last = max(sources, key=lambda said: said.at)
    conversation_id = message.conversation.conversation_id
    return Record(
        id=fact_id(conversation_id, fact.message_ids, fact.content),
        memory_type=MemoryType.FACT,
        content=fact.content,
        period=working_day(last.at, zone),
        event_time=fact.event_time,
        created_at=message.received_at,
        source_ids=fact.message_ids,
        conversation_id=conversation_id,
        user_id=last.message.user_id or message.conversation.user_id,
        about=fact.about,
        importance=fact.importance,
        confidence=fact.confidence,
        position=last.position,
    )


def _send_records(
    records: Sequence[Record],
    message: IngestMessage,
    embedder: Embedder,
    queue: Queue,
    objects: Objects,
) -> None:
    vectors = embedder.embed([record.content for record in records])
    embedded = tuple(
        EmbeddedRecord(r, v) for r, v in zip(records, vectors, strict=True)
    )
    scope, correlation_id = message.conversation.scope, message.correlation_id
    whole = WriteRecords(
        scope, Grain.WORKING, embedder.model, embedded, correlation_id=correlation_id
    )
    for piece in records_in_bounds(whole):
        send_records(piece, queue=queue, objects=objects)


def _send_profiles(
    operations: Sequence[TripleOperation],
    spoken: Sequence[Utterance],
    message: IngestMessage,
    queue: Queue,
    objects: Objects,
) -> None:
    """What the users said of themselves, a message for each of them."""
    scope, correlation_id = message.conversation.scope, message.correlation_id
    entries = build_entries(operations, spoken)
    for user_id in sorted({entry.user_id for entry in entries}):
        own = tuple(entry for entry in entries if entry.user_id == user_id)
        send_profile(
            WriteProfile(scope, user_id, own, correlation_id),
            queue=queue,
            objects=objects,
        )
