"""What speakers asked to forget: values that such a request ended, and what states them.

The request ends a triple, or names statements by its words (`forgotten_words`). What states
them is hidden at once from search and context, and stays in memory until its owner erases it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain

from varve.domain.extractive import sentences
from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold, spaced_words
from varve.domain.search.row import MessageKey
from varve.domain.statements.forgetting.forgotten import Forgotten, Stated
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.domain.statements.forgetting.requests import list_request_patterns
from varve.domain.statements.forgetting.topics import read_topics
from varve.domain.statements.pairs.sameness import names_value
from varve.domain.statements.texts.parts import (
    find_with_rest,
    leave_out_parts,
    split_parts,
)
from varve.domain.summary import KEY_FACTS_HEADING
from varve.domain.triple import Op, Triple

MIN_DIGITS = 5
"""A value with fewer digits is compared by its words alone."""
_RUN = re.compile(r"\d[\d\s()./+-]*")
"""Digits, in groups or not."""
_LONG_WORD = re.compile(r"[a-z]{5,}")
_ANY_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True, slots=True)
class ForgottenValue(Forgotten):
    """A value that a user asked to forget; `messages` are those that stated it."""

    value: str
    triple: Triple
    messages: frozenset[MessageKey]

    def was_told_in(self, messages: frozenset[MessageKey]) -> bool:
        """Return whether any of these messages stated the value."""
        return not messages.isdisjoint(self.messages)

    def find_parts(self, stated: Stated) -> frozenset[int]:
        """Return the parts of words that state the value; all, if it spans several.

        The answers to the messages that stated it, and to the request, repeat it in the
        same conversation.
        """
        talks = {conversation for conversation, _ in self.messages}
        is_same_talk = any(talk in talks for talk, _ in stated.messages)
        may_repeat = is_same_talk or self.is_answered_by(stated)
        if not may_repeat or not self.concerns(stated):
            return frozenset()
        parts = split_parts(stated.words)
        found = find_with_rest(
            parts, lambda at: names_value(parts[at], self.value)
        )
        if not found and names_value(stated.content, self.value):
            return frozenset(range(len(parts)))
        return frozenset(found)

    def is_named_in(self, text: str) -> bool:
        """Return whether a text repeats the value."""
        return repeats_value(text, self.value)


AnyForgotten = ForgottenValue | ForgottenWords


def repeats_value(text: str, value: str) -> bool:
    """Return whether a text names a value in whole words, or in the same digits."""
    if spaced_words(value) in spaced_words(text):
        return True
    digits = _join_digits(value)
    if len(digits) < MIN_DIGITS:
        return False
    return any(digits in _join_digits(run) for run in _RUN.findall(text))


def choose_concerning(
    values: Iterable[AnyForgotten], user: str | None, start: datetime
) -> tuple[AnyForgotten, ...]:
    """Return the values that a summary of a user's period may name; see `Forgotten`."""
    return tuple(
        one.in_summary(user)
        for one in values
        if one.concerns_summary(user, start)
    )


def keep_rest(stated: Stated, values: Iterable[AnyForgotten]) -> str:
    """Return a fact's or turn's content without its parts that state a value; "" if all do."""
    hidden: set[int] = set()
    for value in values:
        hidden |= value.find_parts(stated)
    if not hidden:
        return stated.content
    left = leave_out_parts(stated.words, frozenset(hidden))
    return f"{stated.head}{left}" if left else ""


def leave_out(text: str, values: Sequence[AnyForgotten]) -> str:
    """Return a summary's text without the sentences that name a value."""
    kept: list[str] = []
    for line in text.split("\n"):
        left = _leave_out_of_line(line, values)
        if left or not line:
            kept.append(left)
    if kept and kept[-1] == KEY_FACTS_HEADING.strip():
        kept.pop()
    return "\n".join(kept)


def _leave_out_of_line(line: str, values: Sequence[AnyForgotten]) -> str:
    """Return a line's other sentences; "" if the value spans sentences."""
    if not _names_any(line, values):
        return line
    told = list(sentences(line))
    kept = [one for one in told if not _names_any(one, values)]
    left = " ".join(kept)
    return "" if _names_any(left, values) else left


def _names_any(text: str, values: Iterable[AnyForgotten]) -> bool:
    return any(value.is_named_in(text) for value in values)


def _join_digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def asks_to_forget(text: str) -> bool:
    """Return whether a message may ask to forget something, in any language with such words."""
    if _compile_requests().search(fold(text)) is not None:
        return True
    return bool(read_topics(text))


def request_words() -> tuple[str, ...]:
    """Return the words of which every request to forget has one."""
    found: dict[str, None] = {}
    for pattern in (*_list_patterns(), *list_request_patterns()):
        # Of "get rid of" the last word is the rarest.
        long = _LONG_WORD.findall(pattern)
        found.update(dict.fromkeys(long or _ANY_WORD.findall(pattern)[-1:]))
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
        for request in end.messages[:1] if triple.stating else ():
            yield _forget(triple, request, end.event_time, end.user_id)


def _forget(
    triple: Triple, request: MessageKey, at: datetime, user: str | None
) -> ForgottenValue:
    """Return a triple's value as one that a message asks to forget."""
    stating = triple.stating
    return ForgottenValue(
        value=stating[0].object,
        triple=triple,
        request=request,
        at=at,
        user=user,
        messages=frozenset(
            chain.from_iterable(one.messages for one in stating)
        ),
    )


def keep_requested(
    values: Iterable[ForgottenValue],
    texts: Mapping[MessageKey, str],
    triples: Sequence[Triple],
) -> list[ForgottenValue]:
    """Return the values whose ending message, by its words in `texts`, asks to forget.

    "Forget my phone number" names no value: it means the former numbers too, which
    `triples` have.
    """
    kept: dict[tuple[MessageKey, str], ForgottenValue] = {}
    for one in values:
        text = texts.get(one.request, "")
        if not asks_to_forget(text):
            continue
        kept[one.request, one.triple.id] = one
        if one.is_named_in(text):
            continue
        for triple in _list_former(one, triples):
            former = _forget(triple, one.request, one.at, one.user)
            kept.setdefault((one.request, triple.id), former)
    return list(kept.values())


def _list_former(
    value: ForgottenValue, triples: Iterable[Triple]
) -> Iterator[Triple]:
    """Yield the triples of a value's attribute that had ended when it was to be forgotten."""
    own = value.triple
    for one in triples:
        if (one.source_id, one.label) != (own.source_id, own.label):
            continue
        has_ended = one.invalid_at is not None and one.invalid_at <= value.at
        if has_ended and one.id != own.id and one.stating:
            yield one
