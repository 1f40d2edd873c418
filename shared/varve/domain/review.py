"""What a person should look at: doubtful statements, and requests to forget."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What speaks against a statement: a record, or the graph (`id` is None)."""

    id: str | None
    content: str
    date: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"id": self.id, "content": self.content, "date": self.date}


@dataclass(frozen=True, slots=True)
class DoubtfulStatement:
    """A statement that holds, that nothing has confirmed since `confirmed_at`.

    `date` is the local day on which it was said.
    """

    id: str
    content: str
    memory_type: str
    user_id: str | None
    date: str
    confirmed_at: str
    contradicted_by: Contradiction

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "id": self.id,
            "content": self.content,
            "memoryType": self.memory_type,
            "userId": self.user_id,
            "date": self.date,
            "confirmedAt": self.confirmed_at,
            "contradictedBy": self.contradicted_by.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A user (None: records without one) with too many records to compare."""

    user_id: str | None
    records: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"userId": self.user_id, "records": self.records}


@dataclass(frozen=True, slots=True)
class Review:
    """Doubtful statements, oldest first, and the proposals to forget that wait.

    `complete` is False if there are more statements, or if those of the users in
    `not_compared` were left out.
    """

    statements: tuple[DoubtfulStatement, ...]
    proposals: tuple[dict[str, Any], ...] = field(default=())
    complete: bool = True
    not_compared: tuple[NotCompared, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "statements": [one.to_dict() for one in self.statements],
            "proposals": list(self.proposals),
            "complete": self.complete,
            "notCompared": [one.to_dict() for one in self.not_compared],
        }
