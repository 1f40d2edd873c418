"""Statements that a request to forget may name, and what every request says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from varve.domain.record import turn_id
from varve.domain.search.row import MessageKey


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact's or turn's words, and what decides whether they state something forgotten.

    `speaker` says a turn. A fact has none. `day` is a turn's, in the workspace's calendar.
    """

    id: str
    content: str
    messages: frozenset[MessageKey]
    user: str | None
    at: datetime
    speaker: str | None
    day: str = ""

    @property
    def head(self) -> str:
        """The speaker's name at the beginning of a turn."""
        head = f"{self.speaker}: "
        return head if self.speaker and self.content.startswith(head) else ""

    @property
    def words(self) -> str:
        """The content without the speaker's name."""
        return self.content.removeprefix(self.head)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A triple or an attribute that a user's message states, if any does.

    `words` tell it as memory does, `say` as a speaker does.
    """

    message: tuple[str, str] | None
    words: str
    say: Callable[[str], str]
    user: str | None
    at: datetime


def find_first_message(
    conversation: str | None, ids: Sequence[str]
) -> tuple[str, str] | None:
    """Return the first message of a conversation with these ids, if there is any."""
    return (conversation, ids[0]) if conversation and ids else None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a user asked to forget: `request` is the message that asks, at the time `at`."""

    request: MessageKey
    at: datetime
    user: str | None

    @property
    def is_of_all(self) -> bool:
        """Whether it is all that was told until then."""
        return False

    @property
    def request_turn(self) -> str:
        """The id of the request's turn."""
        return turn_id(self.request[0] or "", self.request[1])

    def concerns(self, stated: Stated) -> bool:
        """Return whether words are of the user who asks, and not said later."""
        return stated.user == self.user and stated.at <= self.at

    def in_summary(self, user: str | None) -> Self:  # noqa: ARG002 - all are alike
        """Return what it hides of a summary of a user's period."""
        return self

    def concerns_summary(self, user: str | None, start: datetime) -> bool:
        """Return whether a summary of a user's period that starts then may tell of it.

        A summary without a user may be of all users.
        """
        return user in (None, self.user) and start <= self.at
