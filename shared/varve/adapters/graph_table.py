"""An agent's triples as a DuckDB table in this process, in and out of Parquet bytes.

DuckDB opens no file and no connection here: bytes come and go through the store's own client.
"""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from varve.domain import triple
from varve.domain.graph import Link, Neighbour
from varve.domain.names import ALSO_KNOWN_AS, Names
from varve.domain.triple import Triple, TripleOperation

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
FAN_OUT = 50
"""How many edges a search follows from any one entity, the newest first: hubs know everybody."""
FRONTIER = 5_000
"""How many entities or unfinished paths a search carries into its next hop."""

_CONFIG = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_TABLE = """
create table facts (
    id varchar not null, source_id varchar not null, target_id varchar not null, label varchar not null,
    properties json not null, valid_at timestamptz not null, invalid_at timestamptz,
    created_at timestamptz not null, expired_at timestamptz
)"""
_HELD = "valid_at <= $at and (invalid_at is null or $at < invalid_at)"
_EDGES = """
edges as (
    select source_id as here, target_id as there, label, id, valid_at, true as forward from current
    union all
    select target_id, source_id, label, id, valid_at, false from current where source_id != target_id
)"""
_CURRENT = f"""
with recursive current as (
    select * from facts
    where case when $at is null then invalid_at is null else {_HELD} end
      and target_id != '' and label not in ('also_known_as', 'name', 'goes_by')
)"""
_NEIGHBOURS = f"""
{_CURRENT}, {_EDGES},
reach(entity, hops, label, other, forward) using key (entity) as (
    select $start::varchar, 0, null::varchar, null::varchar, null::boolean
    union
    (
        select there, hops + 1, edges.label, here, edges.forward
        from reach join edges on here = reach.entity
        where hops < $hops and not exists (select 1 from recurring.reach seen where seen.entity = there)
        qualify row_number() over (partition by here order by valid_at desc, edges.id, edges.forward) <= $fan
            and row_number() over (partition by there order by here, edges.id) = 1
            and row_number() over (order by here, there) <= $frontier
    )
)
select entity, hops, label, other, forward from reach where hops > 0 order by hops, entity limit $most"""
_PATHS = f"""
{_CURRENT}, {_EDGES},
walk(entity, seen, ids, forwards) as (
    select $start::varchar, [$start::varchar], []::varchar[], []::boolean[]
    union all
    (
        select there, list_append(seen, there), list_append(ids, edges.id), list_append(forwards, forward)
        from walk join edges on here = walk.entity
        where walk.entity != $goal and len(ids) < $hops and not list_contains(seen, there)
        qualify there = $goal or (
            row_number() over (partition by seen, ids order by valid_at desc, edges.id, forward) <= $fan
            and row_number() over (order by seen, ids, edges.id) <= $frontier
        )
    )
)
select seen, ids, forwards from walk where entity = $goal and len(ids) > 0
order by len(ids), seen, ids limit $most"""


class GraphTable:
    """The table `facts`, loaded from a Parquet object's bytes (None: an empty one)."""

    def __init__(self, data: bytes | None = None) -> None:
        self._connection = duckdb.connect(config=_CONFIG)
        self._connection.execute("set timezone = 'UTC'")
        self._connection.execute(_TABLE)
        if data:
            file = pq.ParquetFile(io.BytesIO(data))
            rows = file.iter_batches(BATCH_ROWS, columns=SCHEMA.names)
            self._insert(pa.RecordBatchReader.from_batches(SCHEMA, (batch.cast(SCHEMA) for batch in rows)))

    def close(self) -> None:
        """Free the table's memory."""
        self._connection.close()

    def counts(self) -> tuple[int, int]:
        """How many triples there are, and how many of them hold."""
        ((all_, current),) = self._rows("select count(*), count(*) filter (invalid_at is null) from facts")
        return all_, current

    def triples(self) -> list[Triple]:
        """All of them, in the fold's order."""
        return self._triples("select * from facts")

    def about(self, entity: str) -> list[Triple]:
        """The whole groups (one entity's one predicate) in which the entity is named."""
        named = "select source_id, label from facts where source_id = $1 or target_id = $1"
        return self._triples(f"select * from facts where (source_id, label) in ({named})", [entity])

    def names(self) -> Names:
        """The aliases that the triples state."""
        return triple.stated_names(self.aliases().values())

    def aliases(self) -> dict[str, TripleOperation]:
        """The operations behind the aliases."""
        return triple.evidence_of(self._triples("select * from facts where label = $1", [ALSO_KNOWN_AS]))

    def groups(self, keys: Iterable[tuple[str, str]], entities: Iterable[str]) -> list[Triple]:
        """The groups of these keys, and those in which one of the entities is named, each whole."""
        sources, labels = zip(*keys, strict=True)
        wanted = """
            select unnest($1::varchar[]) as source_id, unnest($2::varchar[]) as label
            union select source_id, label from facts where source_id in (select unnest($3::varchar[]))
            union select source_id, label from facts where target_id in (select unnest($3::varchar[]))"""
        self._connection.execute(
            f"create or replace temp table wanted as {wanted}", [[*sources], [*labels], [*entities]]
        )
        return self._triples("select facts.* from facts semi join wanted using (source_id, label)")

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

    def neighbours(self, entity: str, hops: int, at: datetime | None, most: int) -> list[Neighbour]:
        """The entities within so many hops, nearest first, each with the edge that led to it."""
        given = {"start": entity, "hops": hops, "at": at, "most": most, "fan": FAN_OUT, "frontier": FRONTIER}
        return [Neighbour(*row) for row in self._rows(_NEIGHBOURS, given)]

    def paths(
        self, start: str, goal: str, max_hops: int, at: datetime | None, most: int
    ) -> list[tuple[Link, ...]]:
        """Ways from one entity to the other that pass none twice, the shortest first."""
        given = {"start": start, "goal": goal, "hops": max_hops, "at": at, "most": most}
        found = self._rows(_PATHS, {**given, "fan": FAN_OUT, "frontier": FRONTIER})
        labels = self._labels({id_ for _, ids, _ in found for id_ in ids})
        return [
            tuple(
                Link(here, labels[id_], there, forward)
                for here, there, id_, forward in zip(seen, seen[1:], ids, forwards, strict=False)
            )
            for seen, ids, forwards in found
        ]

    def _labels(self, ids: set[str]) -> dict[str, str]:
        rows = self._rows("select id, label from facts where id in (select unnest($1::varchar[]))", [[*ids]])
        return dict(rows)

    def _insert(self, rows: Any) -> None:
        self._connection.register("incoming", rows)
        self._connection.execute(f"insert into facts select {COLUMNS} from incoming")
        self._connection.unregister("incoming")

    def _rows(self, sql: str, given: Any = None) -> list[tuple[Any, ...]]:
        # All of them: rows left unfetched would block the next registration.
        return self._connection.execute(sql, given).fetchall()

    def _triples(self, sql: str, given: Any = None) -> list[Triple]:
        wanted = (
            "source_id, label, target_id, epoch_us(valid_at), epoch_us(created_at), properties, "
            "epoch_us(invalid_at), epoch_us(expired_at)"
        )
        order = "order by source_id, label, valid_at, target_id, id"
        return [_triple(*row) for row in self._rows(f"select {wanted} from ({sql}) as found {order}", given)]


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
