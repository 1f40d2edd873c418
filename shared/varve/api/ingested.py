"""The result of `ingest`, as a program reads it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from varve.domain.conversation import Conversation
from varve.usecases.ingest.ingest import IngestOutcome, ingest
from varve.usecases.local import catch_up
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.usecases.session import Session

if TYPE_CHECKING:
    from varve.usecases.forget.understood import UnderstoodRequest
    from varve.usecases.ingest.extract import ExtractOutcome


@dataclass(frozen=True, slots=True)
class Ingested:
    """The counts of `ingest`: accepted and, if no queue is configured, stored.

    `forget_requests` are the new messages that ask to forget something, with what memory
    hides from now on. `forget` erases it: `review` leaves a proposal for each.
    """

    accepted: IngestOutcome
    stored: "ExtractOutcome | None"
    forget_requests: "tuple[UnderstoodRequest, ...]" = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values, with `forgetRequests` if there are such."""
        answer = {**self.accepted.to_dict(), "stored": None}
        if self.forget_requests:
            requests = [one.to_dict() for one in self.forget_requests]
            answer["forgetRequests"] = requests
        if self.stored is None:
            return answer
        stored = {
            "messages": self.stored.messages,
            "turns": self.stored.turns,
            "facts": self.stored.facts,
            "tripleOperations": self.stored.operations,
            "ignored": self.stored.ignored,
            "forgotten": self.stored.forgotten,
        }
        return {**answer, "stored": stored}


def store(
    session: Session,
    conversations: Sequence[Conversation],
    progress: Progress = no_progress,
) -> Ingested:
    """Take in conversations, without reading what they ask to forget.

    That takes a look at all statements of a user, which a file's batches share.
    Raises as `ingest`.
    """
    return settle(session, ingest(session, conversations), progress)


def settle(
    session: Session,
    accepted: IngestOutcome,
    progress: Progress = no_progress,
) -> Ingested:
    """Store what was accepted, unless a queue service delivers it."""
    step = StepCounter("messages", accepted.messages, progress)
    return Ingested(accepted, catch_up(session, step))


def tell_requests(session: Session, ingested: Ingested) -> Ingested:
    """Return the result with what its messages ask to forget. Raises Retryable."""
    from varve.usecases.forget.understood import read_understood

    if ingested.stored is None:
        return ingested
    requests = read_understood(session, ingested.stored.asking)
    return replace(ingested, forget_requests=requests)
