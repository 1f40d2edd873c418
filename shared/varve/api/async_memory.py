"""One agent's memory, as an asynchronous program uses it."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from varve.api.memory import Memory
from varve.domain.grants import Grant
from varve.domain.identity import Scope
from varve.domain.note_operations import NoteChange, NoteOperation
from varve.domain.notes import Note, NoteVersion
from varve.domain.search.query import MemoryTypeName
from varve.domain.usage import ModelUsage
from varve.usecases.sharing import Shares
from varve.wiring.sessions import Now

if TYPE_CHECKING:
    from varve.usecases.search.notes import FoundNote

MAX_THREADS = 8
"""Calls of one memory that run at the same time; later ones wait in order."""

P = ParamSpec("P")
R = TypeVar("R")


def run_in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, R]]:
    """Return the method of `Memory` as one of `AsyncMemory`, with the same parameters."""

    @wraps(method)
    async def call(
        memory: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        def verb(one: Memory) -> R:
            # A connected memory has its own.
            own: Callable[P, R] = getattr(one, method.__name__)
            return own(*args, **kwargs)

        return await memory.run(verb)

    return call


class AsyncMemory:
    """`Memory` with every method awaited; tasks may share it.

    The calls run in threads, because LanceDB and boto3 block. A cancelled call that
    waits for a thread never runs. One that runs is completed in its thread: nothing
    half-written stays behind, and repeating an `ingest` adds only missing messages.

    >>> async with await AsyncMemory.open("./memory", agent="support") as memory:
    ...     await memory.ingest(conversation)
    ...     found = await memory.search("where does Dana live?", max_results=5)
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._threads = _build_threads()

    @classmethod
    async def open(
        cls,
        store: str | Path | None = None,
        *,
        workspace: str = "default",
        agent: str = "default",
        now: Now = None,
        environment: Mapping[str, str] | None = None,
    ) -> "AsyncMemory":
        """Open the memory under a store root; parameters and errors as `Memory.open`."""
        opening = partial(
            Memory.open,
            store,
            workspace=workspace,
            agent=agent,
            now=now,
            environment=environment,
        )
        return cls(await asyncio.to_thread(opening))

    @classmethod
    async def connect(
        cls,
        stack: str,
        *,
        workspace: str = "default",
        agent: str = "default",
        now: Now = None,
    ) -> "AsyncMemory":
        """Connect to the memory of a deployed stack; parameters and errors as `Memory.connect`."""
        connecting = partial(
            Memory.connect, stack, workspace=workspace, agent=agent, now=now
        )
        return cls(await asyncio.to_thread(connecting))

    ingest = run_in_thread(Memory.ingest)
    search = run_in_thread(Memory.search)
    answer = run_in_thread(Memory.answer)
    context = run_in_thread(Memory.context)
    load_context = run_in_thread(Memory.load_context)
    save_context = run_in_thread(Memory.save_context)
    profile = run_in_thread(Memory.profile)
    set_profile = run_in_thread(Memory.set_profile)
    remember = run_in_thread(Memory.remember)
    correct = run_in_thread(Memory.correct)
    show = run_in_thread(Memory.show)
    get = run_in_thread(Memory.get)
    delete = run_in_thread(Memory.delete)
    periods = run_in_thread(Memory.periods)
    list = run_in_thread(Memory.list)
    summarize = run_in_thread(Memory.summarize)
    cleanup = run_in_thread(Memory.cleanup)
    evaluate_retrieval = run_in_thread(Memory.evaluate_retrieval)
    find_unknown_messages = run_in_thread(Memory.find_unknown_messages)
    tune_retrieval = run_in_thread(Memory.tune_retrieval)
    forget = run_in_thread(Memory.forget)
    propose_forget = run_in_thread(Memory.propose_forget)
    review = run_in_thread(Memory.review)
    forget_proposals = run_in_thread(Memory.forget_proposals)
    discard_proposal = run_in_thread(Memory.discard_proposal)
    config = run_in_thread(Memory.config)
    setting = run_in_thread(Memory.setting)
    configure = run_in_thread(Memory.configure)
    export = run_in_thread(Memory.export)
    import_ = run_in_thread(Memory.import_)
    reembed = run_in_thread(Memory.reembed)
    record_outcome = run_in_thread(Memory.record_outcome)
    recall_experience = run_in_thread(Memory.recall_experience)
    catch_up = run_in_thread(Memory.catch_up)
    check = run_in_thread(Memory.check)
    status = run_in_thread(Memory.status)
    agents = run_in_thread(Memory.agents)
    publish = run_in_thread(Memory.publish)
    sql = run_in_thread(Memory.sql)
    costs = run_in_thread(Memory.costs)
    diagnose = run_in_thread(Memory.diagnose)
    report = run_in_thread(Memory.report)
    workspaces = run_in_thread(Memory.workspaces)

    @property
    def scope(self) -> Scope:
        """The workspace and the agent whose memory this is."""
        return self._memory.scope

    @property
    def usage(self) -> ModelUsage:
        """What this process has asked of models so far, over all its memories."""
        return self._memory.usage

    @property
    def share(self) -> "AsyncShare":
        """The grants by which other agents read parts of this memory."""
        return AsyncShare(self)

    @property
    def notes(self) -> "AsyncNotes":
        """Small versioned texts at paths, which a search finds as records of type `note`."""
        return AsyncNotes(self)

    async def run(self, verb: Callable[[Memory], R]) -> R:
        """Run any verb of the memory in a thread: `run(lambda m: m.graph.entity("Dana"))`.

        Raises what the verb raises.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, verb, self._memory)

    async def close(self) -> None:
        """Wait for the calls that run, write the counted reads, and end the threads.

        The memory stays usable, as `Memory` does.
        """
        await self.run(lambda one: one.close())
        ended, self._threads = self._threads, _build_threads()
        await asyncio.to_thread(ended.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _build_threads() -> ThreadPoolExecutor:
    """Return the threads of a memory, each begun when it is first needed."""
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="varve")


class AsyncShare:
    """`Share` with every method awaited."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    async def grant(
        self,
        agent: str,
        *,
        types: Sequence[MemoryTypeName],
        users: Sequence[str] | None = None,
    ) -> Grant:
        """Let another agent read records of these types; parameters as `Share.grant`."""
        return await self._memory.run(
            lambda one: one.share.grant(agent, types=types, users=users)
        )

    async def revoke(self, agent: str) -> bool:
        """Take back what an agent may read; return whether it might read anything."""
        return await self._memory.run(lambda one: one.share.revoke(agent))

    async def list(self) -> Shares:
        """Return the grants that this agent made and received."""
        return await self._memory.run(lambda one: one.share.list())


