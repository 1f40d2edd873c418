"""The contents of an export, validated line by line before any of it is used."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from varve.domain.calendar import Grain, Period, parse_instant
from varve.domain.conversation import parse_conversation
from varve.domain.embedding import dimensions_of
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.identity import path_id, reference
from varve.domain.notes import Note
from varve.domain.profile import (
    ProfileEntry,
    entry_from_json,
    profile_key,
    profile_value,
)
from varve.domain.record import (
    MemoryType,
    Record,
    Store,
    StoreName,
    Vector,
    calendar_of,
    store_name,
)
from varve.domain.summary import is_own_id
from varve.domain.triple import Op, TripleOperation, operation_from_json
from varve.domain.validation import rejected
from varve.domain.workspace import WorkspaceConfig, parse_workspace_config
from varve.messages.encoding import fields_from_json
from varve.ports.transfer import ExportReader
from varve.usecases.transfer.details import CITING, require_details
from varve.usecases.transfer.exporting import (
    CONFIG,
    FORMAT,
    PROFILES,
    RECORDS,
    TAKEN_IN,
    TIMELINE,
    TRIPLES,
    VERSION,
)
from varve.usecases.transfer.notes import NOTES, parse_note

FILES = (
    *(
        f"{name}.jsonl"
        for name in (RECORDS, TRIPLES, PROFILES, TIMELINE, TAKEN_IN)
    ),
    f"{RECORDS}.parquet",
    f"{TRIPLES}.parquet",
    f"{CONFIG}.json",
)
_ID_HASH = re.compile(r"[0-9a-f]{16}")
_WORDS_HASH = re.compile(r"[0-9a-f]{8}")
_LAST_POSITION = 2**31 - 1
_BROKEN = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)

T = TypeVar("T")
Check = Callable[[Any], object]
"""Raises if a value is not valid."""
TimelineLine = dict[str, Any]
"""A message of the timeline as JSON values."""
Timeline = Mapping[tuple[str, str], list[TimelineLine]]
"""The timeline's lines by day and conversation."""
TakenInMessages = tuple[dict[str, str], int]
"""What is noted of a conversation: hashes of words by hash of id; how many were erased."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An export.

    `vectors` are by store and id, each with its model.
    """

    timezone: str
    config: WorkspaceConfig
    records: Mapping[StoreName, list[Record]]
    vectors: Mapping[tuple[str, str], tuple[str, Vector]] = field(repr=False)
    operations: Mapping[str, TripleOperation]
    entries: list[ProfileEntry]
    timeline: Timeline
    taken_in: Mapping[str, TakenInMessages]
    notes: list[Note]


def read_export(reader: ExportReader) -> Imported:
    """Read and validate an export. Raises Rejected: names file, line and field."""
    manifest = reader.manifest()
    _require("format", manifest, FORMAT)
    _require("version", manifest, VERSION)
    for name in FILES:
        if name not in manifest["files"]:
            raise Rejected("manifest.json: files", f"does not name {name}")
    document = json.dumps(reader.document(f"{CONFIG}.json"))
    config = parse_workspace_config(document.encode())
    _require("timezone", manifest, config.timezone)
    records = _read_records(reader)
    vectors = reader.vectors(f"{RECORDS}.parquet")
    _require_vectors(records, vectors)
    return Imported(
        timezone=config.timezone,
        config=config,
        records=records,
        vectors=vectors,
        operations=_read_operations(reader),
        entries=list(_parse_lines(reader, PROFILES, _parse_entry)),
        timeline=_read_timeline(reader),
        taken_in=dict(_parse_lines(reader, TAKEN_IN, _parse_taken_in)),
        notes=_read_notes(reader, manifest["files"]),
    )


def _read_notes(reader: ExportReader, files: Mapping[str, Any]) -> list[Note]:
    """Return the notes; an export of an earlier version has no file of them."""
    if f"{NOTES}.jsonl" not in files:
        return []
    return list(_parse_lines(reader, NOTES, parse_note))


def _require(name: str, manifest: Mapping[str, Any], expected: object) -> None:
    if manifest.get(name) != expected:
        given = repr(manifest.get(name))[:40]
        raise Rejected(
            f"manifest.json: {name}", f"is {given}; it must be {expected!r}"
        )


