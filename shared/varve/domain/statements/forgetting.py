"""What speakers asked to forget: values that such a request ended, and what states them.

The request ends a triple. What states its value is hidden at once from search and context,
and stays in memory until its owner erases it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from varve.domain.extractive import sentences
from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold, spaced_words
from varve.domain.record import turn_id
from varve.domain.search.row import Message
from varve.domain.statements.folding import names_value
from varve.domain.summary import KEY_FACTS_HEADING
from varve.domain.triple import Op, Triple, TripleOperation

MIN_DIGITS = 5
"""A value with fewer digits is compared by its words alone."""
_RUN = re.compile(r"\d[\d\s()./+-]*")
"""Digits, in groups or not."""
_LONG_WORD = re.compile(r"[a-z]{5,}")


@dataclass(frozen=True, slots=True)
class ForgottenValue:
    """A value that a user asked to forget.

    `request` is the message that asks, at the time `at`. `messages` are those that stated
    the value. `user` is whose statement it is.
    """

    value: str
    triple: Triple
    request: Message
    at: datetime
    user: str | None
    messages: frozenset[Message]

    @property
    def request_turn(self) -> str:
        """The id of the request's turn."""
        return turn_id(self.request[0] or "", self.request[1])

    def is_stated_in(
        self,
        content: str,
        messages: Collection[Message],
        user: str | None,
        at: datetime,
    ) -> bool:
        """Return whether words of these messages, said at a time, state the value.

        The answers to the messages that stated it repeat it in the same conversation.
        """
        if user != self.user or at > self.at:
            return False
        talks = {conversation for conversation, _ in self.messages}
        is_same_talk = any(talk in talks for talk, _ in messages)
        return is_same_talk and names_value(content, self.value)

    def is_named_in(self, text: str) -> bool:
        """Return whether a text names the value in whole words, or in the same digits."""
        if spaced_words(self.value) in spaced_words(text):
            return True
        digits = _join_digits(self.value)
        if len(digits) < MIN_DIGITS:
            return False
        return any(digits in _join_digits(run) for run in _RUN.findall(text))

    def concerns_summary(self, user: str | None, start: datetime) -> bool:
        """Return whether a summary of a user's period that starts then may name the value.

        A summary without a user may be of all users.
        """
        return user in (None, self.user) and start <= self.at


def choose_concerning(
    values: Iterable[ForgottenValue], user: str | None, start: datetime
) -> tuple[ForgottenValue, ...]:
    """Return the values that a summary of a user's period may name; see `ForgottenValue`."""
    return tuple(one for one in values if one.concerns_summary(user, start))


def leave_out(text: str, values: Sequence[ForgottenValue]) -> str:
    """Return a summary's text without the sentences that name a value."""
    kept: list[str] = []
    for line in text.split("\n"):
        left = _leave_out_of_line(line, values)
        if left or not line:
            kept.append(left)
    if kept and kept[-1] == KEY_FACTS_HEADING.strip():
        kept.pop()
    return "\n".join(kept)


def _leave_out_of_line(line: str, values: Sequence[ForgottenValue]) -> str:
    """Return a line's other sentences; "" if the value spans sentences."""
    if not _names_any(line, values):
        return line
    told = list(sentences(line))
    kept = [one for one in told if not _names_any(one, values)]
    left = " ".join(kept)
    return "" if _names_any(left, values) else left


def _names_any(text: str, values: Iterable[ForgottenValue]) -> bool:
    return any(value.is_named_in(text) for value in values)


def _join_digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def asks_to_forget(text: str) -> bool:
    """Return whether a message may ask to forget something, in any language with such words."""
    return _compile_requests().search(fold(text)) is not None


def request_words() -> tuple[str, ...]:
    """Return the words of which every request to forget has one."""
    found: dict[str, None] = {}
    for pattern in _list_patterns():
        found.update(dict.fromkeys(_LONG_WORD.findall(pattern)))
    return tuple(found)


def _list_patterns() -> list[str]:
    patterns: list[str] = []
    for language in installed_languages():
        patterns += language.changes.forgetting
    return patterns


@cache
def _compile_requests() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(_list_patterns())})\b")


def find_ended_by_message(
    triples: Iterable[Triple],
) -> Iterator[ForgottenValue]:
    """Yield the values that a message ended without another value in their place.

    Whether the message asks to forget is for the caller to read in its words.
    """
    for triple in triples:
        end = triple.evidence[-1]
        if triple.invalid_at is None or end.op is not Op.DELETE:
            continue
        stated = [one for one in triple.evidence if one.op is not Op.DELETE]
        for message in end.message_ids[:1] if stated else ():
            yield ForgottenValue(
                value=stated[0].object,
                triple=triple,
                request=(end.conversation_id, message),
                at=end.event_time,
                user=end.user_id,
                messages=_list_messages(stated),
            )


def _list_messages(stated: Iterable[TripleOperation]) -> frozenset[Message]:
    found: set[Message] = set()
    for one in stated:
        found.update((one.conversation_id, id_) for id_ in one.message_ids)
    return frozenset(found)


def keep_requested(
    values: Iterable[ForgottenValue], texts: Mapping[Message, str]
) -> list[ForgottenValue]:
    """Return the values whose ending message, by its words in `texts`, asks to forget."""
    return [
        one for one in values if asks_to_forget(texts.get(one.request, ""))
    ]
