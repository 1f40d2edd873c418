"""Work behind the answers of a process: one piece at a time, again and again."""

from __future__ import annotations

from threading import Event

from varve.domain.errors import Retryable
from varve.usecases.behind import Behind

SECONDS = 30


def test_a_process_that_lives_on_works_more_than_once() -> None:
    behind = Behind("test")
    for _ in range(3):
        done = Event()
        while not done.is_set():  # the piece before may just be ending
            behind.start(done.set)
            done.wait(0.01)
    behind.finish()


def test_nothing_is_started_beside_a_running_piece() -> None:
    behind = Behind("test")
    begun, go_on = Event(), Event()
    done: list[str] = []

    def first() -> None:
        begun.set()
        assert go_on.wait(SECONDS)
        done.append("first")

    behind.start(first)
    assert begun.wait(SECONDS)
    behind.start(lambda: done.append("second"))
    go_on.set()
    behind.finish()
    assert done == ["first"]


def test_a_failure_that_may_pass_ends_the_piece_alone() -> None:
    behind = Behind("test")

    def fail() -> None:
        raise Retryable("store: the connection broke")

    behind.start(fail)
    behind.finish()
    done = Event()
    behind.start(done.set)
    behind.finish()
    assert done.is_set()
