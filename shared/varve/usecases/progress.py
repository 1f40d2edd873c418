"""How far a long run has come."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with a step's name, how much of it is done, and how much there is (0: unknown)."""


def no_progress(step: str, done: int, total: int) -> None:
    """Do nothing: the default progress callback."""


class StepCounter:
    """Counts the work of one step of a run, and reports it."""

    def __init__(
        self, name: str, total: int, progress: Progress = no_progress
    ) -> None:
        self._name = name
        self._total = total
        self._progress = progress
        self.done = 0

    def add(self, count: int = 1) -> None:
        """Count more work as done."""
        self.reach(self.done + count)

    def reach(self, done: int) -> None:
        """Set how much is done, and report it."""
        self.done = done
        self._progress(self._name, done, self._total)

    def count(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, and count each as done when the next one is asked for."""
        for item in items:
            yield item
            self.add()
