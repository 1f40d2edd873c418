"""What an extractor is given and what it gives back, whether a model or rules do the reading."""

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.identity import Scope
from varve.domain.triple import TripleOperation


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message as an extractor sees it: words only, with its speaker and its time in UTC."""

    message_id: str
    role: str
    speaker: str
    text: str
    said_at: datetime
    user_id: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive messages of one conversation: `utterances` to extract from, `context` before them.

    `zone` is the workspace's, in which "last Friday" is meant; `created_at` is when the messages came.
    """

    scope: Scope
    conversation_id: str
    utterances: tuple[Utterance, ...]
    context: tuple[Utterance, ...]
    zone: ZoneInfo
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic statement that stands by itself: no pronouns without a name, no relative dates."""

    content: str
    about: str
    event_time: datetime
    message_ids: tuple[str, ...]
    importance: float = 0.5
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a batch says: facts, and operations on the triples."""

    facts: tuple[Fact, ...] = field(default=())
    operations: tuple[TripleOperation, ...] = field(default=())
