"""Records, the rows of an agent's stores, and the names of those stores."""

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from varve.domain.calendar import Grain, Period, iso
from varve.domain.identity import digest
from varve.domain.metadata import Scalar, decode_metadata
from varve.domain.text import casefold_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"


class MemoryType(StrEnum):
    """What sort of knowledge a record holds."""

    FACT = "fact"
    TURN = "turn"
    SUMMARY = "summary"
    EPISODE = "episode"
    OUTCOME = "outcome"
    LESSON = "lesson"
    PRIOR_ANSWER = "prior_answer"
    FINDING = "finding"
    USAGE = "usage"
    NOTE = "note"


class Store(StrEnum):
    """The stores of an agent that belong to no grain and have their own retention."""

    EXPERIENCE = "experience"
    NOTES = "notes"


StoreName = Grain | Store
"""The name of one of an agent's LanceDB databases."""

GRAINS: tuple[StoreName, ...] = tuple(Grain)
"""The names of the calendar's stores."""
STORES: tuple[StoreName, ...] = (*GRAINS, *Store)
"""The names of all stores."""


def store_name(text: str) -> StoreName:
    """Return the store with this name. Raises ValueError: there is none."""
    return Store(text) if text in set(Store) else Grain(text)


def calendar_of(store: StoreName) -> Grain:
    """Return the grain of the store's periods; the others have yearly periods."""
    return store if isinstance(store, Grain) else Grain.YEARLY


@dataclass(frozen=True, slots=True)
class Record:
    """A record without its vector, which only the stores and the write queue carry.

    `event_time` is when it happened (for a turn, when it was said) and `created_at` when
    the system learnt it. `period` is the label of the period it was said in. `importance`
    and `confidence` lie in [0, 1]. `position` is the message's place in its conversation,
    from 0. `source_ids` are message ids for facts and turns, record ids for summaries.

    Only summaries have people, topics, open questions, key facts (as JSON) and, for each
    source id, the fingerprint that the source had. Their `about` is the first and the last
    local day of their sources (`as_span`). Rows of the experience store keep
    their details in `key_facts` (domain.experience.rows), and facts and turns the metadata
    of their messages (domain.metadata). The `source_fingerprints` of turns are their links
    to earlier turns (domain.statements.links). They may grow: a row with a
    smaller `position` never replaces one of the same id with a greater.
    """

    id: str
    memory_type: MemoryType
    content: str
    period: str
    event_time: datetime
    created_at: datetime
    source_ids: tuple[str, ...]
    conversation_id: str | None = None
    user_id: str | None = None
    about: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    position: int = 0
    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    source_fingerprints: tuple[str, ...] = ()
    key_facts: str = ""

    def gives_way_to(self, other: "Record") -> bool:
        """Return whether `other`, a row of the same id, replaces this one.

        It does if it says something else and its `position` is not smaller. A summary is
        never replaced by one that was made earlier. Such a delayed summary (a redriven
        dead letter) has fewer sources, but would settle the period's newer marks.
        """
        is_summary = self.memory_type is MemoryType.SUMMARY
        if is_summary and other.created_at < self.created_at:
            return False
        if other.position < self.position:
            return False
        return self.fingerprint != other.fingerprint

    @property
    def messages(self) -> frozenset[tuple[str | None, str]]:
        """The conversations and ids of the messages that a fact or turn was made from."""
        return frozenset(
            (self.conversation_id, id_) for id_ in self.source_ids
        )

    @property
    def words(self) -> str:
        """The content; a turn's without the speaker's name at its beginning."""
        if self.memory_type is MemoryType.TURN and self.about:
            return self.content.removeprefix(f"{self.about}: ")
        return self.content

    @property
    def metadata(self) -> dict[str, Scalar]:
        """The metadata of a fact's or turn's messages; other types have none."""
        if self.memory_type in (MemoryType.FACT, MemoryType.TURN):
            return decode_metadata(self.key_facts)
        return {}

    @property
    def links(self) -> tuple[str, ...]:
        """The links of a turn to earlier ones; other types have none."""
        if self.memory_type is MemoryType.TURN:
            return self.source_fingerprints
        return ()

    @property
    def fingerprint(self) -> str:
        """A hash of all fields but `created_at`, so that a repeated delivery has the same."""
        said = {name: getattr(self, name) for name in _FINGERPRINTED}
        said["event_time"] = iso(self.event_time)
        return digest(_FINGERPRINT.encode(said), length=32)


_FINGERPRINTED = [f.name for f in fields(Record) if f.name != "created_at"]
_FINGERPRINT = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write: how many records it added or changed, the store's version."""

    changed: int
    version: int


@dataclass(frozen=True)
class EmbeddedRecord:
    """A record with its vector: float32, unit length, its model's dimensions."""

    record: Record
    vector: Vector = field(compare=False)

    @cached_property
    def fingerprint(self) -> str:
        """The record's fingerprint, computed once."""
        return self.record.fingerprint


def as_span(first: str, last: str) -> str:
    """Return two local days as an ISO 8601 interval, `2026-03-02/2026-03-06`."""
    return f"{first}/{last}"


def span_of(about: str | None, period: str) -> tuple[str, str]:
    """Return the first and the last local day of a summary's sources.

    A summary of an older store has no span: it is then the whole period.
    """
    first, slash, last = (about or "").partition("/")
    if slash:
        return first, last
    days = Period.parse(period).days
    return days[0].isoformat(), days[1].isoformat()


IN_SHORT = -1
"""The number of the turn that tells a long message in short, beside its passages."""


def turn_id(conversation_id: str, message_id: str, passage: int = 0) -> str:
    """Return the id of a message's turn; a long message has passages, counted from 0."""
    return "turn-" + digest(
        conversation_id, message_id, str(passage), length=24
    )


def fact_id(
    conversation_id: str, message_ids: tuple[str, ...], content: str
) -> str:
    """Return the id of a fact, from the messages that say it and its content.

    Case and white space of the content do not count.
    """
    said = casefold_words(content)
    return "fact-" + digest(
        conversation_id, *sorted(message_ids), said, length=24
    )
