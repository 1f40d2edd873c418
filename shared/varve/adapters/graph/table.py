"""An agent's triples as a DuckDB table in this process, read from and written to Parquet.

DuckDB itself opens no file and no connection: the store's client transfers the bytes.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from varve.adapters.graph.browsing import (
    BY_ID,
    CHANGED,
    DRAWN,
    ENTITIES,
    HOLDING,
    NEWEST,
)
from varve.adapters.graph.walks import (
    FAN_OUT,
    FRONTIER,
    HOLDS,
    NEIGHBOURS,
    PATHS,
)
from varve.domain import triple
from varve.domain.calendar import microseconds, moment
from varve.domain.damage import Damaged, intact
from varve.domain.entities import find_spellings
from varve.domain.graph import (
    Mentions,
    Neighbour,
    PathStep,
    encode_properties,
)
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
_FIELDS = [name for name in SCHEMA.names if name != "properties"]
BATCH_ROWS = 50_000
_ALWAYS = -(2**63)
"""Microseconds since 1970 before every time."""
Config = dict[str, str | bool | int | float | list[str]]
"""DuckDB's own type for the settings of `connect`."""
_CONFIG: Config = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_TABLE = """
create temp table facts (
    id varchar not null, source_id varchar not null, target_id varchar not null,
    label varchar not null, properties json not null, valid_at timestamptz not null, invalid_at timestamptz,
    created_at timestamptz not null, expired_at timestamptz
)"""
_WANTED = """
create or replace temp table wanted as
    with asked as (
        select unnest($1::varchar[]) as source_id, unnest($2::varchar[]) as label,
            unnest($3::bigint[]) as since
    ), whole as (
        select source_id, label from facts
            where source_id in (select unnest($4::varchar[]))
        union select source_id, label from facts
            where target_id in (select unnest($4::varchar[]))
        union select source_id, label from facts semi join asked using (source_id, label)
            where contains(properties::varchar, '"op": "DELETE"')
    )
    select source_id, label, min(since) as since from (
        from asked union all select source_id, label, $5::bigint from whole
    ) group by all"""
_STILL_OPEN = """
    select facts.* from facts join wanted using (source_id, label)
        where invalid_at is null or epoch_us(invalid_at) >= since"""
_READ = """
    source_id, label, target_id, epoch_us(valid_at), epoch_us(created_at), properties,
    epoch_us(invalid_at), epoch_us(expired_at)"""
_ORDER = "order by source_id, label, valid_at, target_id, id"

_OPENING = Lock()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """Return the process's empty database; its connections share no temporary tables.

    A connection takes a twentieth of the time of a database, and every write opens one.
    """
    return duckdb.connect(config=_CONFIG)


