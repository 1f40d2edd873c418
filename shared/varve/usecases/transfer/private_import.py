"""An export filtered by the target's privacy; ids and speakers' names stay."""

import json
from collections.abc import Callable
from dataclasses import replace

from varve.domain.personal import map_strings
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType, Record, StoreName
from varve.domain.triple import TripleOperation
from varve.usecases.privacy import filter_operation
from varve.usecases.transfer.imported import Imported, TimelineLine
from varve.usecases.transfer.notes import filter_note

_KEPT = frozenset({"id", "role", "name", "timestamp", "userId"})
"""Fields of a message that are not filtered."""
_OF_SPEAKERS = frozenset({MemoryType.FACT, MemoryType.TURN})
"""Records whose `about` names a speaker."""


class ExportFilter:
    """A workspace's filter applied to an export; `private` filters one text."""

    def __init__(self, private: Callable[[str], str]) -> None:
        self._private = private

    def apply(self, imported: Imported) -> Imported:
        """Return the filtered export, without the vectors of records whose text changed."""
        records: dict[StoreName, list[Record]] = {}
        vectors = dict(imported.vectors)
        for store, found in imported.records.items():
            records[store] = [self._record(record) for record in found]
            for before, after in zip(found, records[store], strict=True):
                if before.content != after.content:
                    vectors.pop((str(store), after.id), None)
        entries: list[ProfileEntry] = []
        for entry in imported.entries:
            entries.append(replace(entry, value=self._private(entry.value)))
        timeline: dict[tuple[str, str], list[TimelineLine]] = {}
        for place, lines in imported.timeline.items():
            timeline[place] = [self._line(line) for line in lines]
        return replace(
            imported,
            records=records,
            vectors=vectors,
            operations=self._operations(imported),
            entries=entries,
            notes=[
                filter_note(note, self._private) for note in imported.notes
            ],
            timeline=timeline,
        )

    def _operations(self, imported: Imported) -> dict[str, TripleOperation]:
        """Return the filtered operations; the names that records are about stay."""
        names: set[str] = set()
        for found in imported.records.values():
            names.update(record.about for record in found if record.about)

        def filter_name(text: str) -> str:
            return text if text in names else self._private(text)

        operations: dict[str, TripleOperation] = {}
        for operation in imported.operations.values():
            private = filter_operation(operation, filter_name)
            operations[private.id] = private
        return operations

    def _record(self, record: Record) -> Record:
        speaker = record.content.removesuffix(record.words)
        content = speaker + self._private(record.words)
        return replace(
            record,
            content=content,
            about=self._about(record),
            people=tuple(map(self._private, record.people)),
            topics=tuple(map(self._private, record.topics)),
            open_questions=tuple(map(self._private, record.open_questions)),
            key_facts=self._details(record.key_facts),
        )

    def _about(self, record: Record) -> str | None:
        """Return what a record is about; a speaker keeps the name."""
        if record.about is None or record.memory_type in _OF_SPEAKERS:
            return record.about
        return self._private(record.about)

    def _details(self, text: str) -> str:
        """Return filtered JSON; the same text if nothing in it changes."""
        if not text:
            return text
        value = json.loads(text)
        changed = map_strings(value, self._private)
        return (
            text
            if changed == value
            else json.dumps(changed, ensure_ascii=False)
        )

    def _line(self, line: TimelineLine) -> TimelineLine:
        message = dict(line["message"])
        for name, part in message.items():
            if name not in _KEPT:
                message[name] = map_strings(part, self._private)
        return {**line, "message": message}
