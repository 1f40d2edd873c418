"""Bars that show how far a long run has come."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from varve.cli.output import is_screen
from varve.usecases.progress import Progress, no_progress

if TYPE_CHECKING:
    from tqdm import tqdm

FORMAT = (
    "{desc} {bar} {n_fmt} of {total_fmt}, {rate_noinv_fmt}, {remaining} left"
)
FORMAT_WITHOUT_TOTAL = "{desc} {n_fmt}, {rate_noinv_fmt}"
MAX_COLUMNS = 100
PATIENCE_SECONDS = 0.3
"""How long a step runs before its bar appears."""


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Yield a callback that draws a bar for each step on a terminal, else nothing.

    The bar vanishes with its step, so that only results and warnings stay.
    """
    if not is_screen(sys.stderr):
        yield no_progress
        return
    bars = _Bars()
    try:
        yield bars.show
    finally:
        bars.close()


class _Bars:
    """The bar of the present step."""

    def __init__(self) -> None:
        self._step = ""
        self._bar: tqdm[None] | None = None

    def show(self, step: str, done: int, total: int) -> None:
        if self._bar is None or step != self._step:
            self.close()
            self._step = step
            self._bar = _draw(step, total)
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _draw(step: str, total: int) -> "tqdm[None]":
    from tqdm import tqdm

    size = (
        get_terminal_size()
    )  # tqdm takes a terminal that tells no size for no lines
    tqdm.monitor_interval = 0  # no thread that draws beside this one
    return tqdm(
        desc=step,
        total=total or None,
        file=sys.stderr,
        leave=False,
        delay=PATIENCE_SECONDS,
        ncols=min(size.columns, MAX_COLUMNS),
        nrows=size.lines,
        unit="",
        bar_format=FORMAT if total else FORMAT_WITHOUT_TOTAL,
    )
