"""Tell memory one statement, or correct one that it has."""

from collections.abc import Iterator
from datetime import datetime

from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation, Message
from varve.domain.identity import reference
from varve.domain.record import Record
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.statements.texts.persons import is_person
from varve.domain.statements.texts.telling import (
    build_remembered,
    find_turn_id,
    require_correctable,
)
from varve.domain.validation import valid_text
from varve.ports.meter import doing
from varve.usecases.corrections.corrected_messages import (
    build_correction_in,
    list_summed_up,
    read_heard,
)
from varve.usecases.corrections.correcting import choose_corrected
from varve.usecases.corrections.ending import (
    Ending,
    end_values,
    take_told_parts,
)
from varve.usecases.ingest.ingest import IngestOutcome, ingest
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
    """Accept one statement as a separate message, said by the user's known name.

    The same statement on the same day is one. Raises Rejected, Retryable.
    """
    user = None if user_id is None else reference(user_id, "userId")
    conversation = build_remembered(
        text,
        at or session.now,
        user_id=user,
        name=_find_name(session, user),
    )
    return ingest(session, [conversation.in_scope(session.scope)])


def name_speaker(session: Session, conversation: Conversation) -> Conversation:
    """Return a conversation in which its user speaks by the name that memory knows.

    A request to forget without a name then reaches the statements made by name. Ids of
    messages stay, so that a repeated message is known. Raises Retryable.
    """
    user = conversation.user_id
    if not any(_speaks_unnamed(one, user) for one in conversation.messages):
        return conversation
    name = _find_name(session, user)
    if name is None:
        return conversation
    named = [
        one.model_copy(update={"name": name})
        if _speaks_unnamed(one, user)
        else one
        for one in conversation.messages
    ]
    return conversation.model_copy(update={"messages": named})


def _speaks_unnamed(message: Message, user: str | None) -> bool:
    """Return whether a message is a conversation's user's own and has no name."""
    is_own = message.role == "user" and message.user_id in (None, user)
    return is_own and message.name is None


def _find_name(session: Session, user: str | None) -> str | None:
    """Return the name by which a user speaks; None: memory knows none, or several."""
    if user is None:
        return None
    entries = session.profiles.entries(session.scope, user)
    names = {entry.subject for entry in entries} - {"", user}
    if not names:
        speakers = (one.about or "" for one in read_heard(session, user))
        names = set(filter(is_person, speakers)) - {"", user}
    if not names:
        names = set(_list_summed_up_speakers(session, user)) - {user}
    return names.pop() if len(names) == 1 else None


def _list_summed_up_speakers(session: Session, user: str) -> Iterator[str]:
    """Yield the names before the sentences of a user's newest summaries."""
    for content in list_summed_up(session, user):
        for sentence in read_sentences(content, user):
            if sentence.speaker and is_person(sentence.speaker):
                yield sentence.speaker


@doing("ingest")
def correct(session: Session, record_id: str, text: str) -> IngestOutcome:
    """Accept what holds instead of a fact or turn; history keeps both.

    The triples and attributes drawn from the corrected words end, unless the correction
    states their value again. Of a statement that is corrected already, the last correction
    is corrected. Raises Rejected: there is no such fact or turn; Retryable.
    """
    require_correctable(valid_text(record_id, "id"))
    valid_text(text, "text")
    reader = session.records.at(session.scope)
    _, record = find_record(reader, session.scope, record_id)
    record = choose_corrected(session, record, text)
    correction = build_correction_in(session, record, text, session.now)
    outcome = ingest(session, [correction])
    end_values(session, _build_ending(session, record, correction))
    return outcome


def _build_ending(
    session: Session, record: Record, correction: Conversation
) -> Ending:
    """Return what ends a record's values; erasing the correction opens them again."""
    from varve.domain.rules import (  # a search corrects nothing and needs no rules
        draw_predicates,
    )

    text = correction.messages[0].text
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, [find_turn_id(record)])
    return Ending(
        record,
        text,
        at=session.now,
        learnt_at=session.now,
        conversation_id=correction.conversation_id,
        message_ids=tuple(str(message.id) for message in correction.messages),
        takes=take_told_parts(record, text, turns),
        keeps_words=True,
        predicates=draw_predicates(record.about or "", text),
    )
