"""The summary of one period: its sources, its contents, and its key facts.

Key facts are copied word for word from child summaries to parents. The most important
facts of a union are among the most important of its parts. So a year built from its
quarters keeps the same key facts as a year built from its days.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.identity import Scope, digest
from varve.domain.record import MemoryType
from varve.domain.text import casefold_words, estimated_tokens

BUDGET_TOKENS: Mapping[Grain, int] = MappingProxyType(
    {
        Grain.DAILY: 400,
        Grain.WEEKLY: 600,
        Grain.MONTHLY: 800,
        Grain.QUARTERLY: 1_000,
        Grain.YEARLY: 1_200,
    }
)
"""The maximum length of a summary with its key facts, in estimated tokens."""

_SUMMARY = "summary-"
"""Begins the id of a summary."""

NO_WORDS = "(no words)"
"""Content of a summary without words: models embed no blank text, and no answer has it."""

KEY_FACTS_HEADING = "\nKey facts:\n"
"""What stands between a summary's text and its key facts."""

RECURRING_HEADING = "\nRecurring: "
"""What stands before the names and topics that recur, after a summary's sentences."""

MAX_INPUT_TOKENS = 12_000
"""The maximum input of one model call; larger inputs are summarized in parts."""

LITTLE_TOKENS = 200
"""Sources shorter than this, in estimated tokens, are kept word for word, without a model."""

KEY_FACTS = 12
"""The maximum number of key facts in a summary."""


@dataclass(frozen=True, slots=True, order=True)
class KeyFact:
    """A fact that is important enough to be kept word for word.

    `id` is the id of the fact's record. Once that record has expired, erasure finds the
    key fact by its conversation and messages.
    """

    id: str
    content: str
    event_time: datetime
    importance: float
    user_id: str | None
    conversation_id: str | None = None
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One record that a summary is made from; `at` is its event time in UTC.

    `label` is the child period's label for a child summary, and None for a fact or a
    turn. `messages` are the conversation and message ids of those two.
    """

    id: str
    memory_type: MemoryType
    fingerprint: str
    text: str
    at: datetime
    importance: float
    user_id: str | None = None
    label: str | None = None
    messages: frozenset[tuple[str | None, str]] = frozenset()


def is_little(sources: Iterable[Source]) -> bool:
    """Return whether the sources are so short that they are kept word for word."""
    return sum(estimated_tokens(one.text) for one in sources) < LITTLE_TOKENS


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """The input of a summarizer: one user's sources in a period of an agent, oldest first.

    `budget` is in tokens, for the text alone, without the key facts. These take up to
    `key_fact_tokens`.
    """

    scope: Scope
    period: Period
    zone: ZoneInfo
    sources: tuple[Source, ...]
    budget: int
    key_fact_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The output of a summarizer: the text, and values that a search can filter by."""

    text: str
    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PeriodPart:
    """The users of a period that an earlier run has left: those after the user `after`.

    `after` is empty for the messages without a user. `version` is the version of the store
    below that the first run asked for; the marks up to it are settled at the end. None: a
    user's summary has failed, and the marks stay.
    """

    after: str
    version: int | None


def is_summary_id(id_: str) -> bool:
    """Return whether an id is that of a summary."""
    return id_.startswith(_SUMMARY)


def summary_id(period: Period, user_id: str | None) -> str:
    """Return the id of one user's summary of a period.

    None: the summary of the messages without a user id.
    """
    owner = ("user",) if user_id is None else ("user", user_id)
    return _SUMMARY + digest(period.grain, period.label, *owner, length=24)


def agent_summary_id(period: Period) -> str:
    """Return the id of a summary of all users' messages together.

    Summaries had this id before they were made per user. They still have it if
    `summaries.scope` is `agent`.
    """
    return _SUMMARY + digest(period.grain, period.label, length=24)


def is_own_id(id_: str, period: Period, user_id: str | None) -> bool:
    """Return whether the id is that of the user's, or of the agent's, summary."""
    return id_ in (summary_id(period, user_id), agent_summary_id(period))


def most_important(
    facts: Iterable[KeyFact],
) -> tuple[KeyFact, ...]:
    """Return the `KEY_FACTS` most important facts, oldest first.

    Facts of one user with the same words count once.
    """
    once: dict[tuple[str | None, str], KeyFact] = {}
    ordered = sorted(facts, key=lambda f: (-f.importance, f.event_time, f.id))
    for fact in ordered:
        words = casefold_words(fact.content)
        once.setdefault((fact.user_id, words), fact)
    chosen = list(once.values())[:KEY_FACTS]
    return tuple(sorted(chosen, key=lambda f: (f.event_time, f.id)))


def key_facts_as_json(facts: Sequence[KeyFact]) -> str:
    """Return the key facts as the JSON text in a record."""
    rows = [
        {
            "id": f.id,
            "content": f.content,
            "eventTime": iso(f.event_time),
            "importance": f.importance,
            "userId": f.user_id,
            "conversationId": f.conversation_id,
            "messageIds": list(f.message_ids),
        }
        for f in facts
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def key_facts_from_json(text: str) -> tuple[KeyFact, ...]:
    """Return the key facts of `key_facts_as_json`. Raises ValueError, KeyError: not such."""
    rows: list[dict[str, Any]] = json.loads(text) if text else []
    return tuple(
        KeyFact(
            id=r["id"],
            content=r["content"],
            event_time=parse_instant(r["eventTime"]),
            importance=r["importance"],
            user_id=r["userId"],
            conversation_id=r["conversationId"],
            message_ids=tuple(r["messageIds"]),
        )
        for r in rows
    )
