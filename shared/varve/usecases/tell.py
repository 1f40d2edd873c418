"""Tell memory one statement, or correct one that it has."""

from collections.abc import Iterable
from datetime import datetime

from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation
from varve.domain.identity import reference
from varve.domain.record import Record, turn_id
from varve.domain.statements.telling import (
    EndedMessage,
    build_correction,
    build_correction_of,
    build_remembered,
    find_turn_id,
)
from varve.ports.meter import doing
from varve.usecases.ending import Ending, end_values
from varve.usecases.ingest import IngestOutcome, ingest
from varve.usecases.records import find_record
from varve.usecases.session import Session


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
    end_values(session, _build_ending(session, record, correction))
    return outcome


def correct_messages(
    session: Session, messages: Iterable[EndedMessage], text: str
) -> int:
    """Correct what messages say; return how many.

    If the words have expired, the correction still says what holds, for the summaries
    repeat the words.
    """
    told = {turn_id(one.conversation_id, one.id): one for one in messages}
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, list(told))
    for turn in turns:
        ingest(session, [_build_correction(session, turn, text)])
    for id_ in told.keys() - {turn.id for turn in turns}:
        conversation = build_correction_of(
            id_, text, session.now, told[id_].user_id, told[id_].speaker
        )
        ingest(session, [conversation.in_scope(session.scope)])
    return len(told)


def _build_correction(
    session: Session, record: Record, text: str
) -> Conversation:
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, [find_turn_id(record)])
    speaker = next((turn.about for turn in turns), None)
    conversation = build_correction(record, text, session.now, speaker)
    return conversation.in_scope(session.scope)


def _build_ending(
    session: Session, record: Record, correction: Conversation
) -> Ending:
    """Return what ends a record's values; erasing the correction opens them again."""
    return Ending(
        record,
        correction.messages[0].text,
        at=session.now,
        learnt_at=session.now,
        conversation_id=correction.conversation_id,
        message_ids=tuple(str(message.id) for message in correction.messages),
    )
