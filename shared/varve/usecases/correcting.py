"""Which statement a correction corrects: the last one of a chain of corrections."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.statements.parts import find_corrected_parts
from varve.domain.statements.telling import (
    CORRECTION,
    build_correction_of,
    find_turn_id,
    is_correction_of,
    list_corrected,
    name_corrected,
    read_corrected,
)
from varve.messages.ingest import IngestMessage
from varve.usecases.session import Session
from varve.usecases.taken_in import TakenIn, list_taken_in

IN_LAG = timedelta(days=1)
"""So long may a message wait between the ingest queue and the store."""
_AFTER = timedelta(milliseconds=1)


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


def place_correction(
    session: Session, message: IngestMessage
) -> IngestMessage:
    """Return a correction as memory takes it in; another message unchanged.

    It is later than what it corrects, whatever the sender's clock says. One that goes
    back to earlier words is one of the last correction: its conversation has the id of
    the earlier correction in these words, so the message would count as taken in. A
    message that comes again stays as it is: the last correction until its time has its
    words. Raises Retryable: an earlier correction is not stored yet.
    """
    conversation = message.conversation
    is_correction = conversation.conversation_id.startswith(CORRECTION)
    if not is_correction or len(conversation.messages) > 1:
        return message
    said = conversation.messages[0]
    given = said.timestamp or conversation.started_at or message.received_at
    named = read_corrected(said.id or "")
    if named is None:
        return message
    at = _find_time(session, named, given)
    corrected = _find_returning(session, message, named, at)
    if corrected is None:
        dated = said.model_copy(update={"timestamp": at})
        placed = conversation.model_copy(update={"messages": [dated]})
        return (
            message if at == given else replace(message, conversation=placed)
        )
    again = build_correction_of(
        corrected.id, said.text, at, conversation.user_id, said.name
    )
    return replace(message, conversation=again.in_scope(session.scope))


def _find_time(session: Session, named: str, given: datetime) -> datetime:
    """Return the time of a correction: after that of the words that it corrects."""
    reader = session.records.at(session.scope)
    session.queues.flush()
    found = reader.get(session.scope, Grain.WORKING, [named])
    turns = [find_turn_id(one) for one in found]
    told = reader.get(session.scope, Grain.WORKING, turns)
    times = [one.event_time + _AFTER for one in told]
    return max([given, *times])


def _find_returning(
    session: Session, message: IngestMessage, named: str, at: datetime
) -> Record | None:
    """Return what a message corrects if the earlier one with its id no longer holds."""
    said = message.conversation.messages[0]
    conversation_id = message.conversation.conversation_id
    taken_in = TakenIn(session.scope, conversation_id, session.objects)
    if said not in taken_in:
        return None
    _require_stored(session, named)
    reader = session.records.at(session.scope)
    words = turn_id(conversation_id, said.id or "")
    records = reader.get(session.scope, Grain.WORKING, [words, named])
    found = {one.id: one for one in records}
    earlier = found.get(words)
    record = found.get(named)
    if earlier is None or record is None or earlier.event_time >= at:
        return None
    last = choose_corrected(session, record, said.text, until=at)
    return None if last.id in {record.id, words} else last


def _require_stored(session: Session, record_id: str) -> None:
    """Raise Retryable if a correction of a record, or of one of these, is on its way.

    Which correction is the last one is known only when all earlier ones are stored. One
    that was taken in long ago and is not stored has expired.
    """
    since = session.now - IN_LAG
    told = list_taken_in(
        session.scope, CORRECTION, since, objects=session.objects
    )
    waiting = {record_id}
    turns: set[str] = set()
    while waiting:
        corrected = waiting.pop()
        message_id = name_corrected(corrected)
        for id_ in told:
            turn = turn_id(id_, message_id)
            if is_correction_of(id_, corrected) and turn not in turns:
                turns.add(turn)
                waiting.add(turn)
    reader = session.records.at(session.scope)
    stored = reader.get(session.scope, Grain.WORKING, sorted(turns))
    if len(stored) < len(turns):
        raise Retryable(
            "id: an earlier correction of the record is not stored yet"
        )
