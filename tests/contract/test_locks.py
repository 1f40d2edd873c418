"""The locks of a store root: between threads, and in a directory between processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tests.support.moto_process import PROJECT
from varve.adapters.objects.locks import DirectoryLocks, ProcessLocks
from varve.domain.errors import Retryable
from varve.ports.locks import Locks

ROUNDS = 200
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{PROJECT}/shared:{PROJECT}"}
ADD_ONE = """
import sys
from pathlib import Path
from varve.adapters.objects.locks import DirectoryLocks
root, rounds = Path(sys.argv[1]), int(sys.argv[2])
number = root / "number"
for _ in range(rounds):
    with DirectoryLocks(root).hold("write", ["store"]):
        number.write_text(str(int(number.read_text()) + 1))
"""
DIE = """
import os, sys
from pathlib import Path
from varve.adapters.objects.locks import DirectoryLocks
with DirectoryLocks(Path(sys.argv[1])).hold("write", ["store"]):
    os._exit(9)
"""


@pytest.fixture(params=["process", "directory"])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> list[Locks]:
    """Two clients of one root."""
    if request.param == "process":
        return [ProcessLocks(str(tmp_path)) for _ in range(2)]
    return [DirectoryLocks(tmp_path) for _ in range(2)]


def test_a_store_without_room_for_a_lock_file_is_named_as_given(
    tmp_path: Path,
) -> None:
    store = tmp_path / ("x" * 300)
    locks = DirectoryLocks(store)
    told = f"^store {store} cannot be written: File name too long$"
    with pytest.raises(Retryable, match=told), locks.hold("write", ["a"]):
        pass


def test_two_threads_never_hold_one_name_together(
    clients: list[Locks],
) -> None:
    count = [0]

    def add(locks: Locks) -> None:
        for _ in range(ROUNDS):
            with locks.hold("write", ["store"]):
                before = count[0]
                count[0] = before + 1

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, clients))
    assert count[0] == 2 * ROUNDS


def test_two_threads_that_take_many_names_do_not_wait_for_each_other_forever(
    clients: list[Locks],
) -> None:
    names = [f"c-{number}" for number in range(50)]
    start = Barrier(2)

    def take(locks: Locks, order: Iterable[str]) -> None:
        start.wait()
        for _ in range(20):
            with locks.hold("ingest", order):
                pass

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(take, clients[0], names)
        second = pool.submit(take, clients[1], names[::-1])
        first.result(timeout=60)
        second.result(timeout=60)


def test_a_store_can_be_held_inside_a_conversation_of_the_same_name(
    clients: list[Locks],
) -> None:
    with (
        clients[0].hold("ingest", ["name"]),
        clients[1].hold("write", ["name"]),
    ):
        pass


def test_an_error_inside_frees_the_name(clients: list[Locks]) -> None:
    with (
        pytest.raises(ValueError, match="inside"),
        clients[0].hold("write", ["s"]),
    ):
        raise ValueError("inside")
    with clients[1].hold("write", ["s"]):
        pass


def test_two_processes_never_hold_one_name_together(tmp_path: Path) -> None:
    number = tmp_path / "number"
    number.write_text("0")
    command = [sys.executable, "-c", ADD_ONE, str(tmp_path), str(ROUNDS)]
    running = [subprocess.Popen(command, env=ENVIRONMENT) for _ in range(3)]
    codes = [process.wait(timeout=120) for process in running]
    assert codes == [0, 0, 0]
    assert number.read_text() == str(3 * ROUNDS)


def test_a_process_that_dies_frees_the_name(tmp_path: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DIE, str(tmp_path)],
        env=ENVIRONMENT,
        check=False,
    )
    assert died.returncode == 9
    with DirectoryLocks(tmp_path).hold("write", ["store"]):
        pass
