"""An agent's triples as a DuckDB table in this process, in and out of Parquet bytes.

DuckDB opens no file and no connection here: bytes come and go through the store's own client.
"""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from varve.adapters.graph.walks import FAN_OUT, FRONTIER, HOLDS, NEIGHBOURS, PATHS
from varve.domain import triple
from varve.domain.damage import Damaged, intact
from varve.domain.graph import Neighbour, PathStep
from varve.domain.names import ALSO_KNOWN_AS, Names
from varve.domain.triple import Triple

_TIME = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("source_id", pa.string(), nullable=False),
        pa.field("target_id", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
        pa.field("properties", pa.string(), nullable=False),
        pa.field("valid_at", _TIME, nullable=False),
        pa.field("invalid_at", _TIME),
        pa.field("created_at", _TIME, nullable=False),
        pa.field("expired_at", _TIME),
    ]
)
COLUMNS = ", ".join(SCHEMA.names)
BATCH_ROWS = 50_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_TABLE = """
create temp table facts (
    id varchar not null, source_id varchar not null, target_id varchar not null, label varchar not null,
    properties json not null, valid_at timestamptz not null, invalid_at timestamptz,
    created_at timestamptz not null, expired_at timestamptz
)"""

_OPENING = Lock()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One empty database of this process. Each connection to it has temporary tables of its own.

    A connection takes a twentieth of the time that a database does, and every write opens a table.
    """
    return duckdb.connect(config=_CONFIG)


class GraphTable:
    """The table `facts`, loaded from a Parquet object's bytes (None: an empty one).

    Loading and reading raise Damaged, with the object's key, where these are not what was written.
    """

    def __init__(self, data: bytes | None = None, key: str = "facts.parquet") -> None:
        self._lock, self._key = Lock(), key
        with _OPENING:
            self._connection = _database().cursor()
        self._connection.execute(
            "set timezone = 'UTC'; set enable_progress_bar = false"
        )
        self._connection.execute(_TABLE)
        if data is not None:
            with _intact(key):
                self._load(data)

    def _load(self, data: bytes) -> None:
        file = pq.ParquetFile(io.BytesIO(data))
        rows = file.iter_batches(BATCH_ROWS, columns=SCHEMA.names)
        self._insert(
            pa.RecordBatchReader.from_batches(
                SCHEMA, (batch.cast(SCHEMA) for batch in rows)
            )
        )

    def close(self) -> None:
        """Free the table's memory."""
        self._connection.close()

    def counts(self, at: datetime) -> tuple[int, int]:
        """How many triples there are, and how many of them hold at the time."""
        ((all_, current),) = self._rows(
            f"select count(*), count(*) filter ({HOLDS}) from facts", {"at": at}
        )
        return all_, current

    def triples(self) -> list[Triple]:
        """All of them, in the fold's order."""
        return self._triples("select * from facts")

    def about(self, entity: str) -> list[Triple]:
        """The whole groups (one entity's one predicate) in which the entity is named."""
        named = (
            "select source_id, label from facts where source_id = $1 or target_id = $1"
        )
        return self._triples(
            f"select * from facts where (source_id, label) in ({named})", [entity]
        )

    def names(self) -> Names:
        """The aliases that the triples state."""
        return triple.stated_names(triple.evidence_of(self.aliases()).values())

    def aliases(self) -> list[Triple]:
        """The triples that state another name of an entity, past ones too."""
        return self._triples("select * from facts where label = $1", [ALSO_KNOWN_AS])

    def newest(self, most: int, at: datetime) -> list[Triple]:
        """The triples that hold at the time, those that began last first."""
        newest = (
            f"select * from facts where {HOLDS} order by valid_at desc, id limit $most"
        )
        return sorted(
            self._triples(newest, {"most": most, "at": at}),
            key=lambda t: t.valid_at,
            reverse=True,
        )

    def groups(
        self, keys: Iterable[tuple[str, str]], entities: Iterable[str]
    ) -> list[Triple]:
        """The groups of these keys, and those in which one of the entities is named, each whole."""
        sources, labels = zip(*keys, strict=True)
        wanted = """
            select unnest($1::varchar[]) as source_id, unnest($2::varchar[]) as label
            union select source_id, label from facts where source_id in (select unnest($3::varchar[]))
            union select source_id, label from facts where target_id in (select unnest($3::varchar[]))"""
        self._connection.execute(
            f"create or replace temp table wanted as {wanted}",
            [[*sources], [*labels], [*entities]],
        )
        return self._triples(
            "select facts.* from facts semi join wanted using (source_id, label)"
        )

    def replace_groups(self, triples: Sequence[Triple]) -> None:
        """Put these in the place of the groups that `groups` gave last."""
        self._connection.execute(
            "delete from facts where (source_id, label) in (select source_id, label from wanted)"
        )
        for start in range(0, len(triples), BATCH_ROWS):
            self._insert(to_table(triples[start : start + BATCH_ROWS]))

    def encoded(self) -> bytes:
        """The table as a Parquet object; the same triples give the same bytes."""
        casts = COLUMNS.replace("properties", "properties::varchar as properties")
        ordered = f"select {casts} from facts order by source_id, label, valid_at, target_id, id"
        buffer = io.BytesIO()
        with pq.ParquetWriter(buffer, SCHEMA, compression="zstd") as writer:
            for batch in self._connection.sql(ordered).to_arrow_reader(BATCH_ROWS):
                writer.write_table(pa.Table.from_batches([batch]).cast(SCHEMA))
        return buffer.getvalue()

    def neighbours(
        self, entity: str, hops: int, at: datetime, most: int
    ) -> list[Neighbour]:
        """The entities within so many hops, nearest first, each with the edge that led to it."""
        given = {
            "start": entity,
            "hops": hops,
            "at": at,
            "most": most,
            "fan": FAN_OUT,
            "frontier": FRONTIER,
        }
        return [Neighbour(*row) for row in self._rows(NEIGHBOURS, given)]

    def paths(
        self, start: str, goal: str, max_hops: int, at: datetime, most: int
    ) -> list[tuple[PathStep, ...]]:
        """Ways from one entity to the other that pass none twice, the shortest first."""
        given = {"start": start, "goal": goal, "hops": max_hops, "at": at, "most": most}
        found = self._rows(PATHS, {**given, "fan": FAN_OUT, "frontier": FRONTIER})
        labels = self._labels({id_ for _, ids, _ in found for id_ in ids})
        return [
            tuple(
                PathStep(here, labels[id_], there, forward)
                for here, there, id_, forward in zip(
                    seen, seen[1:], ids, forwards, strict=False
                )
            )
            for seen, ids, forwards in found
        ]

    def _labels(self, ids: set[str]) -> dict[str, str]:
        rows = self._rows(
            "select id, label from facts where id in (select unnest($1::varchar[]))",
            [[*ids]],
        )
        return dict(rows)

    def _insert(self, rows: Any) -> None:
        self._connection.register("incoming", rows)
        self._connection.execute(f"insert into facts select {COLUMNS} from incoming")
        self._connection.unregister("incoming")

    def _rows(self, sql: str, given: Any = None) -> list[tuple[Any, ...]]:
        # All of them, one caller at a time: a connection has room for one result.
        with self._lock:
            return self._connection.execute(sql, given).fetchall()

    def _triples(self, sql: str, given: Any = None) -> list[Triple]:
        wanted = (
            "source_id, label, target_id, epoch_us(valid_at), epoch_us(created_at), properties, "
            "epoch_us(invalid_at), epoch_us(expired_at)"
        )
        order = "order by source_id, label, valid_at, target_id, id"
        rows = self._rows(f"select {wanted} from ({sql}) as found {order}", given)
        with _intact(self._key):
            return [_triple(*row) for row in rows]


