"""Show one record with its sources, level by level, down to the messages while they are kept."""

from collections.abc import Iterable
from typing import Any

from varve.domain.calendar import Grain, iso
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.validation import valid_text
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.usecases.session import Session
from varve.usecases.timeline import messages_of_day, messages_on


def show(session: Session, record_id: str, depth: int | None = None) -> dict[str, Any]:
    """Return a record and its sources as JSON values, `depth` levels (None: all).

    A summary's sources are records with sources of their own; a fact's and a turn's are
    messages. Of a source that retention has deleted only the id is left, or, for a
    turn, the message it repeated. Raises Rejected: there is no such record.
    """
    scope = session.scope
    reader = session.records.at(scope)
    valid_text(record_id, "id")
    for grain in Grain:
        for record in reader.get(scope, grain, [record_id]):
            return _Tree(scope, reader, session.objects).shown(record, grain, depth)
    raise Rejected("id", f"there is no record {record_id[:80]!r} in {scope}")


class _Tree:
    """One agent's records below a record."""

    def __init__(self, scope: Scope, reader: MemoryReader, objects: Objects) -> None:
        self._scope, self._reader, self._objects = scope, reader, objects

    def shown(self, record: Record, grain: Grain, depth: int | None) -> dict[str, Any]:
        if depth == 0:
            return _record(record, grain)
        below = None if depth is None else depth - 1
        is_summary = record.memory_type is MemoryType.SUMMARY
        sources = (
            self._records(record, grain, below)
            if is_summary
            else self._messages(record)
        )
        return _record(record, grain) | {"sources": list(sources)}

    def _records(
        self, summary: Record, grain: Grain, depth: int | None
    ) -> Iterable[dict[str, Any]]:
        child = grain.child or Grain.WORKING
        kept = {
            r.id: r for r in self._reader.get(self._scope, child, summary.source_ids)
        }
        said = (
            {}
            if kept.keys() >= set(summary.source_ids)
            else self._turns_of(summary, grain)
        )
        for id_ in summary.source_ids:
            if id_ in kept:
                yield self.shown(kept[id_], child, depth)
            else:
                yield {"id": id_, "expired": True, **said.get(id_, {})}

    def _turns_of(self, summary: Record, grain: Grain) -> dict[str, dict[str, Any]]:
        """The messages of a day by the ids of the turns that repeated them."""
        if grain is not Grain.DAILY:
            return {}
        lines = messages_of_day(summary.period, self._scope, objects=self._objects)
        return {
            turn_id(conversation, line["message"]["id"]): _message(line)
            for conversation, line in lines
        }

    def _messages(self, record: Record) -> Iterable[dict[str, Any]]:
        if record.conversation_id is None:
            return []
        lines = messages_on(
            record.period, self._scope, record.conversation_id, objects=self._objects
        )
        return [
            _message(line)
            for line in lines
            if line["message"]["id"] in record.source_ids
        ]


def _message(line: dict[str, Any]) -> dict[str, Any]:
    return {"at": line["at"], **line["message"]}


def _record(record: Record, grain: Grain) -> dict[str, Any]:
    shown = {
        "id": record.id,
        "grain": str(grain),
        "memoryType": str(record.memory_type),
        "content": record.content,
        "period": record.period,
        "eventTime": iso(record.event_time),
        "createdAt": iso(record.created_at),
        "about": record.about,
        "userId": record.user_id,
        "conversationId": record.conversation_id,
        "importance": record.importance,
        "confidence": record.confidence,
        "sourceIds": list(record.source_ids),
    }
    if record.memory_type is MemoryType.SUMMARY:
        shown |= {
            "people": list(record.people),
            "topics": list(record.topics),
            "openQuestions": list(record.open_questions),
        }
    return shown
