"""Statements that a request to forget may name, and what every request says."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from varve.domain.record import turn_id
from varve.domain.search.row import MessageKey
from varve.domain.statements.texts.persons import is_person, list_own_names


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
        """Return whether words are of the user who asks, and not said later.

        A fact may tell of a day to come: it was said when its message was. The answers to
        the request are said later, and may repeat what it names.
        """
        if stated.user != self.user:
            return False
        if stated.at <= self.at or self.is_answered_by(stated):
            return True
        return stated.speaker is None and self.was_told_in(stated.messages)

    def is_answered_by(self, stated: Stated) -> bool:
        """Return whether the assistant says words after the request, in its conversation."""
        speaker = stated.speaker
        if speaker is None or is_person(speaker) or stated.at < self.at:
            return False
        return any(talk == self.request[0] for talk, _ in stated.messages)

    def was_told_in(self, messages: frozenset[MessageKey]) -> bool:  # noqa: ARG002 - a request alone
        """Return whether any of these messages tells what is forgotten."""
        return False

    def in_summary(self, user: str | None) -> Self:  # noqa: ARG002 - all are alike
        """Return what it hides of a summary of a user's period."""
        return self

    def concerns_summary(self, user: str | None, start: datetime) -> bool:
        """Return whether a summary of a user's period that starts then may tell of it.

        A summary without a user may be of all users.
        """
        return user in (None, self.user) and start <= self.at


def find_speaking(request: Stated, turns: Iterable[Stated]) -> frozenset[str]:
    """Return the names by which the speaker of a request speaks in their user's turns."""
    named = (turn.speaker for turn in turns if turn.speaker)
    return list_own_names(request.speaker or "", request.user, named)


def split_turns(
    turns: Iterable[Stated], speaking: frozenset[str]
) -> tuple[list[Stated], list[Stated]]:
    """Return the turns that were said by any of the names, and the others."""
    kinds: dict[bool, list[Stated]] = {True: [], False: []}
    for turn in turns:
        kinds[turn.speaker in speaking].append(turn)
    return kinds[True], kinds[False]


def list_speakers(request: Stated, turns: Iterable[Stated]) -> Iterator[str]:
    """Yield the persons who speak in the conversation of a request."""
    talks = {conversation for conversation, _ in request.messages}
    for turn in (request, *turns):
        is_near = any(talk in talks for talk, _ in turn.messages)
        if is_near and turn.speaker and is_person(turn.speaker):
            yield turn.speaker
