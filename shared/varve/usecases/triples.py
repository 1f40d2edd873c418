"""Triples by hand: send operations to the writer, filtered as extracted ones are."""

from collections.abc import Sequence

from varve.domain.triple import TripleOperation
from varve.messages.write import WriteTriples, send_triples
from varve.usecases.privacy import filter_operation
from varve.usecases.session import Session


def send_operations(session: Session, operations: Sequence[TripleOperation]) -> None:
    """Send triple operations to the writer. Raises Rejected, Retryable, Misconfigured."""
    filtered = tuple(filter_operation(one, session.privacy) for one in operations)
    message = WriteTriples(session.scope, filtered)
    send_triples(message, queue=session.queues.write, objects=session.objects)
