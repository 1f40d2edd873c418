"""A process is killed while it makes a store's table: what it leaves in a directory goes."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory
from varve.adapters.lance.purge import LONGEST_WRITE

WORDS = "I collect xylophones."
NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
LONG_AGO = LONGEST_WRITE + timedelta(minutes=1)
KILLED = 9
DYING = f"""
import os, sys
from varve import Memory
from varve.adapters.lance.copies import TableCopy
setattr(TableCopy, sys.argv[2], lambda *_: os._exit({KILLED}))
memory = Memory.open(sys.argv[1], environment={{}})
message = {{"role": "user", "content": {WORDS!r}, "id": "m1"}}
message["timestamp"] = "2026-03-03T12:00:00Z"
memory.ingest(
    {{"conversationId": "c-1", "userId": "u-1", "messages": [message]}}
)
"""


@pytest.fixture(scope="module", params=["publish", "_put"])
def remains(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A store whose first writer was killed before it put its table's manifest.

    That is before the table's files were in the store, or after.
    """
    root = tmp_path_factory.mktemp("killed") / "memory"
    given = [sys.executable, "-c", DYING, str(root), request.param]
    assert subprocess.run(given, check=False).returncode == KILLED
    assert find_rows(root)
    return root


@pytest.fixture
def root(remains: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "memory"
    subprocess.run(["cp", "-a", str(remains), str(copy)], check=True)
    return copy


def find_rows(root: Path) -> list[Path]:
    """Return the files of stores that have the words."""
    files = [one for one in (root / "vectordb").rglob("*") if one.is_file()]
    return [one for one in files if b"xylophones" in one.read_bytes()]


def find_left(root: Path) -> list[Path]:
    """Return the files below the folders in which a table is made."""
    homes = root.rglob("varve-create-*")
    return [
        one for home in homes for one in home.rglob("*.*") if one.is_file()
    ]


def move_back(root: Path, age: timedelta) -> None:
    """Let the present be later: all files are older by so much."""
    for path in root.rglob("*"):
        before = path.stat().st_mtime - age.total_seconds()
        os.utime(path, (before, before))


def open_memory(root: Path) -> Memory:
    return Memory.open(root, now=NOW, environment={})


def test_an_erasure_takes_what_a_killed_creator_left(root: Path) -> None:
    move_back(root, LONG_AGO)
    receipt = open_memory(root).forget(user="u-1", verify=True)
    assert receipt["verification"]["proved"] is True
    assert find_rows(root) == []
    assert find_left(root) == []


def test_an_erasure_takes_it_although_nothing_was_written_since(
    root: Path,
) -> None:
    memory = open_memory(root)
    message = {"role": "user", "content": "I like plums.", "id": "m1"}
    memory.ingest(
        {"conversationId": "c-2", "userId": "u-2", "messages": [message]}
    )
    move_back(root, LONG_AGO)
    again = open_memory(root)
    again.forget(user="u-1")
    assert find_rows(root) == []
    assert find_left(root) == []
    assert "plums" in again.search(user_id="u-2").results[0].content


def test_a_creator_that_may_still_be_at_work_is_left_alone(
    root: Path,
) -> None:
    memory = open_memory(root)
    receipt = memory.forget(user="u-1", verify=True)
    assert find_rows(root)
    assert receipt["verification"]["proved"] is False
    move_back(root, LONG_AGO)
    again = memory.forget(user="u-1", verify=True)
    assert again["verification"]["proved"] is True
    assert find_left(root) == []
