"""What the target's privacy makes of an export; its ids stay, and so do the speakers' names."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from varve.domain.personal import map_strings
from varve.domain.record import Record
from varve.usecases.privacy import private_operation
from varve.usecases.transfer.imported import Imported

_KEPT = frozenset({"id", "role", "name", "timestamp", "userId"})


class Filter:
    """The texts of an export as a workspace may keep them, by its filter: a text in, the text out."""

    def __init__(self, private: Callable[[str], str]) -> None:
        self._private = private

    def applied(self, imported: Imported) -> Imported:
        """The export with what the workspace keeps out taken out, and without the vectors of what changed."""
        names = {
            r.about for found in imported.records.values() for r in found if r.about
        }
        records = {
            store: [*map(self._record, found)]
            for store, found in imported.records.items()
        }
        changed = {
            (str(store), after.id)
            for store, found in records.items()
            for before, after in zip(imported.records[store], found, strict=True)
            if before.content != after.content
        }
        operations = [
            private_operation(o, lambda text: self._name(text, names))
            for o in imported.operations.values()
        ]
        return replace(
            imported,
            records=records,
            vectors={
                key: pair
                for key, pair in imported.vectors.items()
                if key not in changed
            },
            operations={operation.id: operation for operation in operations},
            entries=[
                replace(entry, value=self._private(entry.value))
                for entry in imported.entries
            ],
            timeline={
                place: [*map(self._line, lines)]
                for place, lines in imported.timeline.items()
            },
        )

    def _record(self, record: Record) -> Record:
        speaker = record.content.removesuffix(record.words)
        content = speaker + self._private(record.words)
        return replace(
            record,
            content=content,
            people=tuple(map(self._private, record.people)),
            topics=tuple(map(self._private, record.topics)),
            open_questions=tuple(map(self._private, record.open_questions)),
            key_facts=self._details(record.key_facts),
        )

    def _details(self, text: str) -> str:
        """JSON in a record, as it was where nothing in it changes."""
        if not text:
            return text
        value = json.loads(text)
        changed = map_strings(value, self._private)
        return text if changed == value else json.dumps(changed, ensure_ascii=False)

    def _name(self, text: str, names: set[str]) -> str:
        return text if text in names else self._private(text)

    def _line(self, line: dict[str, Any]) -> dict[str, Any]:
        message = {
            name: part if name in _KEPT else map_strings(part, self._private)
            for name, part in line["message"].items()
        }
        return {**line, "message": message}
