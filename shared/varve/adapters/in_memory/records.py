"""The ports of record stores over dictionaries.

`InMemoryRecords` is MemoryReader, MemoryWriter, StoreReader and VectorWriter.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from varve.domain.embedding import require_same_model
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.language.tokens import fold
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
from varve.domain.tally import Tally, TallyColumn
from varve.ports.transfer import Embed

Scores = dict[str, float]


@dataclass
class _GrainStore:
    """One agent's grain; `version` counts its upserts."""

    model: str | None = None
    version: int = 0
    rows: dict[str, EmbeddedRecord] = field(default_factory=dict)

    @property
    def records(self) -> list[Record]:
        """The records, in the order of their first upsert."""
        return [embedded.record for embedded in self.rows.values()]


class InMemoryRecords:
    """Record stores over dictionaries; a keyword score is the number of shared words."""

    def __init__(self, max_rows: int = MAX_ROWS) -> None:
        self._max_rows = max_rows
        self._stores: dict[tuple[Scope, StoreName], _GrainStore] = {}

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
        store = self._get_store(scope, grain)
        if store.model is None:
            store.model = model
        require_same_model(f"{scope}/{grain}", store.model, model)
        newest: dict[str, EmbeddedRecord] = {}
        for embedded in records:
            id_ = embedded.record.id
            if _replaces(embedded, newest.get(id_)):
                newest[id_] = embedded
        changed = 0
        for id_, embedded in newest.items():
            if _replaces(embedded, store.rows.get(id_)):
                store.rows[id_] = embedded
                changed += 1
        store.version += 1
        return Written(changed, store.version)

    def compact(self, scope: Scope, grain: StoreName) -> None:
        pass  # there are no files

    def columns(
        self, scope: Scope, grain: StoreName, *, model: str
    ) -> Outline:
        store = self._get_store(scope, grain, model)
        ordered = [store.rows[id_] for id_ in sorted(store.rows)]
        columns = columns_of(ordered)
        if len(ordered) <= self._max_rows:
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
        store = self._get_store(scope, grain, model)
        cosines, shared = self.lanes(scope, grain, text, vector, where, limit)
        found = cosines.keys() | shared.keys()
        columns = columns_of(store.rows.values())
        is_found = [id_ in found for id_ in columns.ids]
        near = columns.around(np.flatnonzero(is_found), reach)
        passing = near[columns.admitted(where)[near]]
        ids = [columns.ids[row] for row in passing.tolist()]
        return columns_of(store.rows[id_] for id_ in ids)

    def columns_of_users(
        self,
        scope: Scope,
        grain: StoreName,
        *,
        users: Sequence[str | None],
        model: str,
    ) -> Columns:
        rows = self._get_store(scope, grain, model).rows
        return columns_of(
            one for one in rows.values() if one.record.user_id in users
        )

    def lanes(
        self,
        scope: Scope,
        grain: StoreName,
        text: str,
        vector: Vector,
        where: Filter,
        limit: int,
    ) -> tuple[Scores, Scores]:
        """Return the `limit` best ids by vector and the `limit` best by keyword.

        The first are mapped to cosines, the second to the number of shared words.
        """
        rows = self._get_store(scope, grain).rows
        asked = _words(text)
        cosines = {}
        shared = {}
        for record in self._matching(scope, grain, where):
            cosine = np.dot(rows[record.id].vector, vector)
            cosines[record.id] = float(cosine)
            words = asked & _words(record.content)
            if words:
                shared[record.id] = float(len(words))
        return _greatest(cosines, limit), _greatest(shared, limit)

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        records = self._matching(scope, grain, where)
        return sorted(records, key=_newest_first)[:limit]

    def get(
        self, scope: Scope, grain: StoreName, ids: Sequence[str]
    ) -> list[Record]:
        rows = self._get_store(scope, grain).rows
        return [rows[id_].record for id_ in ids if id_ in rows]

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        return len(self._matching(scope, grain, where))

    def read_metadata(self, scope: Scope, grain: StoreName) -> dict[str, str]:
        records = self._get_store(scope, grain).records
        return {one.id: one.key_facts for one in records if one.metadata}

    def read_links(
        self, scope: Scope, grain: StoreName
    ) -> dict[str, tuple[str, ...]]:
        records = self._get_store(scope, grain).records
        return {one.id: one.links for one in records if one.links}

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        records = self._get_store(scope, grain).records
        counts = Counter(record.period for record in records)
        return dict(counts)

    def tally(
        self,
        scope: Scope,
        grain: StoreName,
        by: Sequence[TallyColumn],
        *,
        where: Filter,
    ) -> list[Tally]:
        groups: defaultdict[tuple[str | None, ...], list[Record]] = (
            defaultdict(list)
        )
        for record in self._matching(scope, grain, where):
            key = tuple(getattr(record, column) for column in by)
            groups[key].append(record)
        tallies = [_tally(key, records) for key, records in groups.items()]

        def by_key(tally: Tally) -> list[str]:
            return [value or "" for value in tally.key]

        return sorted(tallies, key=by_key)

    def in_period(
        self, scope: Scope, grain: StoreName, *labels: str, since: int = 0
    ) -> list[Record]:
        records = self._read_since(scope, grain, since)
        return [record for record in records if record.period in labels]

    def in_conversations(
        self, scope: Scope, grain: StoreName, prefix: str, since: int = 0
    ) -> list[Record]:
        records = self._read_since(scope, grain, since)
        return [
            record
            for record in records
            if (record.conversation_id or "").startswith(prefix)
        ]

    def with_words(
        self, scope: Scope, grain: StoreName, words: Sequence[str]
    ) -> list[Record]:
        if not words:
            return []
        any_word = re.compile("|".join(map(re.escape, words)))
        turns = [
            record
            for record in self._get_store(scope, grain).records
            if record.memory_type is MemoryType.TURN
            and any_word.search(fold(record.content))
        ]
        return sorted(turns, key=_time_order)

    def _read_since(
        self, scope: Scope, grain: StoreName, since: int
    ) -> list[Record]:
        store = self._get_store(scope, grain)
        if store.version < since:
            raise Retryable(f"store {scope}/{grain}: has no version {since}")
        return sorted(store.records, key=_time_order)

    def delete_periods(
        self, scope: Scope, grain: StoreName, labels: Sequence[str]
    ) -> int:
        store = self._get_store(scope, grain)
        doomed = [
            record.id for record in store.records if record.period in labels
        ]
        for id_ in doomed:
            del store.rows[id_]
        return len(doomed)

    def delete(
        self,
        scope: Scope,
        grain: StoreName,
        ids: Sequence[str],
        known_by: datetime | None = None,
    ) -> int:
        store = self._get_store(scope, grain)
        doomed = []
        distinct = list(dict.fromkeys(ids))
        for record in self.get(scope, grain, distinct):
            if known_by is None or record.created_at <= known_by:
                doomed.append(record.id)
        for id_ in doomed:
            del store.rows[id_]
        return len(doomed)

    def model(self, scope: Scope, grain: StoreName) -> str | None:
        return self._get_store(scope, grain).model

    def embedded(
        self, scope: Scope, grain: StoreName
    ) -> tuple[str | None, list[EmbeddedRecord]]:
        store = self._get_store(scope, grain)
        records = sorted(store.records, key=_time_order)
        return store.model, [store.rows[record.id] for record in records]

    def move(
        self, scope: Scope, grain: StoreName, model: str, embed: Embed
    ) -> int:
        store = self._get_store(scope, grain)
        if store.model in (None, model):
            return 0
        records = store.records
        vectors = embed(records)
        for record, vector in zip(records, vectors, strict=True):
            store.rows[record.id] = EmbeddedRecord(record, vector)
        store.model = model
        return len(records)

    def _get_store(
        self, scope: Scope, grain: StoreName, model: str | None = None
    ) -> _GrainStore:
        """Return the store, which may be empty.

        Raises EmbeddingMismatch: it is of another model than `model`.
        """
        store = self._stores.setdefault((scope, grain), _GrainStore())
        if model is not None and store.model is not None:
            require_same_model(f"{scope}/{grain}", store.model, model)
        return store

    def _matching(
        self, scope: Scope, grain: StoreName, where: Filter
    ) -> list[Record]:
        records = self._get_store(scope, grain).records
        return [record for record in records if _admits(where, record)]


