"""Run the pipeline in one process, without a queue service."""

from varve.usecases.ingest.extract import ExtractOutcome, extract_all
from varve.usecases.progress import StepCounter
from varve.usecases.session import Session


def catch_up(
    session: Session, step: StepCounter | None = None
) -> ExtractOutcome | None:
    """Handle the messages on the session's local queues, and write the results.

    `step` counts the messages of conversations. None: a queue service delivers the
    ingest queue. Raises Retryable, Rejected, Misconfigured.
    """
    counted = step or StepCounter("messages", 0)
    waiting = session.queues.take()
    total = None if waiting is None else ExtractOutcome()
    try:
        while waiting:
            total = extract_all(session, waiting, counted)
            waiting = session.queues.take()
    finally:
        session.queues.flush()
    return total
