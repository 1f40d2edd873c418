"""The ports of record stores over dictionaries.

`InMemoryRecords` is MemoryReader, MemoryWriter, StoreReader and VectorWriter.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import numpy as np

from varve.domain.embedding import require_same_model
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import (
    GRAINS,
    EmbeddedRecord,
    MemoryType,
    Record,
    StoreName,
    Vector,
    Written,
)
from varve.domain.search.columns import MAX_ROWS, Columns, columns_of
from varve.domain.search.outline import Outline
from varve.domain.search.query import Filter
from varve.ports.transfer import Embed

Store = tuple[Scope, StoreName]


class InMemoryRecords:
    """Record stores over dictionaries; a keyword score is the number of shared words."""

    def __init__(self, max_rows: int = MAX_ROWS) -> None:
        self._max_rows = max_rows
        self._stores: dict[Store, dict[str, EmbeddedRecord]] = {}
        self._models: dict[Store, str] = {}
        self._versions: Counter[Store] = Counter()

    def at(
        self,
        scope: Scope,  # noqa: ARG002 - the port's signature
        stores: Sequence[StoreName] = GRAINS,  # noqa: ARG002 - the port's signature
    ) -> "InMemoryRecords":
        return self  # only the current state can be read

    def expect(self, scope: Scope, grain: StoreName) -> None:
        pass  # there is nothing to prefetch

    def upsert(
        self,
        scope: Scope,
        grain: StoreName,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        self._models.setdefault((scope, grain), model)
        self._require_model(scope, grain, model)
        store = self._stores.setdefault((scope, grain), {})
        newest: dict[str, EmbeddedRecord] = {}
        for embedded in records:
            if _replaces(embedded, newest.get(embedded.record.id)):
                newest[embedded.record.id] = embedded
        changed = 0
        for id_, embedded in newest.items():
            if _replaces(embedded, store.get(id_)):
                store[id_] = embedded
                changed += 1
        self._versions[scope, grain] += 1
        return Written(changed, self._versions[scope, grain])

    def columns(self, scope: Scope, grain: StoreName, *, model: str) -> Outline:
        self._require_model(scope, grain, model)
        store = self._stores.get((scope, grain), {})
        columns = columns_of(store[id_] for id_ in sorted(store))
        if len(store) <= self._max_rows:
            return columns
        return Outline(**columns.short())

    def candidates(
        self,
        scope: Scope,
        grain: StoreName,
        *,
        text: str,
        vector: Vector,
        model: str,
        where: Filter,
        limit: int,
        reach: int,
    ) -> Columns:
        self._require_model(scope, grain, model)
        store = self._stores.get((scope, grain), {})
        cosines, shared = self.lanes(scope, grain, text, vector, where, limit)
        found = cosines.keys() | shared.keys()
        columns = columns_of(store.values())
        rows = np.flatnonzero([id_ in found for id_ in columns.ids])
        near = columns.around(rows, reach)
        passing = near[columns.admitted(where)[near]]
        return columns_of(store[columns.ids[row]] for row in passing.tolist())

    def lanes(
        self,
        scope: Scope,
        grain: StoreName,
        text: str,
        vector: Vector,
        where: Filter,
        limit: int,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the `limit` best ids by vector and the `limit` best by keyword.

        The first are mapped to cosines, the second to the number of shared words.
        """
        asked = _words(text)
        cosines = {}
        shared = {}
        for embedded in self._matching(scope, grain, where):
            id_ = embedded.record.id
            cosines[id_] = float(np.dot(embedded.vector, vector))
            count = len(asked & _words(embedded.record.content))
            if count:
                shared[id_] = float(count)
        return _greatest(cosines, limit), _greatest(shared, limit)

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        records = [e.record for e in self._matching(scope, grain, where)]
        records.sort(key=lambda r: (-r.event_time.timestamp(), -r.position, r.id))
        return records[:limit]

    def get(self, scope: Scope, grain: StoreName, ids: Sequence[str]) -> list[Record]:
        store = self._stores.get((scope, grain), {})
        return [store[id_].record for id_ in ids if id_ in store]

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        return len(self._matching(scope, grain, where))

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        return dict(Counter(record.period for record in self._records(scope, grain)))

    def in_period(
        self, scope: Scope, grain: StoreName, label: str, since: int = 0
    ) -> list[Record]:
        if self._versions[scope, grain] < since:
            raise Retryable(f"store {scope}/{grain}: has no version {since}")
        records = self._records(scope, grain)
        found = [record for record in records if record.period == label]
        return sorted(found, key=_time_order)

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        records = self._records(scope, grain)
        doomed = [record.id for record in records if record.period in labels]
        return self._delete(scope, grain, doomed)

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        wanted = frozenset(ids)
        doomed = []
        for record in self._records(scope, grain):
            known = known_by is None or record.created_at <= known_by
            if known and record.id in wanted:
                doomed.append(record.id)
        return self._delete(scope, grain, doomed)

    def _delete(self, scope: Scope, grain: StoreName, ids: Collection[str]) -> int:
        for id_ in ids:
            del self._stores[scope, grain][id_]
        return len(ids)

    def finish(self) -> None:
        """Do nothing: there is no background work."""

    def span(self, scope: Scope, grain: StoreName) -> tuple[datetime, datetime] | None:
        times = [record.event_time for record in self._records(scope, grain)]
        return (min(times), max(times)) if times else None

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        return self._models.get((scope, grain))

    def embedded(
        self, scope: Scope, grain: StoreName
    ) -> tuple[str | None, list[EmbeddedRecord]]:
        found = self._stores.get((scope, grain), {}).values()
        ordered = sorted(found, key=lambda embedded: _time_order(embedded.record))
        return self.model(scope, grain), ordered

    def move(self, scope: Scope, grain: StoreName, model: str, embed: Embed) -> int:
        if self.model(scope, grain) in (None, model):
            return 0
        records = self._records(scope, grain)
        vectors = embed(records)
        moved = {}
        for record, vector in zip(records, vectors, strict=True):
            moved[record.id] = EmbeddedRecord(record, vector)
        self._stores[scope, grain] = moved
        self._models[scope, grain] = model
        return len(records)

    def _require_model(self, scope: Scope, grain: StoreName, model: str) -> None:
        known = self._models.get((scope, grain), model)
        require_same_model(f"{scope}/{grain}", known, model)

    def _records(self, scope: Scope, grain: StoreName) -> list[Record]:
        store = self._stores.get((scope, grain), {})
        return [embedded.record for embedded in store.values()]

    def _matching(
        self, scope: Scope, grain: StoreName, where: Filter
    ) -> list[EmbeddedRecord]:
        store = self._stores.get((scope, grain), {})
        return [one for one in store.values() if _admits(where, one.record)]


def _replaces(embedded: EmbeddedRecord, known: EmbeddedRecord | None) -> bool:
    return known is None or known.record.gives_way_to(embedded.record)


def _time_order(record: Record) -> tuple[datetime, int, str]:
    return record.event_time, record.position, record.id


def _greatest(numbers: Mapping[str, float], limit: int) -> dict[str, float]:
    best = sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(best[:limit])


def _words(text: str) -> set[str]:
    """Return the words without case, accents and punctuation, as LanceDB indexes them."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return set(re.findall(r"[^\W_]+", plain.casefold()))


def _admits(where: Filter, record: Record) -> bool:
    if where.since is not None and record.event_time < where.since:
        return False
    if where.until is not None and record.event_time >= where.until:
        return False
    if where.user_id not in (None, record.user_id):
        return False
    if where.conversation_id not in (None, record.conversation_id):
        return False
    if where.memory_types and record.memory_type not in where.memory_types:
        return False
    if record.memory_type is MemoryType.SUMMARY:
        return record.period not in where.unfinished
    return True