def require_footer(key: str, data: bytes) -> None:
    """Raises Damaged: the bytes do not end as such a table's do."""
    with _intact(key):
        if not set(SCHEMA.names) <= set(pq.read_schema(io.BytesIO(data)).names):
            raise ValueError("columns are missing")


@contextmanager
def _intact(key: str) -> Iterator[None]:
    """`intact`, also for what the libraries raise at bytes that are no table."""
    try:
        with intact(key):
            yield
    except (pa.ArrowException, duckdb.Error, OSError) as error:
        raise Damaged(key, type(error).__name__) from error


def to_table(triples: Iterable[Triple]) -> pa.Table:
    """The triples as rows of `SCHEMA`, in the order given."""
    return pa.Table.from_pylist(list(_as_rows(triples)), schema=SCHEMA)


def _as_rows(triples: Iterable[Triple]) -> Iterator[dict[str, Any]]:
    for t in triples:
        yield {
            "id": t.id,
            "source_id": t.source_id,
            "target_id": t.target_id,
            "label": t.label,
            "properties": triple.properties(t),
            "valid_at": t.valid_at,
            "invalid_at": t.invalid_at,
            "created_at": t.created_at,
            "expired_at": t.expired_at,
        }


def _triple(
    source: str, label: str, target: str, valid: int, created: int, properties: str,
    invalid: int | None, expired: int | None,
) -> Triple:  # fmt: skip
    evidence = json.loads(properties)["evidence"]
    return Triple(
        source_id=source,
        label=label,
        target_id=target,
        valid_at=_moment(valid),
        created_at=_moment(created),
        evidence=tuple(map(triple.operation_from_json, evidence)),
        invalid_at=None if invalid is None else _moment(invalid),
        expired_at=None if expired is None else _moment(expired),
    )


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