def _parse_lines(
    reader: ExportReader, name: str, parse: Callable[[Any], T]
) -> Iterator[T]:
    """Yield each parsed line. Raises Rejected: names file, line and field."""
    file = f"{name}.jsonl"
    for number, value in reader.lines(file):
        place = f"{file}: line {number}"
        try:
            if not isinstance(value, dict):
                raise Rejected("", "must be a JSON object")
            _require_encodable(value)
            yield parse(value)
        except (Rejected, ValidationError, *_BROKEN) as error:
            raise _locate(error, place) from error


def _require_encodable(value: object) -> None:
    """Raise ValueError for NaN, infinity and lone surrogates, which no store can hold."""
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _locate(error: Exception, place: str) -> Rejected:
    """Return an error that names the place of another one."""
    if isinstance(error, Rejected):
        field_place = f"{place}: {error.field}" if error.field else place
        return Rejected(field_place, error.reason)
    if isinstance(error, ValidationError):
        found = rejected(error)
        return Rejected(f"{place}: {to_camel(found.field)}", found.reason)
    if isinstance(error, KeyError):
        return Rejected(f"{place}: {error.args[0]}", "is missing")
    return Rejected(
        place, f"is not a line of this file ({type(error).__name__})"
    )


def _check(fields: Mapping[str, Any], /, **checks: Check) -> None:
    """Check each named field.

    Raises Rejected: names the field; KeyError: it is missing.
    """
    for name, check in checks.items():
        given = fields[name]
        try:
            check(given)
        except Rejected as error:
            raise Rejected(name, error.reason) from error
        except _BROKEN as error:
            shown = (
                ""
                if isinstance(given, dict | list)
                else f": {str(given)[:40]!r}"
            )
            raise Rejected(name, f"is not valid{shown}") from error


