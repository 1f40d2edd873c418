"""An export without what its target has forgotten."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from varve.domain.calendar import parse_instant
from varve.domain.erasure import MessageKey, Tombstones, owners
from varve.usecases.timeline import taken_in_as
from varve.usecases.transfer.imported import Imported


def without_forgotten(imported: Imported, tombs: Tombstones) -> tuple[Imported, int]:
    """What of the export may come (back), and how much of it may not.

    The writer would hold records, triples and statements back as well; messages go past it.
    """
    if not tombs:
        return imported, 0
    barred = set(_barred_messages(imported, tombs))
    hashes: dict[str, set[str]] = {}
    for conversation_id, message_id in barred:
        hashes.setdefault(conversation_id, set()).add(taken_in_as(message_id))
    kept = replace(
        imported,
        records={
            s: [r for r in rows if not tombs.bars_record(r)]
            for s, rows in imported.records.items()
        },
        operations={
            k: o for k, o in imported.operations.items() if not tombs.bars_operation(o)
        },
        entries=[entry for entry in imported.entries if not tombs.bars_entry(entry)],
        timeline={
            place: [
                line
                for line in lines
                if (place[1], line["message"]["id"]) not in barred
            ]
            for place, lines in imported.timeline.items()
        },
        taken_in={
            conversation_id: (
                {
                    id_: words
                    for id_, words in messages.items()
                    if id_ not in hashes.get(conversation_id, ())
                },
                erased,
            )
            for conversation_id, (messages, erased) in imported.taken_in.items()
        },
    )
    return kept, _size(imported) - _size(kept)


def _barred_messages(imported: Imported, tombs: Tombstones) -> Iterator[MessageKey]:
    """The messages that have been forgotten: an answer belongs to whom it answers, also on the next day."""
    conversations: dict[str, list[dict[str, Any]]] = {}
    for (_, conversation_id), lines in imported.timeline.items():
        conversations.setdefault(conversation_id, []).extend(lines)
    for conversation_id, found in conversations.items():
        lines = sorted(found, key=lambda line: line["position"])
        whose = owners((line["message"]["role"], line.get("userId")) for line in lines)
        for line, users in zip(lines, whose, strict=True):
            key = conversation_id, line["message"]["id"]
            if tombs.bars_message(key, users, parse_instant(line["at"])):
                yield key


def _size(imported: Imported) -> int:
    records, messages = imported.records.values(), imported.timeline.values()
    return (
        sum(map(len, records))
        + len(imported.operations)
        + len(imported.entries)
        + sum(map(len, messages))
    )
