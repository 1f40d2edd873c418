"""An export without what its target has forgotten."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from varve.domain.calendar import parse_instant
from varve.domain.erasure import MessageKey, Tombstones, owners
from varve.domain.record import Record, StoreName
from varve.usecases.ingest.taken_in import hash_message_id
from varve.usecases.transfer.imported import (
    Imported,
    TakenInMessages,
    Timeline,
    TimelineLine,
)
from varve.usecases.transfer.notes import drop_forgotten_notes


def drop_forgotten(
    imported: Imported, tombs: Tombstones
) -> tuple[Imported, int]:
    """Return the export without what the target has forgotten, and how much that is.

    The writer would hold back records, triples and profile entries as well. Messages do
    not pass through the writer.
    """
    if not tombs:
        return imported, 0
    barred = set(_find_barred_messages(imported, tombs))
    records: dict[StoreName, list[Record]] = {}
    for store, rows in imported.records.items():
        records[store] = [row for row in rows if not tombs.bars_record(row)]
    operations = {
        id_: operation
        for id_, operation in imported.operations.items()
        if not tombs.bars_operation(operation)
    }
    entries = [one for one in imported.entries if not tombs.bars_entry(one)]
    kept = replace(
        imported,
        records=records,
        operations=operations,
        entries=entries,
        notes=drop_forgotten_notes(imported.notes, tombs),
        timeline=_drop_lines(imported, barred),
        taken_in=_drop_taken_in(imported.taken_in, barred),
    )
    return kept, _count(imported) - _count(kept)


def _drop_lines(imported: Imported, barred: set[MessageKey]) -> Timeline:
    def stays(conversation_id: str, line: TimelineLine) -> bool:
        return (conversation_id, line["message"]["id"]) not in barred

    left: dict[tuple[str, str], list[TimelineLine]] = {}
    for place, lines in imported.timeline.items():
        left[place] = [line for line in lines if stays(place[1], line)]
    return left


def _drop_taken_in(
    taken_in: Mapping[str, TakenInMessages], barred: set[MessageKey]
) -> dict[str, TakenInMessages]:
    """Return the lists of messages taken in, without the barred messages."""
    hashes: dict[str, set[str]] = {}
    for conversation_id, message_id in barred:
        hashes.setdefault(conversation_id, set()).add(
            hash_message_id(message_id)
        )
    kept: dict[str, TakenInMessages] = {}
    for conversation_id, (messages, erased) in taken_in.items():
        doomed = hashes.get(conversation_id, set())
        left = {
            id_: words for id_, words in messages.items() if id_ not in doomed
        }
        kept[conversation_id] = (left, erased)
    return kept


def _find_barred_messages(
    imported: Imported, tombs: Tombstones
) -> Iterator[MessageKey]:
    """Yield the forgotten messages.

    An answer also belongs to the user it answers, even on the next day.
    """
    conversations: dict[str, list[TimelineLine]] = {}
    for (_, conversation_id), lines in imported.timeline.items():
        conversations.setdefault(conversation_id, []).extend(lines)
    for conversation_id, found in conversations.items():
        lines = sorted(found, key=lambda line: line["position"])
        whose = owners(
            (line["message"]["role"], line.get("userId")) for line in lines
        )
        for line, users in zip(lines, whose, strict=True):
            key = (conversation_id, line["message"]["id"])
            if tombs.bars_message(key, users, parse_instant(line["at"])):
                yield key


def _count(imported: Imported) -> int:
    records = sum(len(rows) for rows in imported.records.values())
    messages = sum(len(lines) for lines in imported.timeline.values())
    others = (imported.operations, imported.entries, imported.notes)
    return records + messages + sum(map(len, others))
