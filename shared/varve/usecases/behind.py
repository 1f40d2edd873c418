"""Work that a process does behind its answers, one piece after another."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock

from varve.domain.errors import VarveError


class Behind:
    """One thread for work whose failure loses nothing: what is due is tried again later."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._running: Future[None] | None = None

    def start(self, work: Callable[[], None]) -> None:
        """Do the work in the background, unless some is being done already."""
        with self._lock:
            if self._running is not None and not self._running.done():
                return
            if self._threads is None:
                self._threads = ThreadPoolExecutor(
                    1, thread_name_prefix=self._name
                )
            self._running = self._threads.submit(_try, work)

    def finish(self) -> None:
        """Wait for the work in the background, if there is any."""
        with self._lock:
            threads = self._threads
            self._threads = None
        if threads is not None:
            threads.shutdown()


def _try(work: Callable[[], None]) -> None:
    with suppress(VarveError):
        work()
