"""A damaged object of any sort gives a right answer or a Varve error that names it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from benchmarks.counting_s3 import BUCKET, CountingS3
from tests.support.damage import (
    AGENT,
    DAMAGES,
    KINDS,
    NAMES_ALONE,
    WITH_CONTENT,
    WORKSPACE,
    fill,
    of_each_kind,
    opened,
    tried,
    verbs,
)
from tests.support.nightly import choose
from varve import Memory
from varve.adapters.objects.store import local_objects, s3_objects
from varve.domain.damage import Damaged
from varve.ports.objects import Objects

ROOT = "whole"
BY_DAY = {
    (kind, damage)
    for number, kind in enumerate(WITH_CONTENT)
    for turn, damage in enumerate(DAMAGES)
    if number % len(DAMAGES) == turn
}
"""By day each kind with one damage, so that each damage is among them."""
CASES = choose(by_day=BY_DAY, by_night={*product(WITH_CONTENT, DAMAGES)})
ON_S3 = choose(
    by_day=[
        ("manifest", "cut off"),
        ("rows", "bits"),
        ("index", "cut off"),
        ("facts.parquet", "bits"),
    ],
    by_night=[
        *product(
            ["manifest", "rows", "index", "facts.parquet"],
            ["cut off", "bits"],
        )
    ],
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp(ROOT)
    fill(opened(str(root), root), local_objects(root))
    return root


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CountingS3]:
    with CountingS3() as server, server.as_aws():
        cache = tmp_path_factory.mktemp("cache")
        fill(opened(f"s3://{BUCKET}/{ROOT}", cache), s3_objects(BUCKET, ROOT))
        yield server


def keys_in(objects: Objects) -> dict[str, str]:
    """Return one key of each kind."""
    folders = (
        "workspaces",
        "ledger",
        "timeline",
        "profiles",
        "graphs",
        "vectordb",
        "payloads",
        "audit",
    )
    return of_each_kind(
        info.key for folder in folders for info in objects.list(folder)
    )


def check(memory: Memory, ids: list[str], key: str) -> None:
    """Check that every verb answers, or raises a Varve error that names the object."""
    for name, verb in verbs(memory, ids).items():
        error = tried(verb)
        if isinstance(error, Damaged):
            assert f"{key} is damaged" in str(error), name
        elif error is not None:
            assert f"{WORKSPACE}/{AGENT}" in str(
                error
            ) or "config.json" in str(error), name


def test_invariant_1_every_sort_of_object_of_a_store_is_tried(
    directory: Path, s3: CountingS3
) -> None:
    assert set(keys_in(local_objects(directory))) == {
        *NAMES_ALONE,
        *WITH_CONTENT,
    }
    assert set(keys_in(s3_objects(BUCKET, ROOT))) == {*KINDS}


@pytest.mark.parametrize(("kind", "damage"), sorted(CASES))
def test_a_damaged_object_in_a_directory_ends_in_an_answer_or_an_error_of_ours(
    kind: str, damage: str, directory: Path, tmp_path: Path
) -> None:
    key, ids = (
        keys_in(local_objects(directory))[kind],
        ids_in(opened(str(directory), tmp_path)),
    )
    root = tmp_path / ROOT
    shutil.copytree(directory, root)
    (root / key).write_bytes(DAMAGES[damage]((root / key).read_bytes()))
    check(opened(str(root), tmp_path), ids, key)


def test_what_lies_in_an_object_that_speaks_by_its_name_does_not_matter(
    directory: Path, tmp_path: Path
) -> None:
    ids, root = ids_in(opened(str(directory), tmp_path)), tmp_path / ROOT
    shutil.copytree(directory, root)
    keys = keys_in(local_objects(directory))
    for kind in NAMES_ALONE:
        (root / keys[kind]).write_bytes(b"what is this?")
    for name, verb in verbs(opened(str(root), tmp_path), ids).items():
        assert tried(verb) is None, name


@pytest.mark.parametrize(("kind", "damage"), ON_S3)
def test_a_damaged_object_on_s3_ends_in_an_answer_or_an_error_of_ours(
    kind: str, damage: str, s3: CountingS3, tmp_path: Path
) -> None:
    root = f"{kind}-{damage}".replace(" ", "-")
    owner = f"{WORKSPACE}/{AGENT}"
    s3.clone(ROOT, root, {owner: [owner]})
    objects = s3_objects(BUCKET, root)
    key, ids = (
        keys_in(objects)[kind],
        ids_in(opened(f"s3://{BUCKET}/{ROOT}", tmp_path)),
    )
    whole = objects.get(key)
    assert whole is not None
    objects.put(key, DAMAGES[damage](whole.data))
    check(opened(f"s3://{BUCKET}/{root}", tmp_path), ids, key)


def ids_in(memory: Memory) -> list[str]:
    return [
        result.id
        for grain in ("working", "daily")
        for result in memory.search(grain=grain).results
    ]


def test_a_damaged_note_of_a_failure_is_tried_again_and_stops_nobody(
    directory: Path, tmp_path: Path
) -> None:
    root = tmp_path / ROOT
    shutil.copytree(directory, root)
    key = keys_in(local_objects(root))["failure"]
    (root / key).write_bytes(b"{")
    memory = opened(str(root), tmp_path)
    assert memory.summarize(grain="daily")["built"] == 1
    assert not (root / key).exists()
