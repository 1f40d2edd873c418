"""Ends of triples and attributes, cited to the messages that end them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from varve.domain.profile import ProfileEntry
from varve.domain.triple import Op, TripleOperation
from varve.messages.write import WriteProfile, send_profile
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class Ends:
    """What messages of a conversation end at a time, as memory learns at `learnt_at`.

    Erasing the messages opens it again.
    """

    at: datetime
    learnt_at: datetime
    conversation_id: str
    message_ids: tuple[str, ...]

    def of_triple(self, told: TripleOperation, label: str) -> TripleOperation:
        """Return the end of a triple of this label, which an operation states."""
        return replace(
            told,
            op=Op.DELETE,
            predicate=label,
            event_time=self.at,
            created_at=self.learnt_at,
            conversation_id=self.conversation_id,
            message_ids=self.message_ids,
            confidence=1.0,
            replaces=None,
        )

    def of_entry(self, entry: ProfileEntry) -> ProfileEntry:
        """Return the end of an attribute's value."""
        return replace(
            entry,
            event_time=self.at,
            created_at=self.learnt_at,
            conversation_id=self.conversation_id,
            message_ids=self.message_ids,
            ends=True,
            replaces="",
            unread=False,
        )


def send_entries(
    session: Session, user: str, entries: Sequence[ProfileEntry]
) -> None:
    """Send statements of a user's profile to the writer, if there are any. Raises Retryable."""
    if entries:
        message = WriteProfile(session.scope, user, tuple(entries))
        send_profile(
            message, queue=session.queues.write, objects=session.objects
        )
