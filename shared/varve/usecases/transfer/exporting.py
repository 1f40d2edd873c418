"""Export: one agent's whole memory, in JSON and Parquet files."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.domain.profile import entry_as_json
from varve.domain.record import GRAINS, EmbeddedRecord, Store, StoreName
from varve.domain.triple import Triple, operation_as_json
from varve.domain.workspace import WorkspaceConfig
from varve.messages.encoding import fields_as_json
from varve.ports.knowledge import ProfileReader
from varve.ports.meter import doing
from varve.ports.objects import Objects
from varve.ports.transfer import ExportWriter
from varve.usecases import timeline
from varve.usecases.ingest.taken_in import read_taken_in
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.usecases.session import Session
from varve.usecases.transfer.notes import NOTES, list_note_lines

FORMAT = "varve-export"
VERSION = 1
RECORDS = "records"
TRIPLES = "triples"
PROFILES = "profiles"
TIMELINE = "timeline"
TAKEN_IN = "taken-in"
CONFIG = "config"

ExportRow = tuple[StoreName, str, EmbeddedRecord]
"""A record with its store and the embedding model of its vector."""


@doing("export")
def export(
    session: Session, writer: ExportWriter, progress: Progress = no_progress
) -> dict[str, Any]:
    """Write one agent's memory; return the manifest without the files' hashes.

    The lists of messages taken in are read first and the messages last. So a conversation
    that arrives meanwhile may be exported in part. Sent again after an import, it adds the
    rest. Raises Retryable.
    """
    scope = session.scope
    objects = session.objects
    counts: dict[str, Any] = {}
    counts[TAKEN_IN] = writer.lines(
        f"{TAKEN_IN}.jsonl", _taken_in(scope, objects)
    )
    profiles = _profiles(scope, session.profiles)
    counts[PROFILES] = writer.lines(f"{PROFILES}.jsonl", profiles)
    triples = session.graph.triples(scope)
    counts[TRIPLES] = writer.lines(f"{TRIPLES}.jsonl", map(_triple, triples))
    writer.triples(f"{TRIPLES}.parquet", triples)
    notes = list_note_lines(scope, objects=objects)
    counts[NOTES] = writer.lines(f"{NOTES}.jsonl", notes)
    rows, models, counts[RECORDS] = _read_rows(session)
    writer.records(f"{RECORDS}.parquet", rows)
    step = StepCounter("records", len(rows), progress)
    records = (_record(store, one) for store, _, one in step.count(rows))
    writer.lines(f"{RECORDS}.jsonl", records)
    days = list(timeline.list_days(scope, objects=objects))
    counted = StepCounter("days", len(days), progress).count(days)
    lines = _timeline(scope, counted, objects)
    counts[TIMELINE] = writer.lines(f"{TIMELINE}.jsonl", lines)
    writer.document(f"{CONFIG}.json", _config(session.config, scope.agent))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "exportedAt": iso(session.now),
        "timezone": session.config.timezone,
        "embeddingModels": models,
        "counts": counts,
    }
    writer.finish(manifest)
    return manifest


def _read_rows(
    session: Session,
) -> tuple[list[ExportRow], dict[str, str], dict[str, int]]:
    """Return all records, and by store the models of non-empty stores and the counts."""
    rows: list[ExportRow] = []
    models: dict[str, str] = {}
    counts: dict[str, int] = {}
    # The records of notes are made from the notes again.
    for store in (*GRAINS, Store.EXPERIENCE):
        model, embedded = session.store.stores.embedded(session.scope, store)
        if model:
            models[str(store)] = model
        counts[str(store)] = len(embedded)
        rows += [(store, str(model), one) for one in embedded]
    return rows, models, counts


def _profiles(
    scope: Scope, profiles: ProfileReader
) -> Iterator[dict[str, Any]]:
    for user_id in profiles.users(scope):
        yield from map(entry_as_json, profiles.entries(scope, user_id))


def _record(grain: StoreName, embedded: EmbeddedRecord) -> dict[str, Any]:
    return {"grain": str(grain), **fields_as_json(embedded.record)}


def _triple(triple: Triple) -> dict[str, Any]:
    return {
        "id": triple.id,
        "sourceId": triple.source_id,
        "label": triple.label,
        "targetId": triple.target_id,
        "validAt": iso(triple.valid_at),
        "invalidAt": iso(triple.invalid_at) if triple.invalid_at else None,
        "createdAt": iso(triple.created_at),
        "expiredAt": iso(triple.expired_at) if triple.expired_at else None,
        "confidence": triple.confidence,
        "evidence": [
            operation_as_json(operation) for operation in triple.evidence
        ],
    }


def _taken_in(scope: Scope, objects: Objects) -> Iterator[dict[str, Any]]:
    for conversation_id, noted in read_taken_in(scope, objects=objects):
        yield {"conversationId": conversation_id, **noted}


def _timeline(
    scope: Scope, days: Iterable[str], objects: Objects
) -> Iterator[dict[str, Any]]:
    """Yield the messages day by day; in a day by conversation and position."""

    def by_place(pair: tuple[str, dict[str, Any]]) -> tuple[str, int]:
        conversation_id, line = pair
        return conversation_id, line["position"]

    for day in days:
        found = list(timeline.messages_of_day(day, scope, objects=objects))
        found.sort(key=by_place)
        for conversation_id, line in found:
            yield {"day": day, "conversationId": conversation_id, **line}


def _config(config: WorkspaceConfig, agent: str) -> Mapping[str, Any]:
    """Return the workspace's settings, without those of other agents.

    Keys are exported as references, never as the keys themselves.
    """
    text = config.model_dump_json(by_alias=True, exclude_unset=True)
    tree: dict[str, Any] = json.loads(text)
    tree.get("models", {}).pop("movingFrom", None)
    own = tree.pop("agents", {}).get(agent)
    if own:
        tree["agents"] = {agent: own}
    return tree
