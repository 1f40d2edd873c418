"""One row of a grain's store: a fact, a turn or a summary."""

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from varve.domain.calendar import Grain, iso
from varve.domain.identity import digest

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


class Store(StrEnum):
    """Stores of an agent beside those of its grains, kept by a retention of their own."""

    EXPERIENCE = "experience"


StoreName = Grain | Store
"""One of an agent's LanceDB databases."""


GRAINS: tuple[StoreName, ...] = tuple(Grain)
"""Those of the calendar."""
STORES: tuple[StoreName, ...] = (*GRAINS, *Store)
"""All of them."""


def store_name(text: str) -> StoreName:
    """The store of that name. Raises ValueError: there is none."""
    return Store(text) if text in set(Store) else Grain(text)


def calendar_of(store: StoreName) -> Grain:
    """The grain of the store's periods: experience is kept by the year."""
    return store if isinstance(store, Grain) else Grain.YEARLY


@dataclass(frozen=True, slots=True)
class Record:
    """A record without its vector, which only the stores and the write queue carry.

    `event_time` is when it happened (for a turn, when it was said), `created_at` when we learnt it;
    `period` is the period it was said in. `importance` and `confidence` lie in [0, 1]; `position`
    is the message's place in its conversation, from 0. `source_ids` are message ids for facts and
    turns, record ids for summaries. Only summaries have people, topics, open questions, key facts (as
    JSON) and, beside each source id, the fingerprint that the source had. Rows of the experience store
    keep their details in `key_facts` (domain.experience.rows) and may grow: of two rows of one id a lesser
    `position` never replaces a greater.
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
        """Whether another row of the same id takes this one's place: it says something else, and no less.

        A summary gives way to none that was made before it: one that was held up (a dead letter, sent
        again) knows less, and settles what it does not know.
        """
        older = (
            self.memory_type is MemoryType.SUMMARY
            and self.created_at > other.created_at
        )
        return (
            self.fingerprint != other.fingerprint
            and self.position <= other.position
            and not older
        )

    @property
    def words(self) -> str:
        """The content without the speaker's name that a turn begins with."""
        of_turn = self.memory_type is MemoryType.TURN and self.about
        return self.content.removeprefix(f"{self.about}: ") if of_turn else self.content

    @property
    def fingerprint(self) -> str:
        """What the record says, hashed: equal for a repeated delivery, whenever that arrives."""
        said = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "created_at"
        }
        said["event_time"] = iso(self.event_time)
        return digest(json.dumps(said, sort_keys=True, ensure_ascii=False), length=32)


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: how many records were new or said anew, and the store's version that has them."""

    changed: int
    version: int


@dataclass(frozen=True, slots=True)
class EmbeddedRecord:
    """A record with its vector: float32, unit length, as many dimensions as its model gives."""

    record: Record
    vector: Vector = field(compare=False)


def turn_id(conversation_id: str, message_id: str, passage: int = 0) -> str:
    """The id of a message's turn; a long message has several passages, counted from 0."""
    return "turn-" + digest(conversation_id, message_id, str(passage), length=24)


def fact_id(conversation_id: str, message_ids: tuple[str, ...], content: str) -> str:
    """The id of a fact: where it was said and what it says, but for case and white space."""
    said = " ".join(content.casefold().split())
    return "fact-" + digest(conversation_id, *sorted(message_ids), said, length=24)
