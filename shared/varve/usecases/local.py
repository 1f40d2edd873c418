"""Run the pipeline in one process, without a queue service."""

from typing import TYPE_CHECKING

from varve.ports.queues import Delivery
from varve.usecases.progress import StepCounter
from varve.usecases.session import Session

if TYPE_CHECKING:
    from varve.usecases.ingest.extract import ExtractOutcome


def catch_up(
    session: Session, step: StepCounter | None = None
) -> "ExtractOutcome | None":
    """Handle the messages on the session's local queues, and write the results.

    `step` counts the messages of conversations. None: a queue service delivers the
    ingest queue. Raises Retryable, Rejected, Misconfigured.
    """
    waiting = session.queues.take()
    try:
        return None if waiting is None else _extract(session, waiting, step)
    finally:
        session.queues.flush()


def _extract(
    session: Session, waiting: list[Delivery], step: StepCounter | None
) -> "ExtractOutcome":
    """Extract from the messages, and from those that are sent meanwhile."""
    # Loads the extractor: only a process that has no queue service needs it.
    from varve.usecases.ingest.extract import ExtractOutcome, extract_all

    counted = step or StepCounter("messages", 0)
    total = ExtractOutcome()
    while waiting:
        total += extract_all(session, waiting, counted)
        waiting = session.queues.take() or []
    return total
