"""What a file held, and how much of it was stored."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from varve.domain.allowance import PartlyFiltered
from varve.domain.calendar import iso
from varve.domain.conversation import Conversation
from varve.usecases.forget.understood import UnderstoodRequest

MAX_FAILURES = 50
"""Failures that a report names; the others are counted."""


@dataclass(slots=True)
class ImportReport:
    """The content of a file, and how much of it was stored.

    `stored` has the sums of `Ingested`. `failures` name places and reasons.
    `again`: some failures may succeed when the same command is run again. `checked`
    counts the conversations of a dry run. `partly_filtered` names the messages whose
    filter reached a limit, `forget_requests` those that ask to forget something.
    """

    format: str
    conversations: int = 0
    messages: int = 0
    facts: int = 0
    first: datetime | None = None
    last: datetime | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    again: bool = False
    checked: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] | None = field(default_factory=Counter)
    partly_filtered: list[PartlyFiltered] = field(default_factory=list)
    forget_requests: list[UnderstoodRequest] = field(default_factory=list)

    def fail(self, place: str, reason: str) -> None:
        """Count a failure, and name it while there is room.

        A place that ends with a point or a space continues in the reason.
        """
        self.failed += 1
        if len(self.failures) == MAX_FAILURES:
            return
        separator = ": " if place and place[-1] not in ". " else ""
        self.failures.append(f"{place}{separator}{reason}")

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the file is stored, nor would be."""
        return not (self.accepted or self.facts or self.checked)

    def count(self, conversation: Conversation) -> None:
        """Count a conversation with its messages and times."""
        self.conversations += 1
        self.messages += len(conversation.messages)
        for message in conversation.messages:
            at = message.timestamp or conversation.started_at
            if at is not None:
                self.first = at if self.first is None else min(self.first, at)
                self.last = at if self.last is None else max(self.last, at)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "format": self.format,
            "conversations": self.conversations,
            "messages": self.messages,
            "facts": self.facts,
            "first": iso(self.first) if self.first else None,
            "last": iso(self.last) if self.last else None,
            "skipped": dict(self.skipped),
            "failed": self.failed,
            "failures": self.failures,
            "accepted": dict(self.accepted),
            "stored": None if self.stored is None else dict(self.stored),
            "partlyFiltered": [one.to_dict() for one in self.partly_filtered],
            "forgetRequests": [one.to_dict() for one in self.forget_requests],
        }
