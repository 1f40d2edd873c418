"""What an export holds, validated line by line before anything of it is used."""

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
from varve.domain.summary import summary_id
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

FILES = (
    *(f"{name}.jsonl" for name in (RECORDS, TRIPLES, PROFILES, TIMELINE, TAKEN_IN)),
    f"{RECORDS}.parquet",
    f"{TRIPLES}.parquet",
    f"{CONFIG}.json",
)
_SHORT = re.compile(r"[0-9a-f]{16}")
_WORDS = re.compile(r"[0-9a-f]{8}")
_LAST_PLACE = 2**31 - 1
_BROKEN = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)

T = TypeVar("T")
Check = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Imported:
    """An export: `vectors` by store and id, each with its model; `timeline` by day and conversation."""

    timezone: str
    config: WorkspaceConfig
    records: Mapping[StoreName, list[Record]]
    vectors: Mapping[tuple[str, str], tuple[str, Vector]] = field(repr=False)
    operations: Mapping[str, TripleOperation]
    entries: list[ProfileEntry]
    timeline: Mapping[tuple[str, str], list[dict[str, Any]]]
    taken_in: Mapping[str, tuple[dict[str, str], int]]


def read(reader: ExportReader) -> Imported:
    """All of it. Raises Rejected: the file, the line and the field that are not as they should be."""
    manifest = reader.manifest()
    _require("format", manifest, FORMAT)
    _require("version", manifest, VERSION)
    for name in FILES:
        if name not in manifest["files"]:
            raise Rejected("manifest.json: files", f"does not name {name}")
    config = parse_workspace_config(
        json.dumps(reader.document(f"{CONFIG}.json")).encode()
    )
    _require("timezone", manifest, config.timezone)
    records = _records(reader)
    vectors = reader.vectors(f"{RECORDS}.parquet")
    _require_vectors(records, vectors)
    return Imported(
        timezone=config.timezone,
        config=config,
        records=records,
        vectors=vectors,
        operations={
            o.id: o for line in _each(reader, TRIPLES, _evidence) for o in line
        },
        entries=list(_each(reader, PROFILES, _entry)),
        timeline=_grouped(_each(reader, TIMELINE, _message)),
        taken_in=dict(_each(reader, TAKEN_IN, _taken_in)),
    )


def _require(name: str, manifest: Mapping[str, Any], expected: object) -> None:
    if manifest.get(name) != expected:
        given = repr(manifest.get(name))[:40]
        raise Rejected(f"manifest.json: {name}", f"is {given}; it must be {expected!r}")


def _each(reader: ExportReader, name: str, parse: Callable[[Any], T]) -> Iterator[T]:
    """Each line parsed; what is wrong with one is said with its file, number and field."""
    file = f"{name}.jsonl"
    for number, value in reader.lines(file):
        place = f"{file}: line {number}"
        try:
            if not isinstance(value, dict):
                raise Rejected("", "must be a JSON object")
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
            yield parse(value)
        except Rejected as error:
            raise Rejected(
                ": ".join(filter(None, (place, error.field))), error.reason
            ) from error
        except ValidationError as error:
            found = rejected(error)
            raise Rejected(f"{place}: {to_camel(found.field)}", found.reason) from error
        except KeyError as error:
            raise Rejected(f"{place}: {error.args[0]}", "is missing") from error
        except _BROKEN as error:
            raise Rejected(
                place, f"is not a line of this file ({type(error).__name__})"
            ) from error


def _check(fields: Mapping[str, Any], /, **checks: Check) -> None:
    """Each named field by its check. Raises Rejected: names the field; KeyError: there is none."""
    for name, check in checks.items():
        given = fields[name]
        try:
            check(given)
        except Rejected as error:
            raise Rejected(name, error.reason) from error
        except _BROKEN as error:
            shown = "" if isinstance(given, dict | list) else f": {str(given)[:40]!r}"
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


def _place(value: Any) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not 0 <= value <= _LAST_PLACE
    ):
        raise ValueError("not a place")


def _share(value: Any) -> None:
    if not 0 <= value <= 1:
        raise ValueError("not between 0 and 1")


