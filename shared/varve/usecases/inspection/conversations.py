"""Conversations: those of a day, and the words of one with what memory made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.identity import path_id
from varve.domain.record import MemoryType, Record
from varve.domain.search.query import Filter
from varve.usecases.session import Session
from varve.usecases.timeline import messages_on

MAX_FACTS = 200
"""Facts of one conversation that are read beside its words."""


@dataclass(frozen=True, slots=True)
class ConversationDay:
    """The messages of one conversation on one local day, as the timeline has them."""

    conversation_id: str
    day: str
    messages: tuple[Mapping[str, Any], ...]
    total: int
    user_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """A page of a longer list: `total` values, of which `values` begin at `start`."""

    values: tuple[Any, ...]
    start: int
    total: int


def list_conversations(
    session: Session, day: str, *, start: int, most: int
) -> ConversationPage:
    """Return up to `most` conversations of a day, in the order of their ids."""
    names = session.objects.folders(f"timeline/{session.scope}/{day}")
    chosen = names[start : start + most]
    found = [read_conversation(session, day, name, most=1) for name in chosen]
    return ConversationPage(
        tuple(one for one in found if one.total), start, len(names)
    )


def read_conversation(
    session: Session,
    day: str,
    conversation_id: str,
    *,
    start: int = 0,
    most: int,
) -> ConversationDay:
    """Return up to `most` messages of a conversation on a day, from the place `start`.

    Raises Rejected: the conversation's id is not valid.
    """
    path_id(conversation_id, "conversationId")
    lines = list(
        messages_on(
            day, session.scope, conversation_id, objects=session.objects
        )
    )
    users = {str(line["userId"]) for line in lines if line.get("userId")}
    chosen = tuple(islice(lines, start, start + most))
    return ConversationDay(
        conversation_id, day, chosen, len(lines), tuple(sorted(users))
    )


def read_records_of(session: Session, conversation_id: str) -> list[Record]:
    """Return up to `MAX_FACTS` facts that were drawn from a conversation, newest first."""
    where = Filter(
        conversation_id=conversation_id, memory_types=(MemoryType.FACT,)
    )
    return session.records.browse(
        session.scope, Grain.WORKING, where=where, limit=MAX_FACTS
    )


def list_conversation_days(
    session: Session, conversation_id: str
) -> list[str]:
    """Return the days on which memory keeps records of a conversation, in order."""
    where = Filter(conversation_id=conversation_id)
    tallies = session.records.tally(
        session.scope, Grain.WORKING, ("period",), where=where
    )
    return [str(tally.key[0]) for tally in tallies]
