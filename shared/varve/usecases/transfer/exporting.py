"""Export: everything that one agent's memory is, in files that need no software of ours to be read."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.domain.profile import entry_as_json
from varve.domain.record import STORES, EmbeddedRecord, StoreName
from varve.domain.triple import Triple, operation_as_json
from varve.domain.workspace import WorkspaceConfig
from varve.messages.encoding import fields_as_json
from varve.ports.knowledge import ProfileReader
from varve.ports.objects import Objects
from varve.ports.transfer import ExportWriter
from varve.usecases import timeline
from varve.usecases.session import Session

FORMAT, VERSION = "varve-export", 1
RECORDS, TRIPLES, PROFILES = "records", "triples", "profiles"
TIMELINE, TAKEN_IN, CONFIG = "timeline", "taken-in", "config"


def export(session: Session, writer: ExportWriter) -> dict[str, Any]:
    """Write one agent's memory out; return the manifest without the files' hashes.

    What was taken in is read first and the messages last: a conversation that arrives
    meanwhile may be in it in part; sent again after an import, it adds the rest.
    Raises Retryable.
    """
    scope = session.scope
    config = session.config
    objects = session.objects
    counts: dict[str, Any] = {
        TAKEN_IN: writer.lines(f"{TAKEN_IN}.jsonl", _taken_in(scope, objects)),
        PROFILES: writer.lines(f"{PROFILES}.jsonl", _profiles(scope, session.profiles)),
    }
    triples = session.graph.triples(scope)
    counts[TRIPLES] = writer.lines(f"{TRIPLES}.jsonl", map(_triple, triples))
    writer.triples(f"{TRIPLES}.parquet", triples)
    held = {grain: session.store.stores.embedded(scope, grain) for grain in STORES}
    rows = [
        (grain, str(model), e)
        for grain, (model, embedded) in held.items()
        for e in embedded
    ]
    writer.records(f"{RECORDS}.parquet", rows)
    writer.lines(f"{RECORDS}.jsonl", (_record(grain, e) for grain, _, e in rows))
    counts[RECORDS] = {
        str(grain): len(embedded) for grain, (_, embedded) in held.items()
    }
    counts[TIMELINE] = writer.lines(f"{TIMELINE}.jsonl", _timeline(scope, objects))
    writer.document(f"{CONFIG}.json", _config(config, scope.agent))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "exportedAt": iso(session.now),
        "timezone": config.timezone,
        "embeddingModels": {
            str(grain): model for grain, (model, _) in held.items() if model
        },
        "counts": counts,
    }
    writer.finish(manifest)
    return manifest


def _profiles(scope: Scope, profiles: ProfileReader) -> Iterator[dict[str, Any]]:
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
        "evidence": [operation_as_json(operation) for operation in triple.evidence],
    }


def _taken_in(scope: Scope, objects: Objects) -> Iterator[dict[str, Any]]:
    for conversation_id, noted in timeline.all_taken_in(scope, objects=objects):
        yield {"conversationId": conversation_id, **noted}


def _timeline(scope: Scope, objects: Objects) -> Iterator[dict[str, Any]]:
    """The messages day by day, those of a day by conversation and place."""
    for day in timeline.kept_days(scope, objects=objects):
        found = timeline.messages_of_day(day, scope, objects=objects)
        for conversation_id, line in sorted(
            found, key=lambda pair: (pair[0], pair[1]["position"])
        ):
            yield {"day": day, "conversationId": conversation_id, **line}


def _config(config: WorkspaceConfig, agent: str) -> Mapping[str, Any]:
    """The workspace's settings, of the agents' only the exported one's; keys are references, never keys."""
    tree: dict[str, Any] = json.loads(
        config.model_dump_json(by_alias=True, exclude_unset=True)
    )
    tree.get("models", {}).pop("movingFrom", None)
    if own := tree.pop("agents", {}).get(agent):
        tree["agents"] = {agent: own}
    return tree