def _records(reader: ExportReader) -> dict[StoreName, list[Record]]:
    records: dict[StoreName, dict[str, Record]] = {}
    for number, (store, record) in enumerate(_each(reader, RECORDS, _record), start=1):
        if record.id in records.setdefault(store, {}):
            raise Rejected(
                f"{RECORDS}.jsonl: line {number}: id", "is that of an earlier line"
            )
        records[store][record.id] = record
    return {store: list(found.values()) for store, found in records.items()}


def _record(value: dict[str, Any]) -> tuple[StoreName, Record]:
    _check(
        value,
        grain=store_name,
        id=_reference,
        memoryType=MemoryType,
        eventTime=parse_instant,
        createdAt=parse_instant,
        conversationId=_maybe(_conversation),
        userId=_maybe(_reference),
        sourceIds=_all(str if value["memoryType"] in CITING else _reference),
        position=_place,
        importance=_share,
        confidence=_share,
    )
    store, record = store_name(value["grain"]), fields_from_json(value)
    period = Period.parse(record.period, calendar_of(store))
    _require_place(store, record, period)
    require_details(record)
    return store, record


def _require_place(store: StoreName, record: Record, period: Period) -> None:
    """Facts and turns are working memory, summaries the grains above, all else is experience."""
    kind = record.memory_type
    if store is Store.EXPERIENCE:
        fits = kind not in (MemoryType.FACT, MemoryType.TURN, MemoryType.SUMMARY)
    elif store is Grain.WORKING:
        fits = kind in (MemoryType.FACT, MemoryType.TURN)
    else:
        fits = kind is MemoryType.SUMMARY
    if not fits:
        raise Rejected("memoryType", f"is {kind}, which {store} does not hold")
    if kind is not MemoryType.SUMMARY:
        return
    if record.id != summary_id(period):
        raise Rejected("id", f"is not that of the summary of {period.label}")
    if len(record.source_ids) != len(record.source_fingerprints):
        raise Rejected("sourceFingerprints", "must be as many as sourceIds")


def _require_vectors(
    records: Mapping[StoreName, list[Record]],
    vectors: Mapping[tuple[str, str], tuple[str, Vector]],
) -> None:
    file = f"{RECORDS}.parquet"
    keys = {
        (str(store), record.id) for store, found in records.items() for record in found
    }
    if keys != vectors.keys():
        raise Rejected(file, f"holds other records than {RECORDS}.jsonl")
    for model, vector in vectors.values():
        try:
            dimensions = dimensions_of(model)
        except Misconfigured as error:
            raise Rejected(f"{file}: model", "names no dimensions") from error
        if len(vector) != dimensions or not np.isfinite(vector).all():
            raise Rejected(
                f"{file}: vector", f"is not {dimensions} numbers, as its model has"
            )


def _evidence(value: dict[str, Any]) -> list[TripleOperation]:
    found = []
    for index, operation in enumerate(value["evidence"]):
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
            raise Rejected(f"evidence[{index}].{error.field}", error.reason) from error
        except KeyError as error:
            raise Rejected(
                f"evidence[{index}].{error.args[0]}", "is missing"
            ) from error
    return found


def _entry(value: dict[str, Any]) -> ProfileEntry:
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


def _message(value: dict[str, Any]) -> tuple[tuple[str, str], dict[str, Any]]:
    """A message's day and conversation, and its line of the timeline."""
    _check(
        value,
        day=lambda day: Period.parse(day, Grain.WORKING),
        conversationId=_conversation,
        position=_place,
        at=parse_instant,
        message=lambda message: _reference(message["id"]),
    )
    if "userId" in value:
        _check(value, userId=_reference)
    parse_conversation(
        {"conversationId": value["conversationId"], "messages": [value["message"]]}
    )
    line = {
        name: part
        for name, part in value.items()
        if name not in ("day", "conversationId")
    }
    return (value["day"], value["conversationId"]), line


def _taken_in(value: dict[str, Any]) -> tuple[str, tuple[dict[str, str], int]]:
    _check(value, conversationId=_conversation, messages=_hashes, erased=_place)
    return value["conversationId"], (value["messages"], value["erased"])


def _hashes(value: Any) -> None:
    for id_, words in value.items():
        if not _SHORT.fullmatch(id_) or not _WORDS.fullmatch(words):
            raise ValueError("not hashes of messages")


def _grouped(
    lines: Iterator[tuple[tuple[str, str], dict[str, Any]]],
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for place, line in lines:
        grouped.setdefault(place, []).append(line)
    return grouped
