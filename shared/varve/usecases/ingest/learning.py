"""Learn from messages: extract facts, triples and profile entries and send them to the writer."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from varve.domain.calendar import Grain
from varve.domain.conversation import SPOKEN, Message, owner_of_each
from varve.domain.echo import without_injected
from varve.domain.extraction import (
    Extraction,
    Fact,
    Utterance,
    restate_changes,
)
from varve.domain.idle_deletions import (
    idle_deletions,
    list_stating,
    name_favourites,
)
from varve.domain.metadata import encode_metadata, share_metadata
from varve.domain.profile import ProfileEntry, build_entries
from varve.domain.record import MemoryType, Record, fact_id
from varve.domain.transcript import introduction, speakers
from varve.domain.triple import Op, TripleOperation, evidence_of
from varve.messages.ingest import IngestMessage
from varve.messages.write import (
    WriteProfile,
    WriteRecords,
    WriteTriples,
    send_in_bounds,
    send_profile,
    send_triples,
)
from varve.usecases.corrections.earlier_corrected import read_earlier_corrected
from varve.usecases.embedders import embed_records
from varve.usecases.ingest.batching import (
    CONTEXT_UTTERANCES,
    extract_in_batches,
)
from varve.usecases.ingest.taken_in import Said
from varve.usecases.session import Session
from varve.usecases.timeline import working_day

Spoken = tuple[Said, Utterance]
"""A message that a person or an agent spoke, and its words without recalled memory."""

Owners = Mapping[str, str | None]
"""The user whose memory each message belongs to, by the message's id."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was made of messages: facts, triple operations and profile entries.

    `read` counts the operations before changes were restated.
    """

    facts: Sequence[Record]
    operations: Sequence[TripleOperation]
    entries: Sequence[ProfileEntry]
    read: int


def learn(
    session: Session,
    message: IngestMessage,
    spoken: Sequence[Spoken],
    about: Container[str] | None = None,
) -> tuple[int, int]:
    """Send the facts and triple operations of messages to the writer; return both counts.

    `about` are the messages that facts may rest on (None: all of them).
    Raises Retryable, Rejected, Misconfigured.
    """
    learnt = understand(session, message, spoken, about)
    send_learnt(session, learnt, message)
    return len(learnt.facts), learnt.read


def understand(
    session: Session,
    message: IngestMessage,
    spoken: Sequence[Spoken],
    about: Container[str] | None = None,
) -> Learnt:
    """Return what the session's extractor makes of messages; nothing is sent.

    Parameters and errors as `learn`.
    """
    if not spoken:
        return Learnt((), (), (), 0)
    new = [said for said, _ in spoken]
    utterances = [utterance for _, utterance in spoken]
    ids = {one.id for one in new}
    if about is not None:
        ids = {id_ for id_ in ids if id_ in about}
    context = _context(message, new[0])
    extraction = extract_in_batches(
        message, utterances, context, session.zone, session.extractor
    )
    earlier = read_earlier_corrected(session, message, utterances, context)
    extraction = replace(
        extraction,
        facts=(*extraction.facts, *earlier.facts),
        operations=(*extraction.operations, *earlier.operations),
    )
    facts = [
        _fact_record(fact, new, message, session)
        for fact in extraction.facts
        if ids & set(fact.message_ids)
    ]
    known = _find_known(session, extraction, utterances)
    operations = [*restate_changes(extraction.operations, utterances), *known]
    entries = build_entries(operations, utterances)
    return Learnt(facts, operations, entries, len(extraction.operations))


def _find_known(
    session: Session, extraction: Extraction, utterances: Sequence[Utterance]
) -> list[TripleOperation]:
    """Return what ends a value of the graph or returns to one, among what needs one.

    What earlier messages state is written first. Raises Retryable.
    """
    if not extraction.if_known:
        return []
    session.queues.flush()
    known = evidence_of(session.graph.triples(session.scope))
    stated = [*known.values(), *extraction.operations]
    named = [*name_favourites(extraction.if_known, stated)]
    changes = restate_changes(named, utterances)
    ends = [one for one in changes if one.op is Op.DELETE]
    idle = idle_deletions(ends, stated)
    return [
        one
        for one in changes
        if one.id not in idle
        and (one.op is Op.DELETE or any(list_stating(one, stated)))
    ]


def send_learnt(
    session: Session, learnt: Learnt, message: IngestMessage
) -> None:
    """Send facts, operations and entries to the writer. Raises Retryable."""
    send_facts_and_turns(session, learnt.facts, message)
    if learnt.operations:
        operations = tuple(learnt.operations)
        triples = WriteTriples(
            session.scope, operations, message.correlation_id
        )
        send_triples(
            triples, queue=session.queues.write, objects=session.objects
        )
    _send_profiles(session, learnt.entries, message)


def send_facts_and_turns(
    session: Session, records: Sequence[Record], message: IngestMessage
) -> None:
    """Embed records of the working grain and send them to the writer."""
    embedder = session.embedder
    whole = WriteRecords(
        session.scope,
        Grain.WORKING,
        embedder.model,
        embed_records(records, embedder),
        correlation_id=message.correlation_id,
    )
    send_in_bounds(whole, queue=session.queues.write, objects=session.objects)


def spoken_in(new: Sequence[Said], message: IngestMessage) -> list[Spoken]:
    """Return the messages that a person or an agent spoke, with their utterances."""
    names = _names(message)
    owners = owners_of(message)
    found: list[Spoken] = []
    for said in new:
        utterance = _utterance(said.message, said.at, owners, names)
        if utterance is not None:
            found.append((said, utterance))
    return found


def _context(message: IngestMessage, first: Said) -> list[Utterance]:
    """Return the last utterances before the first new message."""
    start = message.conversation.started_at or message.received_at
    known: list[Message] = list(message.context)
    for earlier in message.conversation.messages:
        if earlier.id == first.id:
            break
        known.append(earlier)
    names = _names(message)
    owners = owners_of(message)
    spoken: list[Utterance] = []
    for one in known:
        utterance = _utterance(one, one.timestamp or start, owners, names)
        if utterance:
            spoken.append(utterance)
    return spoken[-CONTEXT_UTTERANCES:]


def _names(message: IngestMessage) -> frozenset[str]:
    """Return the speakers that the texts of messages without a name introduce."""
    every = (*message.context, *message.conversation.messages)
    nameless = [one for one in every if one.name is None]
    return speakers(one.text for one in nameless if one.role in SPOKEN)


def owners_of(message: IngestMessage) -> Owners:
    """Return the user whose memory each message belongs to, by the message's id."""
    user_id = message.conversation.user_id
    known = (*message.context, *message.conversation.messages)
    owners = owner_of_each((one.role, one.user_id, user_id) for one in known)
    return {
        str(one.id): owner for one, owner in zip(known, owners, strict=True)
    }


