"""Records in LanceDB: one database per agent and grain, one table in it, on a directory or on S3."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import sleep
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varve.adapters.lance_rows import RECORD_COLUMNS, filtered, model_of, schema_for, to_arrow, to_record
from varve.adapters.lean_import import without_rest_client
from varve.domain.calendar import Grain
from varve.domain.embedding import require_same_model
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.query import Filter
from varve.domain.ranking import Candidate
from varve.domain.record import EmbeddedRecord, Record, Vector
from varve.ports import Objects

with without_rest_client():
    import lancedb
    from lancedb.expr import col, lit
    from lancedb.index import FTS
    from lancedb.query import MatchQuery
    from lancedb.table import Table

TABLE = "memories"
CACHE_BYTES = 32 * 1024 * 1024
"""For indices, and again for metadata: a warm process may meet any number of agents."""
CLAIM_WAITS, CLAIM_WAIT_SECONDS = 50, 0.1
_KEYWORDS = FTS(base_tokenizer="simple", stem=True, remove_stop_words=True, ascii_folding=True)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When a table is compacted and which of its old versions are kept for readers in flight.

    Compaction follows a write that leaves `max_fragments` fragments, and every `max_fragments`
    versions. Of the older versions those younger than `keep_for` stay, but never more than
    `max_versions`: a burst of writes stays bounded, and a reader that outlives its version starts
    again from the newest.
    """

    max_fragments: int = 32
    keep_for: timedelta = timedelta(seconds=90)
    max_versions: int = 128


