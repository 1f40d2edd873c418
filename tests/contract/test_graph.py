"""What every graph promises, asked of each adapter; then what the Parquet object holds."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import Any, Protocol

import pyarrow.parquet as pq
import pytest

from tests.support.s3 import s3_server
from varve.adapters.graph.parquet import ParquetGraph
from varve.adapters.graph.table import SCHEMA
from varve.adapters.in_memory import InMemoryGraph
from varve.adapters.objects.store import local_objects, s3_objects
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.triple import Op, Triple, TripleOperation
from varve.ports.graph import GraphReader, GraphWriter
from varve.ports.objects import Objects, StoredObject

SCOPE = Scope("acme", "support")
KEY = "graphs/acme/support/facts.parquet"
T0 = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
BUCKET = "varve-test"
PROJECT = Path(__file__).parents[2]
prefixes = (f"prefix-{number}" for number in count())


class Graph(GraphReader, GraphWriter, Protocol):
    """Both ports over one graph."""


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


def directory(root: Path) -> Callable[[], Objects]:
    return lambda: local_objects(root)


def s3(_: Path) -> Callable[[], Objects]:
    prefix = next(prefixes)
    return lambda: s3_objects(BUCKET, prefix)


@pytest.fixture(params=[directory, s3], ids=["directory", "s3"])
def objects(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[], Objects]:
    if request.param is s3:
        request.getfixturevalue("moto")
    opener: Callable[[], Objects] = request.param(tmp_path / "store")
    return opener


@pytest.fixture(params=["memory", "directory", "s3"])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[], Graph]:
    """Opens one and the same graph, as another process would."""
    if request.param == "memory":
        shared = InMemoryGraph()
        return lambda: shared
    if request.param == "s3":
        request.getfixturevalue("moto")
    objects = (s3 if request.param == "s3" else directory)(tmp_path / "store")
    return lambda: ParquetGraph(objects())


@pytest.fixture
def graph(opened: Callable[[], Graph]) -> Graph:
    return opened()


def said(
    subject: str, predicate: str, object_: str, day: int = 0, **changes: Any
) -> TripleOperation:
    made = TripleOperation(
        op=Op.ADD,
        subject=subject,
        predicate=predicate,
        object=object_,
        event_time=T0 + timedelta(days=day),
        created_at=T0 + timedelta(days=day, hours=1),
        conversation_id="c-1",
        message_ids=(f"m-{day}",),
        user_id="u-1",
        confidence=0.9,
    )
    return replace(made, **changes)


STORY = [
    said("Dana", "lives_in", "Leeds", 0),
    said("Dana", "lives_in", "Lisbon", 10, op=Op.UPDATE),
    said("dana", "lives_in", "lisbon.", 12),
    said("Dana", "lives_in", "Porto", 20, op=Op.UPDATE),
    said("Dana", "likes", "tea", 1),
    said("Dana", "likes", "coffee", 2),
    said("Dana", "likes", "oat milk", 5, op=Op.UPDATE, replaces="coffee"),
    said("Dana", "likes", "tea", 9, op=Op.DELETE),
    said("Dana", "owns", "cat", 3, op=Op.DELETE),
    said("Dana", "owns", "", 4, op=Op.DELETE),
    said(
        "Marco",
        "vive en",
        "Órbita “Salud” \\ '😀'",
        3,
        user_id=None,
        confidence=1.0,
    ),
    said("Dana", "works_at", "Ferrabank", 0),
    said("Dana", "works_at", "Luzmar", 11),
]


def spans(triples: Sequence[Triple]) -> list[tuple[str, str, str, bool]]:
    return [
        (t.source_id, t.label, t.target_id, t.invalid_at is None)
        for t in triples
    ]


class TestEveryGraph:
    def test_keeps_what_holds_and_what_held(self, graph: Graph) -> None:
        assert graph.apply(SCOPE, STORY) == len(STORY)
        told = spans(graph.triples(SCOPE))
        assert ("dana", "lives_in", "porto", True) in told
        assert ("dana", "lives_in", "lisbon", False) in told
        assert ("dana", "lives_in", "leeds", False) in told
        assert ("dana", "likes", "oat milk", True) in told
        assert ("dana", "likes", "tea", False) in told
        assert sum(1 for t in told if t[:2] == ("dana", "likes") and t[3]) == 1

    def test_gives_the_same_triples_for_operations_in_any_order_and_batching(
        self, opened: Callable[[], Graph]
    ) -> None:
        expected = InMemoryGraph()
        expected.apply(SCOPE, STORY)
        for seed in range(6):
            chance = random.Random(seed)
            scope = Scope("acme", f"agent-{seed}")
            shuffled = chance.sample(STORY, len(STORY)) + chance.sample(
                STORY, 4
            )
            while shuffled:
                size = chance.randint(1, 5)
                opened().apply(scope, shuffled[:size])
                shuffled = shuffled[size:]
            assert opened().triples(scope) == expected.triples(SCOPE)

    def test_invariant_8_what_is_taken_back_was_never_said(
        self, opened: Callable[[], Graph]
    ) -> None:
        graph, gone = opened(), STORY[3]
        graph.apply(SCOPE, STORY)
        assert graph.erase(SCOPE, [gone.id, "none such"]) == 1
        assert graph.erase(SCOPE, [gone.id]) == 0
        never = InMemoryGraph()
        never.apply(
            SCOPE, [operation for operation in STORY if operation is not gone]
        )
        assert opened().triples(SCOPE) == never.triples(SCOPE)

    def test_nothing_can_be_taken_back_of_a_graph_that_is_not_there(
        self, graph: Graph
    ) -> None:
        assert graph.erase(SCOPE, ["none such"]) == 0

    def test_counts_only_what_is_new(self, graph: Graph) -> None:
        assert graph.apply(SCOPE, STORY[:3]) == 3
        assert graph.apply(SCOPE, STORY[:5]) == 2
        assert graph.apply(SCOPE, [*STORY[:6], STORY[5], STORY[5]]) == 1
        assert graph.apply(SCOPE, STORY[:6]) == 0
        assert graph.apply(SCOPE, []) == 0

    def test_a_statement_keeps_the_moment_it_was_first_learnt(
        self, opened: Callable[[], Graph]
    ) -> None:
        later = replace(
            STORY[0], created_at=STORY[0].created_at + timedelta(days=5)
        )
        for name, order in (
            ("a", [STORY[0], later]),
            ("b", [later, STORY[0]]),
        ):
            for operation in order:
                opened().apply(Scope("acme", name), [operation])
            (triple,) = opened().triples(Scope("acme", name))
            assert triple.created_at == STORY[0].created_at

    def test_what_one_opening_writes_another_reads_at_once(
        self, opened: Callable[[], Graph]
    ) -> None:
        writer, reader = opened(), opened()
        assert reader.triples(SCOPE) == []
        for number, operation in enumerate(STORY[:2], start=1):
            writer.apply(SCOPE, [operation])
            assert len(reader.triples(SCOPE)) == number

    def test_scopes_do_not_see_each_other(self, graph: Graph) -> None:
        others = [Scope("acme", "sales"), Scope("acme-2", "support")]
        for scope in others:
            graph.apply(scope, [said("Dana", "knows", str(scope))])
        assert graph.triples(SCOPE) == []
        assert [spans(graph.triples(s))[0][2] for s in others] == [
            str(s) for s in others
        ]

    def test_writers_at_the_same_time_lose_nothing(
        self, opened: Callable[[], Graph]
    ) -> None:
        writers, each = 4, 6
        start = Barrier(writers)

        def run(me: int) -> int:
            graph = opened()
            start.wait()
            return sum(
                graph.apply(
                    SCOPE, [said(f"writer {me}", "likes", f"thing {n}", n)]
                )
                for n in range(each)
            )

        with ThreadPoolExecutor(writers) as pool:
            new = list(pool.map(run, range(writers)))
        told = {(t.source_id, t.target_id) for t in opened().triples(SCOPE)}
        assert told == {
            (f"writer {me}", f"thing {n}")
            for me in range(writers)
            for n in range(each)
        }
        assert len(opened().triples(SCOPE)) == writers * each
        if not isinstance(
            opened(), InMemoryGraph
        ):  # whose count is a difference of two moments
            assert new == [each] * writers


WRITER = """
import sys
from tests.contract.test_graph import SCOPE, said
from varve.adapters.objects.store import s3_objects
from varve.adapters.graph.parquet import ParquetGraph
bucket, prefix, me, each = sys.argv[1:]
graph = ParquetGraph(s3_objects(bucket, prefix))
print(sum(graph.apply(SCOPE, [said(f"writer {me}", "likes", f"thing {n}", n)]) for n in range(int(each))))
"""


def test_who_writes_or_reads_no_triples_does_not_import_duckdb() -> None:
    handlers = sorted(
        path.parent.name for path in (PROJECT / "functions").glob("*/app.py")
    )
    program = f"""
