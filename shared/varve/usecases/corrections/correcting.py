"""Which statement a correction corrects: the last one of a chain of corrections."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from varve.domain.calendar import Grain
from varve.domain.conversation import Message
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.statements.texts.parts import find_corrected_parts
from varve.domain.statements.texts.telling import (
    CORRECTION,
    build_correction_of,
    find_turn_id,
    list_corrected,
    read_corrected,
)
from varve.messages.ingest import IngestMessage
from varve.usecases.session import Session


def choose_corrected(
    session: Session,
    record: Record,
    text: str,
    until: datetime | None = None,
) -> Record:
    """Return what a correction of a record corrects: the last of its corrections, else it.

    If the last correction has the same words, it is the same one again: it corrects what
    it did before, for it may come any number of times. Corrections of other parts of the
    record's words do not count, nor those said after `until`.
    """
    reader = session.records.at(session.scope)
    parts = find_corrected_parts(record.words, text)
    said = reader.in_conversations(session.scope, Grain.WORKING, CORRECTION)
    known = [
        one
        for one in said
        if (until is None or one.event_time <= until)
        and (
            record.id not in list_corrected(one.source_ids)
            or parts & find_corrected_parts(record.words, one.words)
        )
    ]
    named = {record.id: record, find_turn_id(record): record}
    last, before = record, record
    while naming := _find_naming(known, named):
        for turn, corrected in naming:
            named |= _list_ids(turn, known)
            last, before = turn, corrected
    is_again = last is not record and last.words == text.strip()
    return before if is_again else last


def _find_naming(
    records: Iterable[Record], named: Mapping[str, Record]
) -> list[tuple[Record, Record]]:
    """Return the turns outside `named` that correct one of it, with what they correct.

    `named` has records by the ids that may name them.
    """
    found: list[tuple[Record, Record]] = []
    for one in records:
        if one.memory_type is not MemoryType.TURN or one.id in named:
            continue
        ids = [id_ for id_ in list_corrected(one.source_ids) if id_ in named]
        if ids:
            found.append((one, named[ids[0]]))
    return found


def _list_ids(turn: Record, records: Iterable[Record]) -> dict[str, Record]:
    """Return a turn, by its id and those of the facts drawn from it."""
    of_turn = [
        one.id
        for one in records
        if one.conversation_id == turn.conversation_id
    ]
    return dict.fromkeys((turn.id, *of_turn), turn)


def recognize_return(
    session: Session, message: IngestMessage
) -> IngestMessage:
    """Return a correction that goes back to earlier words as one of the last correction.

    Its conversation has the id of the earlier correction in these words, so the message
    would count as taken in. A message that comes again stays as it is: the last
    correction until its time has its words. Raises Retryable.
    """
    conversation = message.conversation
    if not conversation.conversation_id.startswith(CORRECTION):
        return message
    said = conversation.messages[0]
    at = said.timestamp or conversation.started_at or message.received_at
    corrected = _find_returning(session, message, said, at)
    if corrected is None:
        return message
    again = build_correction_of(
        corrected.id, said.text, at, conversation.user_id, said.name
    )
    return replace(message, conversation=again.in_scope(session.scope))


def _find_returning(
    session: Session, message: IngestMessage, said: Message, at: datetime
) -> Record | None:
    """Return what a message corrects if the earlier one with its id no longer holds."""
    reader = session.records.at(session.scope)
    named = read_corrected(said.id or "")
    words = turn_id(message.conversation.conversation_id, said.id or "")
    records = reader.get(session.scope, Grain.WORKING, [words, named or ""])
    found = {one.id: one for one in records}
    earlier = found.get(words)
    record = found.get(named or "")
    if earlier is None or record is None or earlier.event_time >= at:
        return None
    last = choose_corrected(session, record, said.text, until=at)
    return None if last.id in {record.id, words} else last
