"""Show one record with its sources: for a fact or a turn, the messages it came from."""

from typing import Any

from varve.domain.calendar import Grain, iso
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.record import Record
from varve.pipeline.timeline import messages_on
from varve.ports import MemoryReader, Objects


def show(scope: Scope, record_id: str, *, reader: MemoryReader, objects: Objects) -> dict[str, Any]:
    """The record and its sources as JSON values. Raises Rejected: there is no such record."""
    for grain in Grain:
        for record in reader.get(scope, grain, [record_id]):
            return _record(record, grain) | {"sources": _sources(scope, record, objects)}
    raise Rejected("id", f"there is no record {record_id[:80]!r} in {scope}")


def _record(record: Record, grain: Grain) -> dict[str, Any]:
    return {
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


def _sources(scope: Scope, record: Record, objects: Objects) -> list[dict[str, Any]]:
    """The messages as they came, as far as the timeline still keeps them."""
    if record.conversation_id is None:
        return []
    lines = messages_on(record.period, scope, record.conversation_id, objects=objects)
    return [
        {"at": line["at"], **line["message"]} for line in lines if line["message"]["id"] in record.source_ids
    ]
