"""Every port in plain memory: for tests, and to try the library without a file."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from threading import Lock

import numpy as np

from varve.domain import triple
from varve.domain.dead_letter import reasons_of, redrive_id
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
from varve.domain.triple import Triple, TripleOperation
from varve.ports.objects import ObjectInfo, StoredObject
from varve.ports.queues import Delivery, Letter, Queue
from varve.ports.transfer import Embed


class InMemoryObjects:
    """Objects in a dictionary."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._lock = Lock()

    def get(self, key: str) -> StoredObject | None:
        data = self._data.get(key)
        return (
            None
            if data is None
            else StoredObject(data, hashlib.sha256(data).hexdigest())
        )

    def part(self, key: str, start: int, length: int) -> bytes | None:
        data = self._data.get(key)
        return None if data is None else data[start : start + length]

    def put(self, key: str, data: bytes) -> None:
        self._data[key] = data

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        with self._lock:
            current = self.get(key)
            if (current.etag if current else None) != etag:
                return current is not None and current.data == data
            self._data[key] = data
            return True

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._data.pop(key, None)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        for key in sorted(self._data):
            if key.startswith(prefix + "/"):
                yield ObjectInfo(
                    key, len(self._data[key]), datetime.min.replace(tzinfo=UTC)
                )

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        for key in fresh:
            self.put(key, b"")
        if keys := list(doomed):
            self.delete(keys)

    def folders(self, prefix: str) -> Sequence[str]:
        start = prefix and prefix + "/"
        inside = (
            key.removeprefix(start) for key in self._data if key.startswith(start)
        )
        return sorted({rest.partition("/")[0] for rest in inside if "/" in rest})


