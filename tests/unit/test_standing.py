"""Which version a folder's manifests tell, and when its names are read again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.internals import give_clock_and_files
from varve.adapters.lance_cache.files import manifest_name
from varve.adapters.lance_cache.version_watch import (
    COARSEST_SECONDS,
    VersionWatch,
)


class Folder:
    """A table's versions, written within one tick of a clock that this test turns by hand."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table, self.now, self.readings = root / "memories.lance", 100.0, 0
        give_clock_and_files(monkeypatch, lambda: self.now, self)
        self.stat = os.stat

    def listdir(self, path: str) -> list[str]:
        self.readings += 1
        return [found.name for found in Path(path).iterdir()]

    @property
    def path(self) -> str:
        return str(self.table / "_versions")

    def commit(self, version: int, tick: int = 1) -> None:
        path = self.table / manifest_name(version)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        os.utime(path.parent, ns=(tick, tick))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return Folder(tmp_path, monkeypatch)


def test_a_commit_within_the_same_tick_is_seen(folder: Folder) -> None:
    watch = VersionWatch()
    assert watch.newest(folder.path) is None
    seen = set()
    for version in (1, 2, 3):
        folder.commit(version)
        seen.add(watch.newest(folder.path))
        assert watch.newest(folder.path) in seen
    assert len(seen) == 3


def test_names_are_read_no_more_once_the_folder_stood_unchanged_for_longer_than_a_tick(
    folder: Folder,
) -> None:
    watch = VersionWatch()
    folder.commit(1)
    first = watch.newest(folder.path)
    folder.commit(2)  # nothing but the names can tell
    folder.now += COARSEST_SECONDS
    second = watch.newest(folder.path)
    assert second != first
    readings = folder.readings
    assert watch.newest(folder.path) == second
    assert folder.readings == readings
    folder.commit(3, tick=2)
    assert watch.newest(folder.path) != second


def test_the_same_version_in_another_life_of_the_store_is_another(
    folder: Folder,
) -> None:
    watch = VersionWatch()
    folder.commit(7)
    first = watch.newest(folder.path)
    manifest = folder.table / manifest_name(7)
    (kept := manifest.with_name("kept")).hardlink_to(
        manifest
    )  # so that its inode is not given away
    manifest.unlink()
    folder.commit(7)
    kept.unlink()
    os.utime(folder.path, ns=(1, 1))
    assert watch.newest(folder.path) != first


def test_a_folder_without_a_manifest_is_not_one_where_nothing_was_written(
    folder: Folder,
) -> None:
    folder.commit(1)
    (folder.table / manifest_name(1)).rename(
        folder.table / "_versions" / "lost"
    )
    assert VersionWatch().newest(folder.path) is not None


def test_a_manifest_that_goes_while_it_is_looked_at_leaves_a_newer_one(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.commit(1)
    first, newest = (
        folder.table / manifest_name(1),
        VersionWatch().newest(folder.path),
    )

    def pruned(path: str) -> os.stat_result:
        if path == str(first) and first.exists():
            folder.commit(2)
            first.unlink()
        return Path(path).stat()

    monkeypatch.setattr(folder, "stat", pruned)
    assert VersionWatch().newest(folder.path) not in (None, newest)
