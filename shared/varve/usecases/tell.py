"""Tell memory one statement, or correct one that it has."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation
from varve.domain.identity import reference
from varve.domain.names import normalized
from varve.domain.profile import DEFAULT_USER, select_current_entries
from varve.domain.record import Record, turn_id
from varve.domain.statements.telling import (
    build_correction,
    build_remembered,
    find_turn_id,
)
from varve.domain.triple import Op, Triple, TripleOperation
from varve.messages.write import WriteProfile, send_profile
from varve.ports.meter import doing
from varve.usecases.ingest import IngestOutcome, ingest
from varve.usecases.records import find_record
from varve.usecases.session import Session
from varve.usecases.triples import send_operations

if TYPE_CHECKING:  # a function that only writes loads nothing that ranks
    from varve.domain.search.row import Message


@doing("ingest")
def remember(
    session: Session,
    text: str,
    *,
    user_id: str | None = None,
    at: datetime | None = None,
) -> IngestOutcome:
    """Accept one statement as a separate message.

    The same statement on the same day is one. Raises Rejected, Retryable.
    """
    user = None if user_id is None else reference(user_id, "userId")
    conversation = build_remembered(text, at or session.now, user_id=user)
    return ingest(session, [conversation.in_scope(session.scope)])


@doing("ingest")
def correct(session: Session, record_id: str, text: str) -> IngestOutcome:
    """Accept what holds instead of a fact or turn; history keeps both.

    The triples and attributes drawn from the corrected words end, unless the correction
    states their value again. Raises Rejected: there is no such fact or turn; Retryable.
    """
    reader = session.records.at(session.scope)
    _, record = find_record(reader, session.scope, record_id)
    correction = _build_correction(session, record, text)
    outcome = ingest(session, [correction])
    _end_triples(session, record, correction)
    _end_attributes(session, record, correction)
    return outcome


def correct_messages(
    session: Session, messages: "Iterable[Message]", text: str
) -> int:
    """Correct what messages say, where memory still has their words; return how many."""
    ids = [turn_id(conversation or "", id_) for conversation, id_ in messages]
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, ids)
    for turn in turns:
        ingest(session, [_build_correction(session, turn, text)])
    return len(turns)


def _build_correction(
    session: Session, record: Record, text: str
) -> Conversation:
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, [find_turn_id(record)])
    speaker = next((turn.about for turn in turns), None)
    conversation = build_correction(record, text, session.now, speaker)
    return conversation.in_scope(session.scope)


def _end_triples(
    session: Session, record: Record, correction: Conversation
) -> None:
    """End the triples that rest on the record's words and that the text does not state.

    The ends cite the correction, so that erasing it opens the triples again.
    """
    text = _read_text(correction)
    ends = []
    for triple in session.graph.triples(session.scope):
        if triple.holds(session.now) and _rests_on(triple, record, text):
            ends.append(_build_end(session, triple, correction))
    if ends:
        send_operations(session, ends)


def _rests_on(triple: Triple, record: Record, text: str) -> bool:
    told = triple.evidence[-1]
    if told.conversation_id != record.conversation_id:
        return False
    if set(told.message_ids).isdisjoint(record.source_ids):
        return False
    return _is_replaced(told.object, record, text)


def _is_replaced(value: str, record: Record, text: str) -> bool:
    """Return whether the record states a value that the correction does not."""
    wanted = normalized(value)
    is_stated = wanted in normalized(record.content)
    return is_stated and wanted not in normalized(text)


def _read_text(correction: Conversation) -> str:
    return correction.messages[0].text


def _list_message_ids(correction: Conversation) -> tuple[str, ...]:
    return tuple(str(message.id) for message in correction.messages)


def _build_end(
    session: Session, triple: Triple, correction: Conversation
) -> TripleOperation:
    told = triple.evidence[-1]
    return replace(
        told,
        op=Op.DELETE,
        predicate=triple.label,
        event_time=session.now,
        created_at=session.now,
        conversation_id=correction.conversation_id,
        message_ids=_list_message_ids(correction),
        confidence=1.0,
        replaces=None,
    )


def _end_attributes(
    session: Session, record: Record, correction: Conversation
) -> None:
    """End the attributes that rest on the record's words, as the triples do."""
    text = _read_text(correction)
    user = record.user_id or DEFAULT_USER
    entries = session.profiles.entries(session.scope, user)
    ends = []
    for entry in select_current_entries(entries, session.now):
        is_same_talk = entry.conversation_id == record.conversation_id
        is_told = not set(entry.message_ids).isdisjoint(record.source_ids)
        if (
            is_same_talk
            and is_told
            and _is_replaced(entry.value, record, text)
        ):
            end = replace(
                entry,
                event_time=session.now,
                created_at=session.now,
                conversation_id=correction.conversation_id,
                message_ids=_list_message_ids(correction),
                ends=True,
                replaces="",
            )
            ends.append(end)
    if ends:
        message = WriteProfile(session.scope, user, tuple(ends))
        send_profile(
            message, queue=session.queues.write, objects=session.objects
        )