def _tally(key: tuple[str | None, ...], records: Sequence[Record]) -> Tally:
    times = [record.event_time for record in records]
    conversations = {record.conversation_id for record in records}
    users = {record.user_id for record in records}
    return Tally(
        key=key,
        records=len(records),
        conversations=len(conversations - {None}),
        users=len(users - {None}),
        sources=sum(len(record.source_ids) for record in records),
        oldest=min(times),
        newest=max(times),
    )


def _replaces(embedded: EmbeddedRecord, known: EmbeddedRecord | None) -> bool:
    return known is None or known.record.gives_way_to(embedded.record)


def _time_order(record: Record) -> tuple[datetime, int, str]:
    return record.event_time, record.position, record.id


def _newest_first(record: Record) -> tuple[float, int, str]:
    return -record.event_time.timestamp(), -record.position, record.id


def _greatest(scores: Scores, limit: int) -> Scores:
    """Return the `limit` highest scores by id, best first, ties by id."""
    ids = sorted(scores, key=lambda id_: (-scores[id_], id_))
    return {id_: scores[id_] for id_ in ids[:limit]}


def _words(text: str) -> set[str]:
    """Return the words without case, accents and punctuation, as LanceDB indexes them."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    words = re.findall(r"[^\W_]+", plain.casefold())
    return set(words)


def _admits(where: Filter, record: Record) -> bool:
    if where.since is not None and record.event_time < where.since:
        return False
    if where.until is not None and record.event_time >= where.until:
        return False
    if not _is_named(where, record):
        return False
    if where.memory_types and record.memory_type not in where.memory_types:
        return False
    if record.memory_type is MemoryType.SUMMARY:
        return record.period not in where.unfinished
    return True


def _is_named(where: Filter, record: Record) -> bool:
    """Return whether user, conversation and id are among those that the filter names."""
    if where.user_id not in (None, record.user_id):
        return False
    if where.conversation_id not in (None, record.conversation_id):
        return False
    if where.users is not None and record.user_id not in where.users:
        return False
    return where.ids is None or record.id in where.ids
