"""AsyncMemory: the verbs of Memory awaited, in threads, safe to cancel."""

from __future__ import annotations

import asyncio
import inspect
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import AsyncMemory, Memory, Rejected

NOW = datetime(2026, 3, 3, tzinfo=UTC)
OWN_TYPES = {"close", "open"}
"""Methods that AsyncMemory writes itself."""


def a_conversation(name: str = "c-1") -> dict[str, Any]:
    message = {"role": "user", "name": "Dana", "content": "I live in Porto."}
    return {"conversationId": name, "messages": [message]}


async def open_memory(folder: Path) -> AsyncMemory:
    return await AsyncMemory.open(folder, now=NOW, environment={})


def test_it_has_every_method_of_memory_with_the_same_parameters() -> None:
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if name.startswith("_"):
            continue
        own = getattr(AsyncMemory, name)
        assert inspect.iscoroutinefunction(own), name
        if name not in OWN_TYPES:
            assert inspect.signature(own) == inspect.signature(method), name
            assert own.__doc__ == method.__doc__


def test_what_is_ingested_is_found(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with await open_memory(tmp_path) as memory:
            await memory.ingest(a_conversation())
            found = await memory.search("Where does Dana live?")
            entity = await memory.run(lambda one: one.graph.entity("Dana"))
            assert entity["facts"]
            return [result.content for result in found.results]

    assert any("Porto" in content for content in asyncio.run(talk()))


def test_errors_reach_the_caller(tmp_path: Path) -> None:
    async def search() -> None:
        async with await open_memory(tmp_path) as memory:
            await memory.search("Porto", max_results=1_000)

    with pytest.raises(Rejected, match="max_results"):
        asyncio.run(search())


def test_the_loop_goes_on_while_a_verb_blocks(tmp_path: Path) -> None:
    blocked = threading.Event()
    released = threading.Event()

    def block(memory: Memory) -> str:
        blocked.set()
        assert released.wait(30)
        return memory.scope.agent

    async def talk() -> str:
        async with await open_memory(tmp_path) as memory:
            waiting = asyncio.create_task(memory.run(block))
            await asyncio.to_thread(blocked.wait, 30)
            assert not waiting.done()
            released.set()
            return await waiting

    assert asyncio.run(talk()) == "default"


def test_a_cancelled_ingest_leaves_nothing_half_written(
    tmp_path: Path,
) -> None:
    """The thread completes what it began; the same call again adds nothing twice."""

    async def talk() -> int:
        async with await open_memory(tmp_path) as memory:
            task = asyncio.create_task(memory.ingest(a_conversation()))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await memory.ingest(a_conversation())
            found = await memory.search(memory_types=["turn"])
            return len(found.results)

    assert asyncio.run(talk()) == 1


def test_many_tasks_share_one_memory(tmp_path: Path) -> None:
    async def talk() -> int:
        async with await open_memory(tmp_path) as memory:
            for index in range(3):
                await memory.ingest(a_conversation(f"c-{index}"))
            found = await asyncio.gather(
                *[memory.search("Porto") for _ in range(20)]
            )
            return len({response.model_dump_json() for response in found})

    assert asyncio.run(talk()) == 1


def test_it_stays_usable_after_it_was_closed(tmp_path: Path) -> None:
    async def use() -> list[str]:
        memory = await open_memory(tmp_path)
        await memory.ingest(a_conversation())
        await memory.close()
        await memory.close()
        found = await memory.search("Where does Dana live?")
        await memory.close()
        return [one.content for one in found.results]

    assert any("Porto" in one for one in asyncio.run(use()))
