"""Accept conversations: put them on the ingest queue before the call returns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.allowance import PartlyFiltered
from varve.domain.conversation import Conversation, Message, parse_conversation
from varve.domain.errors import Rejected, prefix_field
from varve.domain.identity import Scope
from varve.messages.ingest import IngestMessage, send_ingest
from varve.messages.told import read_told
from varve.ports.meter import doing
from varve.usecases.local import catch_up
from varve.usecases.session import OpenSession, Session

MESSAGES_PER_PART = 40
CHARACTERS_PER_PART = 200_000
"""About ten model calls; a single longer message travels alone."""
CONTEXT_MESSAGES = 4


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """Counts of what `ingest` accepted, and the correlation id of each queue message.

    `partly_filtered` names the messages whose filter reached a limit.
    """

    conversations: int
    messages: int
    correlation_ids: tuple[str, ...] = ()
    partly_filtered: tuple[PartlyFiltered, ...] = ()

    @classmethod
    def from_dict(cls, answer: Mapping[str, Any]) -> "IngestOutcome":
        """Return the outcome of IngestFunction's answer, which has no correlation ids."""
        accepted = answer["accepted"]
        partly = map(
            PartlyFiltered.from_dict, answer.get("partlyFiltered", ())
        )
        return cls(
            accepted["conversations"],
            accepted["messages"],
            partly_filtered=tuple(partly),
        )

    @classmethod
    def total(cls, outcomes: Sequence["IngestOutcome"]) -> "IngestOutcome":
        """Return the sum of several outcomes."""
        conversations = 0
        messages = 0
        correlation_ids: list[str] = []
        partly_filtered: list[PartlyFiltered] = []
        for one in outcomes:
            conversations += one.conversations
            messages += one.messages
            correlation_ids += one.correlation_ids
            partly_filtered += one.partly_filtered
        return cls(
            conversations,
            messages,
            tuple(correlation_ids),
            tuple(partly_filtered),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values, and `partlyFiltered` if there are such."""
        accepted = {
            "conversations": self.conversations,
            "messages": self.messages,
        }
        answer: dict[str, Any] = {"accepted": accepted}
        if self.partly_filtered:
            answer["partlyFiltered"] = [
                one.to_dict() for one in self.partly_filtered
            ]
        return answer


def read_event(event: object, now: datetime) -> list[Conversation]:
    """Return the valid conversations of an event: one, a list, or `{"conversations": […]}`.

    A statement or a correction is a conversation of one message, said `now` unless it has a time.
    Raises Rejected: names the first faulty field of the first faulty conversation.
    """
    told = read_told(event, now)
    if told:
        return told
    several = (
        event.get("conversations") if isinstance(event, Mapping) else event
    )
    if not isinstance(several, list):
        return [parse_conversation(event)]
    if not several:
        raise Rejected("conversations", "must hold at least one conversation")
    return [_numbered(index, value) for index, value in enumerate(several)]


def _numbered(index: int, value: object) -> Conversation:
    with prefix_field(f"conversations[{index}]."):
        return parse_conversation(value)


def parse_conversations(given: object, scope: Scope) -> list[Conversation]:
    """Return one conversation or several for one agent, all of them valid.

    Raises Rejected: names the first faulty field, of one of several with its place.
    """
    is_one = isinstance(given, Conversation | Mapping | str)
    if is_one or not isinstance(given, Iterable):
        return [parse_conversation(given).in_scope(scope)]
    conversations = []
    for index, one in enumerate(given):
        with prefix_field(f"[{index}]."):
            conversations.append(parse_conversation(one).in_scope(scope))
    return conversations


@doing("ingest")
def ingest(
    session: Session, conversations: Sequence[Conversation]
) -> IngestOutcome:
    """Accept an agent's conversations: when this returns, all are on the ingest queue.

    A long one travels in several parts, in order, so that no run of the extractor takes
    longer than a function may.
    Raises Rejected: names the message that the workspace blocks; Retryable: some are
    not on the queue, and sending all again is safe.
    """
    return _ingest([(session, conversation) for conversation in conversations])


def ingest_all(
    open_session: OpenSession, conversations: Sequence[Conversation]
) -> IngestOutcome:
    """Accept conversations of any agents, as `ingest` does.

    Without a queue service they are in memory when this returns. Raises Misconfigured.
    """
    sessions: dict[Scope, Session] = {}
    for conversation in conversations:
        if conversation.scope not in sessions:
            sessions[conversation.scope] = open_session(conversation.scope)
    outcome = _ingest([(sessions[one.scope], one) for one in conversations])
    for session in sessions.values():
        with session:
            catch_up(session)
    return outcome


def _ingest(given: Sequence[tuple[Session, Conversation]]) -> IngestOutcome:
    # Filtered before a queue, a claim check or anything else that outlives the call.
    private = [
        (session, session.privacy.filter_conversation(conversation))
        for session, conversation in given
    ]
    sent: list[str] = []
    partly: list[PartlyFiltered] = []
    messages = 0
    for session, filtered in private:
        partly += filtered.partly
        messages += len(filtered.conversation.messages)
        for part in _parts(filtered.conversation, session.now):
            send_ingest(
                part, queue=session.queues.ingest, objects=session.objects
            )
            sent.append(part.correlation_id)
    return IngestOutcome(len(private), messages, tuple(sent), tuple(partly))


def _parts(
    conversation: Conversation, now: datetime
) -> Iterator[IngestMessage]:
    messages = conversation.messages
    for start, end in _cuts(messages):
        piece: list[Message] = messages[start:end]
        context = tuple(messages[max(0, start - CONTEXT_MESSAGES) : start])
        part = conversation.model_copy(update={"messages": piece})
        yield IngestMessage(part, context, now)


def _cuts(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield where each part begins and ends, by its number of messages and characters."""
    start = 0
    characters = 0
    for index, message in enumerate(messages):
        size = len(message.text)
        too_many = index - start == MESSAGES_PER_PART
        too_long = index > start and characters + size > CHARACTERS_PER_PART
        if too_many or too_long:
            yield start, index
            start = index
            characters = 0
        characters += size
    yield start, len(messages)