class GraphTable:
    """The GraphView port over the table `facts`, loaded from a Parquet object's bytes.

    Without bytes the table is empty. Loading and reading raise Damaged, with the object's
    key, if the bytes are not such a table.
    """

    def __init__(
        self, data: bytes | None = None, key: str = "facts.parquet"
    ) -> None:
        self._lock = Lock()
        self._key = key
        with _OPENING:
            self._connection = _database().cursor()
        self._connection.execute(
            "set timezone = 'UTC'; set enable_progress_bar = false"
        )
        self._connection.execute(_TABLE)
        if data is not None:
            with _require_intact(key):
                self._load(data)

    def _load(self, data: bytes) -> None:
        file = pq.ParquetFile(io.BytesIO(data))
        batches = file.iter_batches(BATCH_ROWS, columns=SCHEMA.names)
        cast = (batch.cast(SCHEMA) for batch in batches)
        self._insert(pa.RecordBatchReader.from_batches(SCHEMA, cast))

    def close(self) -> None:
        """Free the table's memory."""
        self._connection.close()

    def counts(self, at: datetime) -> tuple[int, int]:
        """Count all triples, and those that hold at the time."""
        counts = f"select count(*), count(*) filter ({HOLDS}) from facts"
        ((all_, current),) = self._rows(counts, {"at": at})
        return all_, current

    def triples(self) -> list[Triple]:
        """Return all triples, in the fold's order."""
        return self._triples("select * from facts")

    def about(self, entity: str) -> list[Triple]:
        """Return the whole groups (one predicate of one entity) that name the entity."""
        named = "select source_id, label from facts where source_id = $1 or target_id = $1"
        groups = f"select * from facts where (source_id, label) in ({named})"
        return self._triples(groups, [entity])

    def names(self) -> Names:
        """Return the aliases that the triples state."""
        return triple.stated_names(triple.evidence_of(self.aliases()).values())

    def aliases(self) -> list[Triple]:
        """Return the triples that state another name of an entity, also past ones."""
        return self._triples(
            "select * from facts where label = $1", [ALSO_KNOWN_AS]
        )

    def newest(
        self, most: int, at: datetime, *, links: bool = True
    ) -> list[Triple]:
        """Return the triples that hold at the time, latest beginning first."""
        triples = self._triples(
            NEWEST, {"most": most, "at": at, "links": links}
        )
        return sorted(triples, key=lambda t: t.valid_at, reverse=True)

    def holding(self, at: datetime, *, links: bool = True) -> int:
        """Count the triples that hold at the time."""
        ((count,),) = self._rows(HOLDING, {"at": at, "links": links})
        return int(count)

    def changed(
        self, since: datetime, until: datetime, most: int
    ) -> list[Triple]:
        """Return the triples that began or ended in the span, in the fold's order."""
        return self._triples(
            CHANGED, {"since": since, "until": until, "most": most}
        )

    def drawn_from(self, conversation_id: str, most: int) -> list[Triple]:
        """Return triples that a statement of the conversation made or changed."""
        return self._triples(
            DRAWN, {"conversation": conversation_id, "most": most}
        )

    def entities(
        self, part: str, at: datetime, *, most: int, skip: int = 0
    ) -> list[Mentions]:
        """Return the entities whose names contain `part`, the most mentioned first."""
        given = {"part": part, "at": at, "most": most, "skip": skip}
        rows = self._rows(ENTITIES, given)
        ids = [row[-1] for row in rows]
        known = [*self.aliases(), *self._triples(BY_ID, [ids])]
        spellings = find_spellings(known)
        found: list[Mentions] = []
        for entity, triples, holding, newest, _ in rows:
            name = spellings.get(entity, entity)
            found.append(
                Mentions(entity, name, triples, holding, moment(newest))
            )
        return found

    def groups(
        self,
        since: Mapping[tuple[str, str], datetime],
        entities: Iterable[str],
    ) -> list[Triple]:
        """Return the triples of groups that operations from a time on can change.

        `since` has that time for each group. A triple that ended before it is left out,
        because no later statement changes it. Groups with a deletion and those that name
        one of the entities are whole: a late deletion may belong to an earlier ending.
        """
        sources, labels = zip(*since, strict=True)
        times = [microseconds(time) for time in since.values()]
        wanted = [list(sources), list(labels), times, list(entities), _ALWAYS]
        self._connection.execute(_WANTED, wanted)
        return self._triples(_STILL_OPEN)

    def replace(
        self, before: Iterable[Triple], after: Iterable[Triple]
    ) -> None:
        """Replace triples by others; a triple that is in both keeps its row."""
        old = {one.id: one for one in before}
        new = {one.id: one for one in after}
        gone = [id_ for id_, one in old.items() if new.get(id_) != one]
        self._connection.execute(
            "delete from facts where id in (select unnest($1::varchar[]))",
            [gone],
        )
        added = [one for id_, one in new.items() if old.get(id_) != one]
        for start in range(0, len(added), BATCH_ROWS):
            self._insert(to_table(added[start : start + BATCH_ROWS]))

    def encode(self) -> bytes:
        """Return the table as a Parquet object; equal triples give equal bytes."""
        casts = COLUMNS.replace(
            "properties", "properties::varchar as properties"
        )
        rows = self._connection.sql(f"select {casts} from facts {_ORDER}")
        buffer = io.BytesIO()
        with pq.ParquetWriter(buffer, SCHEMA, compression="zstd") as writer:
            for batch in rows.to_arrow_reader(BATCH_ROWS):
                writer.write_table(pa.Table.from_batches([batch]).cast(SCHEMA))
        return buffer.getvalue()

    def neighbours(
        self, entity: str, hops: int, at: datetime, most: int
    ) -> list[Neighbour]:
        """Return the entities within so many hops, nearest first, each with its edge."""
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
        """Return paths between entities that visit none twice, shortest first."""
        given = {
            "start": start,
            "goal": goal,
            "hops": max_hops,
            "at": at,
            "most": most,
            "fan": FAN_OUT,
            "frontier": FRONTIER,
        }
        found = self._rows(PATHS, given)
        edges: set[str] = set()
        for _, ids, _ in found:
            edges.update(ids)
        labels = self._labels(edges)
        paths = []
        for entities, ids, forwards in found:
            steps = zip(entities, entities[1:], ids, forwards, strict=False)
            links = [
                PathStep(here, labels[id_], there, forward)
                for here, there, id_, forward in steps
            ]
            paths.append(tuple(links))
        return paths

    def _labels(self, ids: set[str]) -> dict[str, str]:
        rows = self._rows(
            "select id, label from facts where id in (select unnest($1::varchar[]))",
            [[*ids]],
        )
        return dict(rows)

    def _insert(self, rows: Any) -> None:
        self._connection.register("incoming", rows)
        self._connection.execute(
            f"insert into facts select {COLUMNS} from incoming"
        )
        self._connection.unregister("incoming")

    def _rows(self, sql: str, given: Any = None) -> list[tuple[Any, ...]]:
        # One caller at a time fetches all rows: a connection holds only one result.
        with self._lock:
            return self._connection.execute(sql, given).fetchall()

    def _triples(self, sql: str, given: Any = None) -> list[Triple]:
        query = f"select {_READ} from ({sql}) as found {_ORDER}"
        rows = self._rows(query, given)
        with _require_intact(self._key):
            return [_to_triple(*row) for row in rows]


