"""The ids and reasons that identify a dead letter, without its content."""

import re

from varve.domain.errors import Rejected
from varve.domain.identity import digest

_CORRELATION = re.compile(r'"correlationId":\s?"([0-9a-f]{16})"')


def reasons_of(message_id: str, error: Exception) -> dict[str, str]:
    """Return the letter's attributes: errorType, reason, messageId and field.

    Only a Rejected has a field.
    """
    reasons = {
        "errorType": type(error).__name__,
        "reason": str(error),
        "messageId": message_id,
    }
    if isinstance(error, Rejected):
        reasons["field"] = error.field
    return reasons


def redrive_id(letter_id: str) -> str:
    """Return the deduplication id of a redriven letter.

    The queue has not seen it before, and redriving twice gives the same id.
    """
    return digest("redrive", letter_id)


def correlation_of(body: str) -> str | None:
    """Return the correlation id of a queue message, or None if it has no valid one."""
    found = _CORRELATION.search(body)
    return found[1] if found else None
