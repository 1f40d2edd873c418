"""Run the pipeline in one process, without a queue service."""

from varve.usecases.extract import ExtractOutcome, extract_all
from varve.usecases.session import Session


def catch_up(session: Session) -> ExtractOutcome | None:
    """Handle the messages on the session's local queues, and write the results.

    None: a queue service delivers the ingest queue. Raises Retryable, Rejected,
    Misconfigured.
    """
    waiting = session.queues.take()
    total = None if waiting is None else ExtractOutcome()
    try:
        while waiting:
            total = extract_all(session, waiting)
            waiting = session.queues.take()
    finally:
        session.queues.flush()
    return total