class AsyncNotes:
    """`Notes` with every method awaited; parameters and errors are the same."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    async def get(
        self, path: str, *, user_id: str | None = None
    ) -> Note | None:
        """Return the note as last put, or None; see `Notes.get`."""
        return await self._memory.run(
            lambda one: one.notes.get(path, user_id=user_id)
        )

    async def put(
        self,
        path: str,
        content: str,
        *,
        version: str | None = None,
        overwrite: bool = False,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> Note:
        """Create a note, or replace one of its versions; see `Notes.put`."""
        return await self._memory.run(
            lambda one: one.notes.put(
                path,
                content,
                version=version,
                overwrite=overwrite,
                user_id=user_id,
                now=now,
            )
        )

    async def list(
        self, prefix: str = "", *, user_id: str | None = None
    ) -> list[Note]:
        """Return the notes whose paths begin with the prefix; see `Notes.list`."""
        return await self._memory.run(
            lambda one: one.notes.list(prefix, user_id=user_id)
        )

    async def paths(
        self, prefix: str = "", *, user_id: str | None = None
    ) -> tuple[str, ...]:
        """Return the paths that begin with the prefix; see `Notes.paths`."""
        return await self._memory.run(
            lambda one: one.notes.paths(prefix, user_id=user_id)
        )

    async def search(
        self,
        query: str,
        prefix: str = "",
        *,
        user_id: str | None = None,
        max_results: int = 10,
    ) -> "tuple[FoundNote, ...]":
        """Return the notes that bear on the query, best first; see `Notes.search`."""
        return await self._memory.run(
            lambda one: one.notes.search(
                query, prefix, user_id=user_id, max_results=max_results
            )
        )

    async def delete(
        self,
        path: str,
        *,
        version: str | None = None,
        user_id: str | None = None,
    ) -> bool:
        """Delete a note with its versions; see `Notes.delete`."""
        return await self._memory.run(
            lambda one: one.notes.delete(
                path, version=version, user_id=user_id
            )
        )

    async def change(
        self,
        path: str,
        content: str | None,
        *,
        version: str | None,
        operation: NoteOperation | None = None,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> NoteChange:
        """Write or delete a note if `version` is the current one; see `Notes.change`."""
        return await self._memory.run(
            lambda one: one.notes.change(
                path,
                content,
                version=version,
                operation=operation,
                user_id=user_id,
                now=now,
            )
        )

    async def find_change(
        self, operation: NoteOperation, *, user_id: str | None = None
    ) -> NoteChange | None:
        """Return the outcome of an operation, or None; see `Notes.find_change`."""
        return await self._memory.run(
            lambda one: one.notes.find_change(operation, user_id=user_id)
        )

    async def versions(
        self, path: str, *, user_id: str | None = None
    ) -> tuple[NoteVersion, ...]:
        """Return the last versions, the oldest first; see `Notes.versions`."""
        return await self._memory.run(
            lambda one: one.notes.versions(path, user_id=user_id)
        )