def require_footer(key: str, data: bytes) -> None:
    """Raise Damaged unless the bytes end as the Parquet file of such a table."""
    with _require_intact(key):
        schema = pq.read_schema(io.BytesIO(data))
        missing = set(SCHEMA.names).difference(schema.names)
        if missing:
            raise ValueError("columns are missing")


@contextmanager
def _require_intact(key: str) -> Iterator[None]:
    """Raise Damaged in place of errors of the data and of the libraries that read it."""
    try:
        with intact(key):
            yield
    except (pa.ArrowException, duckdb.Error, OSError) as error:
        raise Damaged(key, type(error).__name__) from error


def to_table(triples: Iterable[Triple]) -> pa.Table:
    """Return the triples as rows of `SCHEMA`, in their order."""
    rows = [_to_row(given) for given in triples]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _to_row(given: Triple) -> dict[str, Any]:
    row = {name: getattr(given, name) for name in _FIELDS}
    row["properties"] = encode_properties(given)
    return row


def _to_triple(
    source: str,
    label: str,
    target: str,
    valid: int,
    created: int,
    properties: str,
    invalid: int | None,
    expired: int | None,
) -> Triple:
    """Build a triple from the columns of `_READ`."""
    evidence = json.loads(properties)["evidence"]
    return Triple(
        source_id=source,
        label=label,
        target_id=target,
        valid_at=moment(valid),
        created_at=moment(created),
        evidence=tuple(map(triple.operation_from_json, evidence)),
        invalid_at=None if invalid is None else moment(invalid),
        expired_at=None if expired is None else moment(expired),
    )
