"""A memory in a directory keeps little beside its records once its night's work is done."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.directory_size import (
    ENVIRONMENT,
    FIRST_DAY,
    conversations,
    sizes,
)
from varve.api.memory import Memory

DAYS = 3
BESIDE_RECORDS = ("LanceDB: _versions", "LanceDB: _transactions")


def manifests(root: Path) -> Counter[Path]:
    found = root.glob("vectordb/*/*/*/memories.lance/_versions/*.manifest")
    return Counter(path.parent for path in found)


@pytest.mark.parametrize("verb", ["summarize", "cleanup"])
def test_a_nights_work_leaves_one_version_of_each_store_in_a_directory(
    tmp_path: Path, verb: str
) -> None:
    now = FIRST_DAY + timedelta(days=DAYS + 1)
    memory = Memory.open(tmp_path, now=now, environment=ENVIRONMENT)
    for conversation in conversations(DAYS):
        memory.ingest(conversation)
    assert max(manifests(tmp_path).values()) > 1
    before = memory.search("Marco", max_results=5)
    getattr(memory, verb)()
    assert set(manifests(tmp_path).values()) == {1}
    after = memory.search("Marco", max_results=5, grain="working")
    assert {one.id for one in after.results}
    assert {one.id for one in before.results}
    kept = sizes(tmp_path)
    assert (
        sum(kept[part] for part in BESIDE_RECORDS)
        < 0.1 * kept["LanceDB: data"]
    )
