"""Stores as a whole: read out with their vectors, and moved to another model under readers and writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.contract.test_lance_upkeep import BUCKET, moto, prefixes, root
from tests.contract.test_records import T0, axis, record
from tests.support.internals import once_before_a_write
from varve.adapters.in_memory import InMemoryRecords
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import (
    lance_options,
    local_objects,
    s3_objects,
)
from varve.domain.calendar import Grain
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, Record, Vector
from varve.domain.search.query import Filter

__all__ = ["moto", "root"]  # the fixtures

SCOPE = Scope("acme", "support")
OLD, NEW = "old:8", "new:4"

Open = Callable[[], tuple[Any, Any]]


@pytest.fixture(params=["memory", "directory", "s3"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the records and the stores of one root, each time as another process would."""
    if request.param == "memory":
        held = InMemoryRecords()
        return lambda: (held, held)
    if request.param == "directory":
        return lance(str(tmp_path / "store"), tmp_path / "cache")
    request.getfixturevalue("moto")
    return lance(f"s3://{BUCKET}/{next(prefixes)}", tmp_path / "cache")


@pytest.fixture
def real(root: str, tmp_path: Path) -> Open:
    return lance(root, tmp_path / "cache")


def lance(root: str, cache: Path) -> Open:
    bucket, _, prefix = root.removeprefix("s3://").partition("/")
    remote = root.startswith("s3://")

    def open_() -> tuple[Any, Any]:
        objects = (
            s3_objects(bucket, prefix) if remote else local_objects(Path(root))
        )
        records = LanceRecords(
            root,
            objects,
            lance_options() if remote else None,
            caching=Caching(cache),
        )
        return records, records

    return open_


def put(records: Any, *ids: str, model: str = OLD) -> int:
    dimensions = int(model.rpartition(":")[2])
    made = [
        EmbeddedRecord(record(id_, f"{id_} likes tea"), axis(0)[:dimensions])
        for id_ in ids
    ]
    changed: int = records.upsert(SCOPE, Grain.WORKING, made, model).changed
    return changed


def fours(records: Sequence[Record]) -> list[Vector]:
    return [np.array([0, 1, 0, 0], np.float32) for _ in records]


def found(records: Any, model: str) -> set[str]:
    vector = np.zeros(int(model.rpartition(":")[2]), np.float32)
    vector[0] = 1
    candidates = records.candidates(
        SCOPE,
        Grain.WORKING,
        text="tea",
        vector=vector,
        model=model,
        where=Filter(),
        limit=50,
        reach=0,
    )
    return set(candidates.ids)


def test_a_store_that_is_not_there_has_no_model(opened: Open) -> None:
    _, stores = opened()
    assert stores.model(SCOPE, Grain.WORKING) is None
    assert stores.embedded(SCOPE, Grain.WORKING) == (None, [])
    assert stores.move(SCOPE, Grain.WORKING, NEW, fours) == 0


def test_a_store_is_read_out_whole(opened: Open) -> None:
    records, stores = opened()
    put(records, "b", "a")
    model, held = stores.embedded(SCOPE, Grain.WORKING)
    assert (model, stores.model(SCOPE, Grain.WORKING)) == (OLD, OLD)
    assert [one.record for one in held] == [
        record("a", "a likes tea"),
        record("b", "b likes tea"),
    ]
    assert [one.vector.tolist() for one in held] == [axis(0).tolist()] * 2
    assert held[0].record.event_time == T0


def test_a_moved_store_holds_the_same_records_under_the_other_model(
    opened: Open,
) -> None:
    records, stores = opened()
    put(records, "a", "b")
    _, before = stores.embedded(SCOPE, Grain.WORKING)
    assert stores.move(SCOPE, Grain.WORKING, NEW, fours) == 2
    model, after = stores.embedded(SCOPE, Grain.WORKING)
    assert model == NEW
    assert [one.record for one in after] == [one.record for one in before]
    assert [one.vector.tolist() for one in after] == [[0, 1, 0, 0]] * 2
    assert stores.move(SCOPE, Grain.WORKING, NEW, fours) == 0
    assert put(records, "c", model=NEW) == 1


def test_invariant_10_a_moved_store_refuses_the_model_it_has_left(
    opened: Open,
) -> None:
    records, stores = opened()
    put(records, "a")
    stores.move(SCOPE, Grain.WORKING, NEW, fours)
    for refused in (lambda: put(records, "b"), lambda: found(records, OLD)):
        with pytest.raises(EmbeddingMismatch, match=r"'new:4'.*'old:8'"):
            refused()


def test_another_process_sees_the_move_and_finds_by_word_and_by_vector(
    real: Open,
) -> None:
    writing, stores = real()
    put(writing, "a", "b")
    reading, _ = real()
    assert found(reading, OLD) == {"a", "b"}
    stores.move(SCOPE, Grain.WORKING, NEW, fours)
    with pytest.raises(EmbeddingMismatch):
        found(reading, OLD)
    assert found(reading, NEW) == {"a", "b"}


def test_a_view_from_before_the_move_goes_on_with_the_old_model(
    real: Open, root: str
) -> None:
    if not root.startswith("s3://"):
        pytest.skip("in a directory a view is always the newest")
    writing, stores = real()
    put(writing, "a")
    reading, _ = real()
    view = reading.at(SCOPE)
    stores.move(SCOPE, Grain.WORKING, NEW, fours)
    assert found(view, OLD) == {"a"}


def test_invariant_4_what_is_committed_while_a_store_moves_is_moved_as_well(
    real: Open,
) -> None:
    records, stores = real()
    put(records, "a")
    other, _ = real()
    calls: list[int] = []

    def embed(moving: Sequence[Record]) -> list[Vector]:
        if not calls:
            put(other, "b")
        calls.append(len(moving))
        return fours(moving)

    assert stores.move(SCOPE, Grain.WORKING, NEW, embed) == 2
    assert calls == [1, 2]
    assert {
        one.record.id for one in stores.embedded(SCOPE, Grain.WORKING)[1]
    } == {
        "a",
        "b",
    }


def test_a_write_that_meets_the_move_is_refused_and_not_lost_in_silence(
    real: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, stores = real()
    put(records, "a")
    once_before_a_write(
        monkeypatch, lambda: stores.move(SCOPE, Grain.WORKING, NEW, fours)
    )
    with pytest.raises((Retryable, EmbeddingMismatch)):
        put(records, "b")
    assert put(records, "b", model=NEW) == 1
    assert found(records, NEW) == {"a", "b"}


def test_an_embedder_that_fails_leaves_the_store_as_it_was(
    opened: Open,
) -> None:
    records, stores = opened()
    put(records, "a")

    def fail(_: Sequence[Record]) -> list[Vector]:
        raise Retryable("no model")

    with pytest.raises(Retryable, match="no model"):
        stores.move(SCOPE, Grain.WORKING, NEW, fail)
    assert stores.model(SCOPE, Grain.WORKING) == OLD
    assert found(records, OLD) == {"a"}