class LanceRecords:
    """MemoryReader and MemoryWriter over `vectordb/{workspace}/{agent}/{grain}/`."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        storage_options: dict[str, str] | None = None,
        upkeep: Upkeep = Upkeep(),
    ) -> None:
        self._root = root
        self._objects = objects
        self._options = storage_options
        self._upkeep = upkeep
        self._session = lancedb.Session(
            index_cache_size_bytes=CACHE_BYTES, metadata_cache_size_bytes=CACHE_BYTES
        )
        self._tables: dict[tuple[Scope, Grain], Table] = {}
        self._indexed: set[tuple[Scope, Grain]] = set()

    def upsert(self, scope: Scope, grain: Grain, records: Sequence[EmbeddedRecord], model: str) -> int:
        newest: dict[str, EmbeddedRecord] = {}
        for embedded in records:
            known = newest.get(embedded.record.id)
            if known is None or known.record.fingerprint != embedded.record.fingerprint:
                newest[embedded.record.id] = embedded
        with _translated(scope, grain):
            table = self._open(scope, grain)
            if table is None:  # an empty table is false
                table = self._create(scope, grain, model)
            require_same_model(f"{scope}/{grain}", model_of(table), model)
            self._require_index(scope, grain, table)
            before = table.version
            merge = (
                table.merge_insert("id")
                .when_matched_update_all(where="target.fingerprint != source.fingerprint")
                .when_not_matched_insert_all()
            )
            merged = merge.execute(to_arrow(list(newest.values()), table.schema))
            self._keep_up(table, _path(scope, grain), before)
        return int(merged.num_inserted_rows + merged.num_updated_rows)

    def search(
        self, scope: Scope, grain: Grain, *, text: str, vector: Vector, model: str, where: Filter, limit: int
    ) -> list[Candidate]:
        def run(table: Table) -> list[Candidate]:
            require_same_model(f"{scope}/{grain}", model_of(table), model)
            columns = [*RECORD_COLUMNS, "vector"]
            by_vector = table.search(vector, vector_column_name="vector").distance_type("cosine")
            by_keyword = table.search(MatchQuery(text, "content"), query_type="fts")
            near = filtered(by_vector, where).select([*columns, "_distance"])
            worded = filtered(by_keyword, where).select([*columns, "_score"])
            best = _best(near, limit, "_distance", "ascending"), _best(worded, limit, "_score", "descending")
            return _united(*best, vector)

        return self._read(scope, grain, run, [])

    def browse(self, scope: Scope, grain: Grain, *, where: Filter, limit: int) -> list[Record]:
        def run(table: Table) -> list[Record]:
            keys = ["id", "event_time", "position"]
            rows = filtered(table.search(), where).select(keys).limit(None).to_arrow()
            order = [("event_time", "descending"), ("position", "descending"), ("id", "ascending")]
            return _by_ids(table, rows.sort_by(order).column("id")[:limit].to_pylist())

        return self._read(scope, grain, run, [])

    def get(self, scope: Scope, grain: Grain, ids: Sequence[str]) -> list[Record]:
        return self._read(scope, grain, lambda table: _by_ids(table, ids), [])

    def count(self, scope: Scope, grain: Grain, *, where: Filter) -> int:
        def run(table: Table) -> int:
            if where == Filter():
                return int(table.count_rows())
            # count_rows takes SQL text only, and the text of an expression does not quote every value.
            return int(filtered(table.search(), where).select(["id"]).limit(None).to_arrow().num_rows)

        return self._read(scope, grain, run, 0)

    def periods(self, scope: Scope, grain: Grain) -> dict[str, int]:
        def run(table: Table) -> dict[str, int]:
            counts = table.search().select(["period"]).limit(None).to_arrow().column("period").value_counts()
            return {pair["values"]: pair["counts"] for pair in counts.to_pylist()}

        return self._read(scope, grain, run, {})

    def in_period(self, scope: Scope, grain: Grain, label: str) -> list[Record]:
        def run(table: Table) -> list[Record]:
            rows = table.search().where(col("period") == lit(label)).select(RECORD_COLUMNS).limit(None)
            records = [to_record(row) for row in rows.to_arrow().to_pylist()]
            return sorted(records, key=lambda r: (r.event_time, r.position, r.id))

        return self._read(scope, grain, run, [])

    def delete_periods(self, scope: Scope, grain: Grain, labels: Sequence[str]) -> int:
        with _translated(scope, grain):
            table = self._open(scope, grain)
            if table is None or not labels:
                return 0
            doomed = col("period").isin(list(labels)).to_sql()
            count = int(table.count_rows(doomed))
            if count:
                table.delete(doomed)
            # A deletion only hides rows, and compaction leaves files alone of which little is hidden:
            # what stays is written anew, and the files before it go with their versions. Even where
            # nothing was left to delete, for the delivery before may have ended half-way.
            table.update(values_sql={"position": "position"})
            table.optimize(cleanup_older_than=timedelta(milliseconds=1))
        return count

    def span(self, scope: Scope, grain: Grain) -> tuple[datetime, datetime] | None:
        def run(table: Table) -> tuple[datetime, datetime] | None:
            times = table.search().select(["event_time"]).limit(None).to_arrow().column("event_time")
            ends = pc.min_max(times).as_py()
            return (ends["min"], ends["max"]) if len(times) else None

        return self._read(scope, grain, run, None)

    def _read(self, scope: Scope, grain: Grain, run: Callable[[Table], T], nothing: T) -> T:
        """Run on the newest version; where it vanished meanwhile, once more on the then newest."""
        with _translated(scope, grain):
            table = self._open(scope, grain)
            if table is None:
                return nothing
            try:
                return run(table)
            except (RuntimeError, OSError, ValueError):
                table.checkout_latest()
                return run(table)

    def _open(self, scope: Scope, grain: Grain) -> Table | None:
        """The table at its newest version, or None where nothing has been written yet."""
        table = self._tables.get((scope, grain))
        if table is not None:
            table.checkout_latest()
            return table
        if not any(self._objects.list(f"{_path(scope, grain)}/{TABLE}.lance/_versions")):
            return None
        opened = self._connect(scope, grain).open_table(TABLE)
        return self._tables.setdefault((scope, grain), opened)

    def _create(self, scope: Scope, grain: Grain, model: str) -> Table:
        """An empty table, made by one writer alone: LanceDB lets a second creator overwrite the first's.

        Whoever claims it makes it. A claim whose table does not appear is that of a writer who died,
        and is taken over. Raises Retryable: another writer is still at it.
        """
        key = f"{_path(scope, grain)}/{TABLE}.creator"
        claim = self._objects.get(key)
        if claim is not None and (table := self._awaited(scope, grain)) is not None:
            return table
        if not self._objects.put_if(key, uuid4().bytes, claim.etag if claim else None):
            raise Retryable(f"store {scope}/{grain}: another writer is making the table")
        if (table := self._open(scope, grain)) is not None:
            return table
        table = self._connect(scope, grain).create_table(TABLE, schema=schema_for(model), exist_ok=True)
        return self._tables.setdefault((scope, grain), table)

    def _awaited(self, scope: Scope, grain: Grain) -> Table | None:
        """The table that another writer is making, or None where it does not appear in good time."""
        for _ in range(CLAIM_WAITS):
            if (table := self._open(scope, grain)) is not None:
                return table
            sleep(CLAIM_WAIT_SECONDS)
        return None

    def _require_index(self, scope: Scope, grain: Grain, table: Table) -> None:
        """See to the keyword index, once per process: whoever made the table may have died before it."""
        if (scope, grain) not in self._indexed:
            if not table.list_indices():
                table.create_index("content", config=_KEYWORDS)
            self._indexed.add((scope, grain))

    def _connect(self, scope: Scope, grain: Grain) -> Any:
        uri = f"{self._root}/{_path(scope, grain)}"
        return lancedb.connect(uri, storage_options=self._options, session=self._session)

    def _keep_up(self, table: Table, path: str, before: int) -> None:
        """Writes that replace rows add versions without adding fragments, so both are watched."""
        most = self._upkeep.max_fragments
        fragments = table.stats()["fragment_stats"]["num_fragments"]
        if fragments < most and table.version // most == before // most:
            return
        table.optimize(cleanup_older_than=self._prunable_age(path))

    def _prunable_age(self, path: str) -> timedelta:
        """The age from which versions go: `keep_for`, or less where there are more than may stay."""
        manifests = self._objects.list(f"{path}/{TABLE}.lance/_versions")
        times = sorted((m.last_modified for m in manifests if m.key.endswith(".manifest")), reverse=True)
        if len(times) <= self._upkeep.max_versions:
            return self._upkeep.keep_for
        crowded = times[0] - times[self._upkeep.max_versions // 2]
        return min(self._upkeep.keep_for, max(crowded, timedelta(milliseconds=1)))


def _path(scope: Scope, grain: Grain) -> str:
    return f"vectordb/{scope.workspace}/{scope.agent}/{grain}"


def _by_ids(table: Table, ids: Sequence[str]) -> list[Record]:
    if not ids:
        return []
    wanted = table.search().where(col("id").isin(list(ids))).select(RECORD_COLUMNS).limit(None)
    found = {row["id"]: to_record(row) for row in wanted.to_arrow().to_pylist()}
    return [found[id_] for id_ in ids if id_ in found]


def _best(query: Any, limit: int, column: str, order: str) -> pa.Table:
    """The first `limit` rows; of equals at the end those with the least ids, where LanceDB takes any."""
    asked = 2 * limit
    while True:
        rows = query.limit(asked).to_arrow().sort_by([(column, order), ("id", "ascending")])
        if len(rows) < asked or rows[column][limit - 1] != rows[column][-1]:
            return rows.slice(0, limit)
        asked *= 2


def _united(near: pa.Table, worded: pa.Table, vector: Vector) -> list[Candidate]:
    """Both lanes' rows once each, with the exact cosine for all of them."""
    keyword = dict(zip(worded["id"].to_pylist(), worded["_score"].to_pylist(), strict=True))
    rows = {row["id"]: row for row in [*near.to_pylist(), *worded.to_pylist()]}
    return [
        Candidate(to_record(row), _cosine(row["vector"], vector), keyword.get(id_, 0.0))
        for id_, row in rows.items()
    ]


def _cosine(stored: Sequence[float], vector: Vector) -> float:
    a = np.asarray(stored, dtype=np.float32)
    return float(np.dot(a, vector) / (np.linalg.norm(a) * np.linalg.norm(vector)))


@contextmanager
def _translated(scope: Scope, grain: Grain) -> Iterator[None]:
    """LanceDB's errors in our words: whatever it could not read or commit may succeed later."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise Retryable(f"store {scope}/{grain}: {type(error).__name__} in LanceDB") from error