def _utterance(
    message: Message, at: datetime, owners: Owners, names: frozenset[str]
) -> Utterance | None:
    """Return a message's utterance, without recalled memory.

    None: the message is a tool's, a system text or empty.
    """
    text = without_injected(message.text) if message.role in SPOKEN else ""
    if not text:
        return None
    user_id = owners[str(message.id)]
    name, words = introduction(text)
    if message.name is None and name in names:
        return Utterance(
            str(message.id), message.role, name, words, at, user_id
        )
    own_name = user_id if message.role == "user" else None
    speaker = message.name or own_name or message.role.capitalize()
    return Utterance(str(message.id), message.role, speaker, text, at, user_id)


def _fact_record(
    fact: Fact, new: Sequence[Said], message: IngestMessage, session: Session
) -> Record:
    """Return the fact as a record of the period in which it was said."""
    sources = [said for said in new if said.id in fact.message_ids]
    last = max(sources, key=lambda said: said.at)
    conversation_id = message.conversation.conversation_id
    metadata = [said.message.metadata or {} for said in sources]
    return Record(
        id=fact_id(conversation_id, fact.message_ids, fact.content),
        memory_type=MemoryType.FACT,
        content=fact.content,
        period=working_day(last.at, session.zone),
        event_time=fact.event_time,
        created_at=message.received_at,
        source_ids=fact.message_ids,
        conversation_id=conversation_id,
        user_id=owners_of(message)[last.id],
        about=fact.about,
        importance=fact.importance,
        confidence=fact.confidence,
        position=last.position,
        key_facts=encode_metadata(share_metadata(metadata)),
    )


def _send_profiles(
    session: Session,
    entries: Sequence[ProfileEntry],
    message: IngestMessage,
) -> None:
    """Send users' statements about themselves, one queue message for each user."""
    for user_id in sorted({entry.user_id for entry in entries}):
        own = tuple(entry for entry in entries if entry.user_id == user_id)
        profile = WriteProfile(
            session.scope, user_id, own, message.correlation_id
        )
        send_profile(
            profile, queue=session.queues.write, objects=session.objects
        )
