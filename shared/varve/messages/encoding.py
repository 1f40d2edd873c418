"""Records, vectors and ledger changes as JSON values for the queues."""

import base64
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from varve.domain.calendar import iso, parse_instant
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, noted_grain, require_own
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Vector

_RECORD = TypeAdapter(Record)


def record_as_json(embedded: EmbeddedRecord) -> dict[str, Any]:
    """Return a record and its vector as JSON values; the inverse of `record_from_json`."""
    fields = fields_as_json(embedded.record)
    return {**fields, "vector": _vector_as_text(embedded.vector)}


def fields_as_json(record: Record) -> dict[str, Any]:
    """Return a record as JSON values; the inverse of `fields_from_json`."""
    return {
        "id": record.id,
        "memoryType": str(record.memory_type),
        "content": record.content,
        "period": record.period,
        "eventTime": iso(record.event_time),
        "createdAt": iso(record.created_at),
        "sourceIds": list(record.source_ids),
        "conversationId": record.conversation_id,
        "userId": record.user_id,
        "about": record.about,
        "importance": record.importance,
        "confidence": record.confidence,
        "position": record.position,
        "people": list(record.people),
        "topics": list(record.topics),
        "openQuestions": list(record.open_questions),
        "sourceFingerprints": list(record.source_fingerprints),
        "keyFacts": record.key_facts,
    }


def record_from_json(value: dict[str, Any]) -> EmbeddedRecord:
    """Return the record and vector of JSON values.

    Raises KeyError, TypeError, ValueError: the values are not a record's.
    """
    record = fields_from_json(value)
    vector = _vector_from_text(value["vector"])
    return EmbeddedRecord(record, vector)


def fields_from_json(value: dict[str, Any]) -> Record:
    """Return the record of JSON values.

    Raises KeyError, TypeError, ValueError: the values are not a record's.
    """
    fields = {
        "id": value["id"],
        "memory_type": MemoryType(value["memoryType"]),
        "content": value["content"],
        "period": value["period"],
        "event_time": parse_instant(value["eventTime"]),
        "created_at": parse_instant(value["createdAt"]),
        "source_ids": tuple(value["sourceIds"]),
        "conversation_id": value["conversationId"],
        "user_id": value["userId"],
        "about": value["about"],
        "importance": value["importance"],
        "confidence": value["confidence"],
        "position": value["position"],
        "people": tuple(value["people"]),
        "topics": tuple(value["topics"]),
        "open_questions": tuple(value["openQuestions"]),
        "source_fingerprints": tuple(value["sourceFingerprints"]),
        "key_facts": value["keyFacts"],
    }
    return _RECORD.validate_python(fields)


def _vector_as_text(vector: Vector) -> str:
    """Encode a vector as base64 of little-endian float16, the precision of the stores."""
    data = vector.astype("<f2").tobytes()
    return base64.b64encode(data).decode()


def _vector_from_text(text: str) -> Vector:
    import numpy as np

    data = base64.b64decode(text, validate=True)
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


def ledger_as_json(changes: LedgerChanges) -> dict[str, Any]:
    """Return the ledger changes of a write as JSON values."""
    return {
        "settles": list(changes.settles),
        "expiries": list(changes.expiries),
    }


def ledger_from_json(body: dict[str, Any], scope: Scope) -> LedgerChanges:
    """Return the ledger changes of JSON values.

    Raises KeyError, TypeError: not ledger changes; Rejected: another agent's.
    """
    settles = tuple(body["settles"])
    expiries = tuple(body["expiries"])
    changes = LedgerChanges(settles, expiries)
    require_own((*changes.settles, *changes.expiries), scope)
    return changes


def notes_from_json(notes: Sequence[str], scope: Scope) -> tuple[str, ...]:
    """Check notes of expiry from a message and return them.

    Raises Rejected: another agent's; ValueError: not a note of expiry.
    """
    require_own(notes, scope)
    for note in notes:
        noted_grain(note)
    return tuple(notes)