class InMemoryRecords:
    """MemoryReader and MemoryWriter over dictionaries; keywords count as words shared."""

    def __init__(self, max_rows: int = MAX_ROWS) -> None:
        self._max_rows = max_rows
        self._stores: dict[tuple[Scope, StoreName], dict[str, EmbeddedRecord]] = {}
        self._models: dict[tuple[Scope, StoreName], str] = {}
        self._versions: Counter[tuple[Scope, StoreName]] = Counter()

    def at(
        self,
        scope: Scope,  # noqa: ARG002
        stores: Sequence[StoreName] = GRAINS,  # noqa: ARG002
    ) -> "InMemoryRecords":
        return self  # it has no other moment than now

    def expect(self, scope: Scope, grain: StoreName) -> None:
        pass  # there is nothing to ask for

    def upsert(
        self,
        scope: Scope,
        grain: StoreName,
        records: Sequence[EmbeddedRecord],
        model: str,
    ) -> Written:
        require_same_model(
            f"{scope}/{grain}", self._models.setdefault((scope, grain), model), model
        )
        store = self._stores.setdefault((scope, grain), {})
        newest: dict[str, EmbeddedRecord] = {}
        for embedded in records:
            if _says_anew(embedded, newest.get(embedded.record.id)):
                newest[embedded.record.id] = embedded
        changed = {
            id_: embedded
            for id_, embedded in newest.items()
            if _says_anew(embedded, store.get(id_))
        }
        store.update(changed)
        self._versions[scope, grain] += 1
        return Written(len(changed), self._versions[scope, grain])

    def columns(self, scope: Scope, grain: StoreName, *, model: str) -> Outline:
        require_same_model(
            f"{scope}/{grain}", self._models.get((scope, grain), model), model
        )
        store = self._stores.get((scope, grain), {})
        held = columns_of(store[id_] for id_ in sorted(store))
        return held if len(store) <= self._max_rows else Outline(**held.short())

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
        require_same_model(
            f"{scope}/{grain}", self._models.get((scope, grain), model), model
        )
        store = self._stores.get((scope, grain), {})
        found = {
            id_
            for lane in self.lanes(scope, grain, text, vector, where, limit)
            for id_ in lane
        }
        held = columns_of(store.values())
        near = held.around(np.flatnonzero([id_ in found for id_ in held.ids]), reach)
        passing = held.admitted(where)
        return columns_of(store[held.ids[row]] for row in near.tolist() if passing[row])

    def lanes(
        self,
        scope: Scope,
        grain: StoreName,
        text: str,
        vector: Vector,
        where: Filter,
        limit: int,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """The ids of the `limit` nearest with their cosines; of the best by keyword with the words shared."""
        asked, all_ = _words(text), self._matching(scope, grain, where)
        cosines = {e.record.id: float(np.dot(e.vector, vector)) for e in all_}
        shared = {
            e.record.id: float(len(asked & _words(e.record.content))) for e in all_
        }
        worded = {id_: count for id_, count in shared.items() if count}
        return _greatest(cosines, limit), _greatest(worded, limit)

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
        return dict(
            Counter(
                e.record.period for e in self._stores.get((scope, grain), {}).values()
            )
        )

    def in_period(
        self, scope: Scope, grain: StoreName, label: str, since: int = 0
    ) -> list[Record]:
        if self._versions[scope, grain] < since:
            raise Retryable(f"store {scope}/{grain}: has no version {since}")
        records = [e.record for e in self._stores.get((scope, grain), {}).values()]
        found = [record for record in records if record.period == label]
        return sorted(found, key=lambda r: (r.event_time, r.position, r.id))

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        store = self._stores.get((scope, grain), {})
        doomed = [id_ for id_, e in store.items() if e.record.period in labels]
        for id_ in doomed:
            del store[id_]
        return len(doomed)

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        store = self._stores.get((scope, grain), {})
        there = [store[id_].record for id_ in {*ids} & {*store}]
        doomed = [r.id for r in there if known_by is None or r.created_at <= known_by]
        for id_ in doomed:
            del store[id_]
        return len(doomed)

    def finish(self) -> None:
        """Nothing is ever under way here."""

    def span(self, scope: Scope, grain: StoreName) -> tuple[datetime, datetime] | None:
        times = [
            e.record.event_time for e in self._stores.get((scope, grain), {}).values()
        ]
        return (min(times), max(times)) if times else None

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        return self._models.get((scope, grain))

    def embedded(
        self, scope: Scope, grain: StoreName
    ) -> tuple[str | None, list[EmbeddedRecord]]:
        found = self._stores.get((scope, grain), {}).values()
        ordered = sorted(
            found, key=lambda e: (e.record.event_time, e.record.position, e.record.id)
        )
        return self.model(scope, grain), ordered

    def move(self, scope: Scope, grain: StoreName, model: str, embed: Embed) -> int:
        if self.model(scope, grain) in (None, model):
            return 0
        store = self._stores[scope, grain]
        records = [embedded.record for embedded in store.values()]
        vectors = embed(records)
        self._stores[scope, grain] = {
            record.id: EmbeddedRecord(record, vector)
            for record, vector in zip(records, vectors, strict=True)
        }
        self._models[scope, grain] = model
        return len(records)

    def _matching(
        self, scope: Scope, grain: StoreName, where: Filter
    ) -> list[EmbeddedRecord]:
        return [
            e
            for e in self._stores.get((scope, grain), {}).values()
            if _admits(where, e.record)
        ]


class InMemoryGraph:
    """GraphReader and GraphWriter over a dictionary."""

    def __init__(self) -> None:
        self._operations: dict[Scope, dict[str, TripleOperation]] = {}

    def apply(self, scope: Scope, operations: Sequence[TripleOperation]) -> int:
        known = self._operations.setdefault(scope, {})
        before = len(known)
        for operation in operations:
            known[operation.id] = triple.first_learnt(
                known.get(operation.id, operation), operation
            )
        return len(known) - before

    def erase(self, scope: Scope, operation_ids: Iterable[str]) -> int:
        known = self._operations.get(scope, {})
        self._operations[scope] = triple.without(known, operation_ids)
        return len(known) - len(self._operations[scope])

    def triples(self, scope: Scope) -> list[Triple]:
        return triple.fold(self._operations.get(scope, {}).values())

    def counts(self, scope: Scope, at: datetime) -> tuple[int, int]:
        triples = self.triples(scope)
        return len(triples), sum(t.holds(at) for t in triples)


class InMemoryDeadLetters:
    """Dead letters in a list, each with the error that sent it there."""

    def __init__(self) -> None:
        self.letters: list[tuple[Delivery, Exception]] = []

    def send(self, delivery: Delivery, error: Exception) -> None:
        self.letters.append((delivery, error))


class InMemoryDeadLetterBox:
    """The DeadLetterBox port over such a list; what is redriven goes to the queue."""

    def __init__(self, dead: InMemoryDeadLetters, queue: Queue) -> None:
        self._dead = dead
        self._queue = queue

    def letters(self) -> list[Letter]:
        return [
            Letter(f"dead-{d.id}", d.body, d.group, reasons_of(d.id, e), 0)
            for d, e in self._dead.letters
        ]

    def redrive(self, ids: Collection[str]) -> list[str]:
        for letter in self.letters():
            if letter.id in ids:
                self._queue.send(
                    letter.body,
                    group=letter.group,
                    deduplication_id=redrive_id(letter.id),
                )
        return self.drop(ids)

    def drop(self, ids: Collection[str]) -> list[str]:
        there = [letter.id for letter in self.letters() if letter.id in ids]
        self._dead.letters = [
            pair for pair in self._dead.letters if f"dead-{pair[0].id}" not in ids
        ]
        return there


def _says_anew(embedded: EmbeddedRecord, known: EmbeddedRecord | None) -> bool:
    return known is None or known.record.gives_way_to(embedded.record)


def _greatest(numbers: Mapping[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])


def _words(text: str) -> set[str]:
    """The words without case, accents and punctuation, as the real index has them."""
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)
    )
    return set(re.findall(r"[^\W_]+", plain.casefold()))


def _admits(where: Filter, record: Record) -> bool:
    return (
        (where.since is None or record.event_time >= where.since)
        and (where.until is None or record.event_time < where.until)
        and where.user_id in (None, record.user_id)
        and where.conversation_id in (None, record.conversation_id)
        and (not where.memory_types or record.memory_type in where.memory_types)
        and (
            record.memory_type is not MemoryType.SUMMARY
            or record.period not in where.unfinished
        )
    )
