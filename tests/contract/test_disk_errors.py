"""Faults of the disk are named with their path; LanceDB's own warnings stay silent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import ACME, WordEmbedder, a_record, embedded
from tests.support.rights import reachable, without_rights
from varve.adapters.exports.export_folder import create_export
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.errors import Misconfigured, Retryable

ROOT = Path(__file__).parents[2]


def write(store: Path, id_: str = "r") -> None:
    records = LanceRecords(str(store), local_objects(store), None)
    rows = embedded(
        *[a_record("words " * 60, id=f"{id_}{n}") for n in range(30)]
    )
    records.upsert(ACME, Grain.WORKING, rows, model=WordEmbedder().model)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)],
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("no right to mount a file system")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_named_with_the_path(small_disk: Path) -> None:
    (small_disk / "other").write_bytes(b"x" * 1_000_000)
    with pytest.raises(
        Retryable, match=r"vectordb/acme/support/working.*disk is full"
    ):
        write(small_disk / "store")
    objects = local_objects(small_disk / "store")
    with pytest.raises(
        Retryable, match=rf"{small_disk}/store/a/b: the disk is full"
    ):
        objects.put("a/b", b"x" * 2_000_000)


def test_a_read_only_disk_is_named_with_the_path(small_disk: Path) -> None:
    store = small_disk / "store"
    write(store)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    reason = "the file system is read-only"
    with pytest.raises(Misconfigured, match=f"acme/support/working: {reason}"):
        write(store, "more")
    objects = local_objects(store)
    with pytest.raises(Misconfigured, match=f"{store}/a/b: {reason}"):
        objects.put("a/b", b"x")
    with pytest.raises(
        Misconfigured, match=f"store {store} cannot be written: {reason}"
    ):
        objects.put_if("a/b", b"x", "an etag")


def test_a_missing_right_to_write_is_named_with_the_path(
    tmp_path: Path,
) -> None:
    store = tmp_path / "store"
    objects = local_objects(store)
    objects.put("a/b", b"x")
    (store / "a").chmod(0o500)
    reachable(store)
    with (
        without_rights(),
        pytest.raises(Misconfigured, match=f"{store}/a/c: permission denied"),
    ):
        objects.put("a/c", b"x")
    (store / "a").chmod(0o700)


def test_an_export_to_a_read_only_disk_names_the_directory(
    small_disk: Path,
) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    target = small_disk / "export"
    with (
        pytest.raises(
            Misconfigured, match=f"export {target}: the file system"
        ),
        create_export(target, force=False),
    ):
        pass


def test_lancedb_writes_no_warning_to_standard_error(tmp_path: Path) -> None:
    for id_ in ("first", "second"):  # the hint comes with the second write
        write(tmp_path, id_)
    (hint,) = tmp_path.rglob("latest_version_hint.json")
    hint.unlink()
    # Lance warns that it cannot write the hint, which it can do without.
    (hint / "in the way").mkdir(parents=True)
    script = f"""
from pathlib import Path
from tests.contract.test_disk_errors import write
write(Path({str(tmp_path)!r}), "more")
"""
    environment = {"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, env=environment, check=True, cwd=tmp_path
    )
    assert done.stderr == b""
    loud = {**environment, "LANCEDB_LOG": "warn"}
    script = script.replace("more", "again")
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env=loud,
        check=True,
        cwd=tmp_path,
    )
    assert b"version hint" in done.stderr
