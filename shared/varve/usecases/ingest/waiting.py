"""What waits for the model: conversations read by rules alone, and periods summed up so.

A mark is a small object in the ledger, put before what it speaks of. It holds ids and
times, no content and no user ids: `ledger/waiting/{workspace}/{agent}/{name}.json`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.damage import intact
from varve.domain.identity import Scope, digest
from varve.ports.objects import Objects

WAITING = "ledger/waiting"


@dataclass(frozen=True, slots=True)
class WaitingWords:
    """Messages of one conversation that rules alone have read, in order.

    `facts` (with their days), `operations` and `entries` are the ids of what the rules
    made of them. They go when the model has read the words.
    """

    conversation_id: str
    received_at: datetime
    messages: tuple[str, ...]
    facts: Mapping[str, str]
    operations: tuple[str, ...]
    entries: tuple[str, ...]

    @property
    def name(self) -> str:
        """The mark's name: the same for the same messages."""
        return digest(
            "words", self.conversation_id, self.messages[0], length=32
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "conversationId": self.conversation_id,
            "receivedAt": iso(self.received_at),
            "messages": list(self.messages),
            "facts": dict(self.facts),
            "operations": list(self.operations),
            "entries": list(self.entries),
        }

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> "WaitingWords":
        """Return the mark of JSON values. Raises KeyError, TypeError, ValueError."""
        return cls(
            body["conversationId"],
            parse_instant(body["receivedAt"]),
            tuple(body["messages"]),
            dict(body["facts"]),
            tuple(body["operations"]),
            tuple(body["entries"]),
        )


@dataclass(frozen=True, slots=True)
class WaitingPeriod:
    """A period with a summary that no model has written."""

    period: Period

    @property
    def name(self) -> str:
        """The mark's name: one for each period."""
        return digest(
            "period", self.period.grain, self.period.label, length=32
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"grain": str(self.period.grain), "period": self.period.label}


Mark = WaitingWords | WaitingPeriod


def folder_of(scope: Scope) -> str:
    """Return the folder of an agent's marks."""
    return f"{WAITING}/{scope}"


def key_of(scope: Scope, mark: Mark) -> str:
    """Return the key of a mark."""
    return f"{folder_of(scope)}/{mark.name}.json"


def put_mark(scope: Scope, mark: Mark, *, objects: Objects) -> None:
    """Note that this waits for the model. Raises Retryable."""
    data = json.dumps(mark.to_dict()).encode()
    objects.put(key_of(scope, mark), data)


def remove_marks(
    scope: Scope, marks: Sequence[Mark], *, objects: Objects
) -> None:
    """Remove marks that are settled. Raises Retryable."""
    if marks:
        objects.delete([key_of(scope, mark) for mark in marks])


def read_marks(scope: Scope, *, objects: Objects) -> Iterator[Mark]:
    """Yield the agent's marks. Raises Damaged: one cannot be read; Retryable."""
    for info in objects.list(folder_of(scope)):
        stored = objects.get(info.key)
        if stored is None:
            continue
        with intact(info.key):
            body = json.loads(stored.data)
            if "period" in body:
                yield WaitingPeriod(
                    Period.parse(body["period"], Grain(body["grain"]))
                )
            else:
                yield WaitingWords.from_dict(body)


def waiting_agents(objects: Objects) -> list[Scope]:
    """Return all agents with marks, by name: one request per 1,000 marks."""
    found: dict[Scope, None] = {}
    for info in objects.list(WAITING):
        _, _, workspace, agent, _ = info.key.split("/")
        found[Scope(workspace, agent)] = None
    return list(found)