import importlib, sys
for name in {handlers!r}:
    importlib.import_module(f"functions.{{name}}.app")
from tests.support.drivers import open_driver
open_driver().graph
assert "duckdb" not in sys.modules, "duckdb is imported"
"""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(("shared", ".")),
    }
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        env=environment,
        check=True,
    )


class TestParquet:
    def test_the_object_is_readable_by_any_parquet_reader(
        self, objects: Callable[[], Objects]
    ) -> None:
        ParquetGraph(objects()).apply(SCOPE, STORY)
        table = pq.read_table(io.BytesIO(self.stored(objects).data))
        assert table.schema.equals(SCHEMA)
        assert {"id", "source_id", "target_id", "label", "properties"} < set(
            table.column_names
        )
        assert {"valid_at", "invalid_at"} < set(table.column_names)
        triples = ParquetGraph(objects()).triples(SCOPE)
        for row, triple in zip(table.to_pylist(), triples, strict=True):
            assert row["id"] == triple.id
            assert (row["source_id"], row["label"], row["target_id"]) == (
                triple.source_id, triple.label, triple.target_id,
            )  # fmt: skip
            assert (row["valid_at"], row["invalid_at"]) == (
                triple.valid_at,
                triple.invalid_at,
            )
            assert (row["created_at"], row["expired_at"]) == (
                triple.created_at,
                triple.expired_at,
            )
            assert row["valid_at"].utcoffset() == timedelta(0)
            assert len(json.loads(row["properties"])["evidence"]) == len(
                triple.evidence
            )

    def test_row_ids_are_unique(self, objects: Callable[[], Objects]) -> None:
        ParquetGraph(objects()).apply(SCOPE, STORY)
        ids = (
            pq.read_table(
                io.BytesIO(self.stored(objects).data), columns=["id"]
            )
            .column("id")
            .to_pylist()
        )
        assert len(set(ids)) == len(ids)

    def test_the_same_again_does_not_touch_the_object(
        self, objects: Callable[[], Objects]
    ) -> None:
        ParquetGraph(objects()).apply(SCOPE, STORY)
        (before,) = objects().list("graphs")
        ParquetGraph(objects()).apply(SCOPE, STORY)
        (after,) = objects().list("graphs")
        assert after == before

    def test_the_same_operations_make_the_same_bytes(
        self, objects: Callable[[], Objects]
    ) -> None:
        for agent, order in (("a", STORY), ("b", STORY[::-1])):
            for operation in order:
                ParquetGraph(objects()).apply(
                    Scope("acme", agent), [operation]
                )
        a, b = (
            objects().get(f"graphs/acme/{agent}/facts.parquet")
            for agent in "ab"
        )
        assert a is not None
        assert b is not None
        assert a.data == b.data

    def test_reading_makes_nothing(
        self, objects: Callable[[], Objects]
    ) -> None:
        assert ParquetGraph(objects()).triples(SCOPE) == []
        assert list(objects().list("graphs")) == []

    def test_a_writer_who_always_loses_gives_up_and_says_so(
        self, objects: Callable[[], Objects]
    ) -> None:
        class Unlucky:
            tries = 0

            def get(self, key: str) -> StoredObject | None:
                return objects().get(key)

            def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
                self.tries += 1
                return False

        unlucky: Any = Unlucky()
        with pytest.raises(Retryable, match=r"acme/support.*races"):
            ParquetGraph(unlucky).apply(SCOPE, STORY)
        assert 1 < unlucky.tries <= 100

    def test_invariant_4_two_processes_at_once_lose_nothing(
        self, moto: str
    ) -> None:
        prefix = next(prefixes)
        each = 8
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(("shared", ".")),
        }
        command = [sys.executable, "-c", WRITER, BUCKET, prefix]
        writers = [
            subprocess.Popen(
                [*command, str(me), str(each)],
                cwd=PROJECT,
                env=environment,
                stdout=subprocess.PIPE,
            )
            for me in range(2)
        ]
        told = [writer.communicate(timeout=120)[0] for writer in writers]
        assert [writer.returncode for writer in writers] == [0, 0]
        assert [int(new) for new in told] == [each, each]
        triples = ParquetGraph(s3_objects(BUCKET, prefix)).triples(SCOPE)
        assert {(t.source_id, t.target_id) for t in triples} == {
            (f"writer {me}", f"thing {n}")
            for me in range(2)
            for n in range(each)
        }

    @pytest.mark.parametrize(
        "meanwhile", [False, True], ids=["alone", "another wrote since"]
    )
    def test_a_lost_acknowledgement_neither_loses_nor_doubles(
        self, objects: Callable[[], Objects], meanwhile: bool
    ) -> None:
        """The put is applied, but what comes back is a refusal: the writer meets its own operations."""

        class Forgetful:
            tries = 0

            def get(self, key: str) -> StoredObject | None:
                return objects().get(key)

            def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
                self.tries += 1
                assert objects().put_if(key, data, etag)
                if meanwhile and self.tries == 1:
                    ParquetGraph(objects()).apply(SCOPE, STORY[5:])
                return False

        forgetful: Any = Forgetful()
        ParquetGraph(forgetful).apply(SCOPE, STORY[:5])
        assert forgetful.tries == 1
        expected = InMemoryGraph()
        expected.apply(SCOPE, STORY if meanwhile else STORY[:5])
        assert ParquetGraph(objects()).triples(SCOPE) == expected.triples(
            SCOPE
        )

    def test_a_reader_loads_the_table_anew_only_when_it_has_changed(
        self, objects: Callable[[], Objects]
    ) -> None:
        graph = ParquetGraph(objects())
        graph.apply(SCOPE, STORY[:3])
        first = graph.open(SCOPE)
        assert graph.open(SCOPE) is first
        ParquetGraph(objects()).apply(SCOPE, STORY[3:])
        assert graph.open(SCOPE) is not first
        assert graph.counts(SCOPE, datetime.now(UTC))[0] == len(
            graph.triples(SCOPE)
        )

    def stored(self, objects: Callable[[], Objects]) -> StoredObject:
        stored = objects().get(KEY)
        assert stored is not None
        return stored
