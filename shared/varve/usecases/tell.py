"""Tell memory one statement, or correct one that it has."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import count, filterfalse

from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation
from varve.domain.identity import reference
from varve.domain.language.languages import Language, installed_languages
from varve.domain.language.tellings import find_language
from varve.domain.names import normalized
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.search.query import Filter
from varve.domain.statements.cues import read_cues
from varve.domain.statements.parts import find_parts, measure_kinship
from varve.domain.statements.persons import is_person
from varve.domain.statements.telling import (
    CORRECTION,
    EndedMessage,
    build_correction,
    build_correction_of,
    build_remembered,
    find_turn_id,
    require_correctable,
)
from varve.ports.meter import doing
from varve.usecases.beside_corrected import BesideCorrected
from varve.usecases.correcting import choose_corrected
from varve.usecases.ending import Ending, end_values, take_told_parts
from varve.usecases.ingest import IngestOutcome, ingest
from varve.usecases.records import find_record
from varve.usecases.replaced import Replacement
from varve.usecases.session import Session

Tell = Callable[[EndedMessage, Record | None, Language], str]
"""Returns the words of the correction of a message's turn; None: its words have expired."""
_APART = timedelta(milliseconds=1)
HEARD = 50
"""So many of the newest turns of a user show the user's language and name."""


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


def _find_name(session: Session, user: str | None) -> str | None:
    """Return the name by which a user speaks; None: memory knows none, or several."""
    if user is None:
        return None
    entries = session.profiles.entries(session.scope, user)
    names = {entry.subject for entry in entries} - {"", user}
    if not names:
        speakers = (one.about or "" for one in _read_heard(session, user))
        names = set(filter(is_person, speakers)) - {"", user}
    return names.pop() if len(names) == 1 else None


@doing("ingest")
def correct(session: Session, record_id: str, text: str) -> IngestOutcome:
    """Accept what holds instead of a fact or turn; history keeps both.

    The triples and attributes drawn from the corrected words end, unless the correction
    states their value again. Of a statement that is corrected already, the last correction
    is corrected. Raises Rejected: there is no such fact or turn; Retryable.
    """
    require_correctable(record_id)
    reader = session.records.at(session.scope)
    _, record = find_record(reader, session.scope, record_id)
    record = choose_corrected(session, record, text)
    correction = _build_correction(session, record, text, session.now)
    outcome = ingest(session, [correction])
    end_values(session, _build_ending(session, record, correction))
    return outcome


def correct_messages(
    session: Session, messages: Iterable[EndedMessage], tell: Tell
) -> list[Replacement]:
    """Correct the parts of messages that state the ended values; return the corrections.

    `tell` returns the words of one message's correction, in its user's language. What else
    the corrected part states is told again with them.
    A part is corrected as the fact that was drawn from it; without one, the message is.
    If the words have expired, the correction still says what holds, for the summaries
    repeat the words.
    """
    told = {turn_id(one.conversation_id, one.id): one for one in messages}
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, list(told))
    users = {turn.user_id for turn in turns}
    heard = {user: _list_heard(session, user) for user in users}
    beside = BesideCorrected(session)
    made: list[Replacement] = []
    # The last of them is made now; of two at one time neither says again what the other does.
    times = (session.now - _APART * (len(told) - at - 1) for at in count())
    for turn in turns:
        language = find_language(
            [turn.words, *heard[turn.user_id]], installed_languages()
        )
        text = tell(told[turn.id], turn, language)
        record = _find_stating(session, turn, told[turn.id], text)
        text = beside.tell(turn, record, told[turn.id], text, language)
        correction = _build_correction(session, record, text, next(times))
        made.append(Replacement(told[turn.id], correction, has_expired=False))
    found = {turn.id for turn in turns}
    for id_ in filterfalse(found.__contains__, told):
        text = tell(told[id_], None, installed_languages()[0])
        conversation = build_correction_of(
            id_, text, next(times), told[id_].user_id, told[id_].speaker
        )
        correction = conversation.in_scope(session.scope)
        made.append(Replacement(told[id_], correction, has_expired=True))
    for one in made:
        ingest(session, [one.correction])
    return made


def _list_heard(session: Session, user_id: str | None) -> list[str]:
    """Return what a user said last, without what corrects by hand; empty without a user."""
    if user_id is None:
        return []
    return [
        one.words
        for one in _read_heard(session, user_id)
        if not (one.conversation_id or "").startswith(CORRECTION)
    ]


def _read_heard(session: Session, user_id: str) -> list[Record]:
    """Return the newest turns of a user's conversations."""
    where = Filter(user_id=user_id, memory_types=(MemoryType.TURN.value,))
    return session.records.at(session.scope).browse(
        session.scope, Grain.WORKING, where=where, limit=HEARD
    )


def _find_stating(
    session: Session, turn: Record, ended: EndedMessage, text: str
) -> Record:
    """Return the fact of a turn's message that states the ended value, else the turn.

    Of several it is the one most like the correction's `text`. If these tell different
    parts of the message, it is the turn.
    """
    facts = _list_stating(session, turn, ended)
    if not facts:
        return turn
    likeness = [measure_kinship(read_cues(text), [one.words]) for one in facts]
    best = [
        one
        for one, like in zip(facts, likeness, strict=True)
        if like == max(likeness)
    ]
    parts = {find_parts(turn.words, one.words) for one in best}
    return best[0] if len(parts) == 1 else turn


def _list_stating(
    session: Session, turn: Record, ended: EndedMessage
) -> list[Record]:
    """Return the facts of a turn's message that state the ended value."""
    conversation = turn.conversation_id
    if not conversation or not ended.value:
        return []
    reader = session.records.at(session.scope)
    wanted = normalized(ended.value)
    return [
        one
        for one in reader.in_conversations(
            session.scope, Grain.WORKING, conversation
        )
        if one.memory_type is MemoryType.FACT
        and one.conversation_id == conversation
        and one.source_ids[-1:] == turn.source_ids[-1:]
        and wanted in normalized(one.content)
    ]


def _build_correction(
    session: Session, record: Record, text: str, at: datetime
) -> Conversation:
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, [find_turn_id(record)])
    speaker = next((turn.about for turn in turns), None)
    conversation = build_correction(record, text, at, speaker)
    return conversation.in_scope(session.scope)


def _build_ending(
    session: Session, record: Record, correction: Conversation
) -> Ending:
    """Return what ends a record's values; erasing the correction opens them again."""
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
    )
