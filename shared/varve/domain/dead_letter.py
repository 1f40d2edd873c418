"""What goes with a dead letter, and how a message is known: ids and reasons, no content."""

import re

from varve.domain.errors import Rejected
from varve.domain.identity import digest

_CORRELATION = re.compile(r'"correlationId":\s?"([0-9a-f]{16})"')


def reasons_of(message_id: str, error: Exception) -> dict[str, str]:
    """What is kept with the letter: errorType, reason, messageId, and field where one is at fault."""
    reasons = {
        "errorType": type(error).__name__,
        "reason": str(error),
        "messageId": message_id,
    }
    return {**reasons, "field": error.field} if isinstance(error, Rejected) else reasons


def redrive_id(letter_id: str) -> str:
    """The deduplication id of a letter that is sent back: new to the queue, and the same if sent twice."""
    return digest("redrive", letter_id)


def correlation_of(body: str) -> str | None:
    """The correlation id of a queue message, or None; never anything else that lies in its place."""
    found = _CORRELATION.search(body)
    return found[1] if found else None
