"""The meter: adapters count what they use, for the purpose that a use case has set.

The purpose belongs to the context, so threads must inherit it: `MeteredThreads`.
"""

import contextvars
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Any

from varve.domain.identity import Scope
from varve.domain.usage import Item, Purpose, difference, quarter_of

_PURPOSE: ContextVar[Purpose | None] = ContextVar(
    "varve_purpose", default=None
)

Pending = dict[Purpose, Counter[str]]


class Meter:
    """Counts by purpose what one process uses, until a fold takes the counts.

    `megabytes` is the memory of the function that the process is; None: it is none.
    """

    def __init__(self, megabytes: int | None = None) -> None:
        self._megabytes = megabytes
        self._lock = Lock()
        self._pending: Pending = {}
        self._since: float | None = None
        self._total: Counter[str] = Counter()
        self._reported: Counter[str] = Counter()

    def add(self, name: str, count: int = 1) -> None:
        """Count an item, by its name, for the purpose of the caller's context."""
        if not count:
            return
        purpose = _PURPOSE.get() or Purpose()
        with self._lock:
            if self._since is None:
                self._since = monotonic()
            self._pending.setdefault(purpose, Counter())[name] += count
            self._total[name] += count

    def add_model(self, model: str, usage: Any) -> None:
        """Count one answer of a chat model.

        `usage` is None or has `prompt_tokens` and `completion_tokens` as attributes.
        """
        self.add(Item.MODEL_CALLS.of(model))
        self.add(Item.TOKENS_IN.of(model), _tokens(usage, "prompt_tokens"))
        self.add(
            Item.TOKENS_OUT.of(model), _tokens(usage, "completion_tokens")
        )

    def add_embedding(self, model: str, usage: Any) -> None:
        """Count one answer of an embedding model; `usage` as for `add_model`."""
        self.add(Item.MODEL_CALLS.of(model))
        self.add(
            Item.EMBEDDING_TOKENS.of(model), _tokens(usage, "prompt_tokens")
        )

    @contextmanager
    def serve(
        self, scope: Scope | None, verb: str, at: datetime | None = None
    ) -> Iterator[None]:
        """Count what the block uses for an agent; in a function also its time.

        Within another block the time is counted by that one.
        """
        before = _PURPOSE.get()
        quarter = before.quarter if before and at is None else None
        _PURPOSE.set(Purpose(scope, verb, quarter_of(at) if at else quarter))
        started = monotonic()
        try:
            yield
        finally:
            if before is None and self._megabytes is not None:
                self._add_time(monotonic() - started, self._megabytes)
            _PURPOSE.set(before)

    def _add_time(self, seconds: float, megabytes: int) -> None:
        milliseconds = round(seconds * 1000)
        self.add(Item.LAMBDA_MILLISECONDS, milliseconds)
        self.add(Item.LAMBDA_MEGABYTE_MILLISECONDS, milliseconds * megabytes)

    def take(self) -> Pending:
        """Remove and return the counts since the last call."""
        with self._lock:
            taken = self._pending
            self._pending = {}
            self._since = None
        return taken

    def take_of(self, purpose: Purpose) -> Counter[str]:
        """Remove and return the counts of one purpose."""
        with self._lock:
            return self._pending.pop(purpose, Counter())

    def pending_of(self, workspace: str) -> Counter[str]:
        """Return the counts of a workspace's agents that are not taken yet."""
        found: Counter[str] = Counter()
        with self._lock:
            for purpose, counts in self._pending.items():
                if purpose.scope and purpose.scope.workspace == workspace:
                    found.update(counts)
        return found

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted since the last `take`."""
        return not self._pending

    @property
    def age(self) -> float:
        """The seconds since the first count that was not taken; 0 without one."""
        return 0.0 if self._since is None else monotonic() - self._since

    @property
    def total(self) -> Counter[str]:
        """Everything that the process has counted, whoever has taken it."""
        with self._lock:
            return self._total.copy()

    def report(self) -> Counter[str]:
        """Return the counts since the last report, for metrics."""
        current = self.total
        fresh = difference(current, self._reported)
        self._reported = current
        return fresh


@contextmanager
def doing(verb: str) -> Iterator[None]:
    """Count what the block uses under this verb, for whom it is already done."""
    before = _PURPOSE.get()
    _PURPOSE.set(replace(before or Purpose(), verb=verb))
    try:
        yield
    finally:
        _PURPOSE.set(before)


class MeteredThreads(ThreadPoolExecutor):
    """Threads whose tasks work for the purpose of the caller that submits them."""

    def submit(
        self, task: Callable[..., Any], /, *args: Any, **options: Any
    ) -> Future[Any]:
        """Run the task in a thread, in a copy of the caller's context."""
        context = contextvars.copy_context()
        return super().submit(context.run, task, *args, **options)


def _tokens(usage: Any, name: str) -> int:
    return getattr(usage, name, None) or 0