def _maybe(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _all(check: Check) -> Check:
    def check_all(values: Any) -> None:
        if not isinstance(values, list):
            raise TypeError("not an array")
        for value in values:
            check(value)

    return check_all


def _conversation(value: Any) -> str:
    return path_id(value, "")


def _reference(value: Any) -> str:
    return reference(value, "")


def _position(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not an integer")
    if not 0 <= value <= _LAST_POSITION:
        raise ValueError("not a position")


def _fraction(value: Any) -> None:
    if not 0 <= value <= 1:
        raise ValueError("not between 0 and 1")


def _read_records(reader: ExportReader) -> dict[StoreName, list[Record]]:
    records: dict[StoreName, dict[str, Record]] = {}
    lines = _parse_lines(reader, RECORDS, _parse_record)
    for number, (store, record) in enumerate(lines, start=1):
        known = records.setdefault(store, {})
        if record.id in known:
            place = f"{RECORDS}.jsonl: line {number}: id"
            raise Rejected(place, "is that of an earlier line")
        known[record.id] = record
    return {store: list(found.values()) for store, found in records.items()}


def _read_operations(reader: ExportReader) -> dict[str, TripleOperation]:
    operations: dict[str, TripleOperation] = {}
    for evidence in _parse_lines(reader, TRIPLES, _parse_evidence):
        for operation in evidence:
            operations[operation.id] = operation
    return operations


def _parse_record(value: dict[str, Any]) -> tuple[StoreName, Record]:
    cited: Check = str if value["memoryType"] in CITING else _reference
    _check(
        value,
        grain=store_name,
        id=_reference,
        memoryType=MemoryType,
        eventTime=parse_instant,
        createdAt=parse_instant,
        conversationId=_maybe(_conversation),
        userId=_maybe(_reference),
        sourceIds=_all(cited),
        position=_position,
        importance=_fraction,
        confidence=_fraction,
    )
    store, record = store_name(value["grain"]), fields_from_json(value)
    period = Period.parse(record.period, calendar_of(store))
    _require_place(store, record, period)
    require_details(record)
    return store, record


def _require_place(store: StoreName, record: Record, period: Period) -> None:
    """Check that the store holds the record's type, and the details of a summary.

    Facts and turns are in the working grain, summaries in the grains above it, and all
    other types in the experience store.
    """
    kind = record.memory_type
    if store is Store.EXPERIENCE:
        fits = kind not in (
            MemoryType.FACT,
            MemoryType.TURN,
            MemoryType.SUMMARY,
            MemoryType.NOTE,
        )
    elif store is Grain.WORKING:
        fits = kind in (MemoryType.FACT, MemoryType.TURN)
    else:
        fits = kind is MemoryType.SUMMARY and store is not Store.NOTES
    if not fits:
        raise Rejected("memoryType", f"is {kind}, which {store} does not hold")
    if kind is not MemoryType.SUMMARY:
        return
    if not is_own_id(record.id, period, record.user_id):
        raise Rejected("id", f"is not that of the summary of {period.label}")
    if len(record.source_ids) != len(record.source_fingerprints):
        raise Rejected("sourceFingerprints", "must be as many as sourceIds")


def _require_vectors(
    records: Mapping[StoreName, list[Record]],
    vectors: Mapping[tuple[str, str], tuple[str, Vector]],
) -> None:
    """Check that each record has a vector, as long as its model says."""
    file = f"{RECORDS}.parquet"
    keys: set[tuple[str, str]] = set()
    for store, found in records.items():
        keys.update((str(store), record.id) for record in found)
    if keys != vectors.keys():
        raise Rejected(file, f"holds other records than {RECORDS}.jsonl")
    for model, vector in vectors.values():
        try:
            dimensions = dimensions_of(model)
        except Misconfigured as error:
            raise Rejected(f"{file}: model", "names no dimensions") from error
        if len(vector) != dimensions or not np.isfinite(vector).all():
            raise Rejected(
                f"{file}: vector",
                f"is not {dimensions} numbers, as its model has",
            )


def _parse_evidence(value: dict[str, Any]) -> list[TripleOperation]:
    found: list[TripleOperation] = []
    for index, operation in enumerate(value["evidence"]):
        place = f"evidence[{index}]"
        try:
            _check(
                operation,
                op=Op,
                eventTime=parse_instant,
                createdAt=parse_instant,
                conversationId=_conversation,
                messageIds=_all(_reference),
                userId=_maybe(_reference),
            )
            found.append(operation_from_json(operation))
        except Rejected as error:
            raise Rejected(f"{place}.{error.field}", error.reason) from error
        except KeyError as error:
            raise Rejected(f"{place}.{error.args[0]}", "is missing") from error
    return found


def _parse_entry(value: dict[str, Any]) -> ProfileEntry:
    _check(
        value,
        userId=_reference,
        key=profile_key,
        value=profile_value,
        eventTime=parse_instant,
        createdAt=parse_instant,
        conversationId=_maybe(_conversation),
        messageIds=_all(_reference),
    )
    return entry_from_json(value)


def _parse_message(
    value: TimelineLine,
) -> tuple[tuple[str, str], TimelineLine]:
    """Return a message's day and conversation, and its line of the timeline."""
    _check(
        value,
        day=lambda day: Period.parse(day, Grain.WORKING),
        conversationId=_conversation,
        position=_position,
        at=parse_instant,
        message=lambda message: _reference(message["id"]),
    )
    if "userId" in value:
        _check(value, userId=_reference)
    line = dict(value)
    day = line.pop("day")
    conversation_id = line.pop("conversationId")
    parse_conversation(
        {"conversationId": conversation_id, "messages": [line["message"]]}
    )
    return (day, conversation_id), line


def _parse_taken_in(value: dict[str, Any]) -> tuple[str, TakenInMessages]:
    _check(
        value, conversationId=_conversation, messages=_hashes, erased=_position
    )
    return value["conversationId"], (value["messages"], value["erased"])


def _hashes(value: Any) -> None:
    for id_, words in value.items():
        if not _ID_HASH.fullmatch(id_) or not _WORDS_HASH.fullmatch(words):
            raise ValueError("not hashes of messages")


def _read_timeline(reader: ExportReader) -> Timeline:
    timeline: dict[tuple[str, str], list[TimelineLine]] = {}
    for place, line in _parse_lines(reader, TIMELINE, _parse_message):
        timeline.setdefault(place, []).append(line)
    return timeline
