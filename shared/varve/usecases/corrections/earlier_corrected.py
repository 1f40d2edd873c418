"""Corrections that open a conversation: "Sorry, I meant 3 June" is about an earlier one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from varve.domain.extraction import RECENT, Batch, Extraction, Utterance
from varve.domain.record import Record
from varve.domain.statements.texts.telling import CORRECTION, name_corrected
from varve.messages.ingest import IngestMessage
from varve.usecases.corrections.corrected_messages import read_heard
from varve.usecases.session import Session


def read_earlier_corrected(
    session: Session,
    message: IngestMessage,
    utterances: Sequence[Utterance],
    context: Sequence[Utterance],
) -> Extraction:
    """Return what a conversation's first words make of an earlier one's statement.

    They correct a date, a number or a time, and only one recent statement of the user has
    a value for which they can stand. What is returned cites the turn of that statement
    too, so that it goes when either is erased. Raises Retryable.
    """
    said = [one for one in (*context, *utterances) if one.role == "user"]
    if not said or said[0] not in utterances:
        return Extraction()
    from varve.domain.rules import (  # only a conversation's first words need rules
        corrects_time,
    )

    if not corrects_time(said[0].text):
        return Extraction()
    found: dict[frozenset[str], Extraction] = {}
    for turn in _list_recent(session, message, said[0]):
        read = _read_after(session, message, turn, said[0])
        told = frozenset(one.content for one in read.facts)
        if told:
            found.setdefault(told, read)
    return next(iter(found.values())) if len(found) == 1 else Extraction()


def _list_recent(
    session: Session, message: IngestMessage, said: Utterance
) -> Iterator[Record]:
    """Yield the user's turns of other conversations before an utterance, the newest first."""
    session.queues.flush()
    for turn in read_heard(session, said.user_id):
        conversation = turn.conversation_id or ""
        is_other = conversation != message.conversation.conversation_id
        is_own = turn.user_id == said.user_id
        age = said.said_at - turn.event_time
        is_recent = timedelta(0) < age <= RECENT
        is_correction = conversation.startswith(CORRECTION)
        if is_other and is_own and is_recent and not is_correction:
            yield turn


def _read_after(
    session: Session, message: IngestMessage, turn: Record, said: Utterance
) -> Extraction:
    """Return what the rules read of an utterance if a turn's words came before it."""
    from varve.domain.rules import RuleExtractor

    before = replace(said, text=turn.words, said_at=turn.event_time)
    batch = Batch(
        session.scope,
        message.conversation.conversation_id,
        (said,),
        (before,),
        session.zone,
        message.received_at,
    )
    read = RuleExtractor().extract(batch)
    ids = (said.message_id, name_corrected(turn.id))
    return Extraction(
        tuple(replace(one, message_ids=ids) for one in read.facts),
        tuple(replace(one, message_ids=ids) for one in read.operations),
    )
