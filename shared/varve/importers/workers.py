"""Processes that store conversations side by side, for long files."""

import gc
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

from varve.api.ingested import Ingested, store
from varve.api.memory import Memory
from varve.domain.conversation import Conversation
from varve.domain.errors import VarveError
from varve.domain.identity import Scope
from varve.messages.wire import group_of
from varve.ports.locks import slot_of

MAX_WORKERS = 4
"""Beyond these the writes, one after the other, are what takes the time."""
NEW_OBJECTS = 50_000
"""How many objects a worker makes between two looks for cycles among the young ones."""


@dataclass(frozen=True, slots=True)
class UnstoredConversation:
    """A valid conversation that is not stored yet, and its place."""

    place: str
    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Settled:
    """A worker's part of a batch, and its result.

    None: it failed, or the process ended. Storing it again adds what is missing.
    """

    memory: Memory
    group: Sequence[UnstoredConversation]
    outcome: Ingested | None


@dataclass(frozen=True, slots=True)
class _Job:
    """Conversations of one agent, and the time at which they arrive."""

    scope: Scope
    conversations: Sequence[Conversation]
    now: datetime


def count_workers() -> int:
    """Return how many processes are worth starting here: one for each processor."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MAX_WORKERS)
    return min(os.cpu_count() or 1, MAX_WORKERS)


def can_share(memory: Memory) -> bool:
    """Return whether processes may store a memory's conversations side by side.

    They may in a directory, where locks order their writes. With a model the calls take
    the time, and this process counts them.
    """
    with memory.sessions.open(memory.scope) as session:
        has_queue = session.queues.delivers_writes
        return memory.is_directory and not has_queue and session.llm is None


class _Worker:
    """A process that stores one batch at a time. It ends when this process does.

    `jobs` is readable when the batch is stored, or the process has ended.
    """

    def __init__(self, memory: Memory) -> None:
        context = get_context("spawn")
        self.jobs, theirs = context.Pipe()
        sessions = memory.sessions
        environment = dict(sessions.environment)
        arguments = (theirs, str(sessions.settings.store), environment)
        self._process = context.Process(target=_serve, args=arguments)
        self._process.start()
        theirs.close()
        self._given: tuple[Memory, Sequence[UnstoredConversation]] | None = (
            None
        )

    @property
    def is_busy(self) -> bool:
        """Whether it has a batch whose outcome was not taken."""
        return self._given is not None

    def start(
        self, memory: Memory, group: Sequence[UnstoredConversation]
    ) -> bool:
        """Give the process a batch; return whether it is there to take it."""
        conversations = [one.conversation for one in group]
        job = _Job(memory.scope, conversations, memory.sessions.clock())
        try:
            self.jobs.send(job)
        except OSError:
            return False
        self._given = (memory, group)
        return True

    def finish(self) -> Iterator[Settled]:
        """Wait for the batch, if there is one, and yield its results."""
        if self._given is None:
            return
        given = self._given
        self._given = None
        try:
            outcome: Ingested | None = self.jobs.recv()
        except (EOFError, OSError):
            outcome = None
        yield Settled(*given, outcome)

    def close(self) -> None:
        """Wait until the process has stored its batch and written its costs."""
        self.jobs.close()
        self._process.join()


class WorkerPool:
    """Workers that store a file's batches, each its own part of every batch."""

    def __init__(self, memory: Memory, count: int) -> None:
        self._workers = [_Worker(memory) for _ in range(count)]

    def share(
        self, memory: Memory, group: Sequence[UnstoredConversation]
    ) -> Iterator[Settled]:
        """Give each worker its part of a batch; yield the parts that are settled.

        All parts of a conversation go to the same worker, so that their order holds, and
        so do conversations that share a lock: no worker waits for another one's batch.
        """
        parts: list[list[UnstoredConversation]] = [[] for _ in self._workers]
        for one in group:
            name = group_of(
                memory.scope.workspace,
                memory.scope.agent,
                one.conversation.conversation_id,
            )
            parts[slot_of(name) % len(parts)].append(one)
        waiting = dict(zip(self._workers, parts, strict=True))
        while waiting:
            for worker in _find_done(waiting):
                part = waiting.pop(worker)
                yield from worker.finish()
                if part and not worker.start(memory, part):
                    yield Settled(memory, part, None)

    def finish(self) -> Iterator[Settled]:
        """Wait for all workers; yield the parts that they have settled."""
        for worker in self._workers:
            yield from worker.finish()

    def close(self) -> None:
        """Wait until each process has stored its part and written its costs."""
        for worker in self._workers:
            worker.close()


def _find_done(workers: Iterable[_Worker]) -> list[_Worker]:
    """Return the workers that wait for a batch; wait until there is one."""
    every = list(workers)
    idle = [worker for worker in every if not worker.is_busy]
    if idle:
        return idle
    ready = wait([worker.jobs for worker in every])
    return [worker for worker in every if worker.jobs in ready]


def _serve(
    jobs: "Connection[Ingested | None, _Job]",
    store: str,
    environment: Mapping[str, str],
) -> None:
    """Store batches until the other process closes the connection, or has ended."""
    # Batches make many objects that all live on: looking for cycles among them takes a
    # sixth of the time.
    gc.set_threshold(NEW_OBJECTS, 20, 100)
    # Ctrl-C reaches both processes; the other one ends this one after its batch.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memories: dict[Scope, Memory] = {}
    while True:
        try:
            job = jobs.recv()
        except EOFError:
            break
        if job.scope not in memories:
            memories[job.scope] = Memory.open(
                store,
                workspace=job.scope.workspace,
                agent=job.scope.agent,
                environment=environment,
            )
        jobs.send(_store(memories[job.scope], job))
    for memory in memories.values():
        memory.close()


def _store(memory: Memory, job: _Job) -> Ingested | None:
    """Store a batch. None: it failed, and the other process finds out which and why."""
    try:
        with memory.sessions.open(job.scope, job.now) as session:
            return store(session, job.conversations)
    except VarveError:
        return None
