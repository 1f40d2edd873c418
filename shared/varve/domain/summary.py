"""A summary of one period: what it is made from, what it says, and the key facts that ride along.

Key facts are carried up the pyramid word for word. The most important of a union are the most
important of its parts' most important, so a year built through its quarters keeps the same ones as
a year built from its days, and no summary of summaries can wash them out.
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

BUDGET_TOKENS: Mapping[Grain, int] = MappingProxyType(
    {
        Grain.DAILY: 400,
        Grain.WEEKLY: 600,
        Grain.MONTHLY: 800,
        Grain.QUARTERLY: 1_000,
        Grain.YEARLY: 1_200,
    }
)
"""How long a summary may be, in estimated tokens, its key facts included."""

MAX_INPUT_TOKENS = 12_000
"""How much one model call reads; larger inputs are summarized in parts, and the parts again."""

KEY_FACTS = 12


@dataclass(frozen=True, slots=True, order=True)
class KeyFact:
    """A fact important enough to be kept word for word; `id` is the fact record's.

    The conversation and the messages it was said in are what erasure finds it by once the record is gone.
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
    """One record a summary is made from: its id, sort, what it says (hashed), its words, its time in UTC.

    `label` is a child period's for a child summary and None for a fact or a turn.
    """

    id: str
    memory_type: MemoryType
    fingerprint: str
    text: str
    at: datetime
    importance: float
    user_id: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """Everything a summarizer is given: whose period it is and its sources, oldest first.

    `budget` is in tokens, for the text alone: what the key facts take has been taken off it.
    """

    scope: Scope
    period: Period
    zone: ZoneInfo
    sources: tuple[Source, ...]
    budget: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a summarizer answers: the text, and what later search can filter by."""

    text: str
    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


def summary_id(period: Period) -> str:
    """The id of an agent's one summary of a period."""
    return "summary-" + digest(period.grain, period.label, length=24)


def most_important(
    facts: Iterable[KeyFact], count: int = KEY_FACTS
) -> tuple[KeyFact, ...]:
    """The most important, oldest first; a fact told twice in the same words counts once."""
    once: dict[tuple[str | None, str], KeyFact] = {}
    for fact in sorted(facts, key=lambda f: (-f.importance, f.event_time, f.id)):
        once.setdefault((fact.user_id, " ".join(fact.content.casefold().split())), fact)
    chosen = list(once.values())[:count]
    return tuple(sorted(chosen, key=lambda f: (f.event_time, f.id)))


def key_facts_as_json(facts: Sequence[KeyFact]) -> str:
    """The key facts as the record keeps them."""
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
    """The inverse of `key_facts_as_json`. Raises ValueError, KeyError: not such a text."""
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
