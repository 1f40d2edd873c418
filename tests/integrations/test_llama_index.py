"""LlamaIndex's agent with our memory block and tool."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip(
    "llama_index.core", reason="make test-integrations installs llama-index"
)

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LLMMetadata,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.memory import Memory as ShortTermMemory

from tests.integrations.contract import (
    ASKED,
    REPLY,
    TOLD,
    AdapterContract,
    list_memory,
    open_memory,
)
from varve import Memory
from varve.integrations.llama_index import VarveMemoryBlock, make_search_tool

# LlamaIndex reads deprecated attributes of Pydantic's models, and leaves its connection
# to SQLite open.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


@pytest.fixture(autouse=True)
def connections_end_with_their_test() -> Iterator[None]:
    yield
    gc.collect()


class WrittenModel(FunctionCallingLLM):
    """A model that gives one reply and lists its inputs."""

    seen: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True)

    async def achat_with_tools(self, tools: Any, **given: Any) -> ChatResponse:
        history = given["chat_history"]
        self.seen.append("\n".join(str(one.content) for one in history))
        return ChatResponse(message=ChatMessage(REPLY, role="assistant"))

    async def astream_chat_with_tools(self, tools: Any, **given: Any) -> Any:
        answer = await self.achat_with_tools(tools, **given)

        async def stream() -> Any:
            yield answer

        return stream()

    def get_tool_calls_from_response(self, *_: Any, **given: Any) -> list[Any]:
        return []

    def _prepare_chat_with_tools(self, *_: Any, **given: Any) -> Any:
        raise NotImplementedError

    chat = complete = stream_chat = stream_complete = _prepare_chat_with_tools
    achat = acomplete = astream_chat = astream_complete = chat


class LlamaIndexTalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.memory = memory
        self.user = user
        block = VarveMemoryBlock(memory, user_id=user)
        self.short_term = ShortTermMemory.from_defaults(
            session_id=conversation,
            memory_blocks=[block],
            tokenizer_fn=str.split,
        )
        self.agent = FunctionAgent(llm=WrittenModel(seen=self.seen))

    async def say(self, text: str) -> str:
        answer = await self.agent.run(text, memory=self.short_term)
        return str(answer)

    async def repeat(self) -> None:
        # Another process has no list of the kept turns.
        other = VarveMemoryBlock(self.memory, user_id=self.user)
        said = await self.short_term.aget_all()
        await other.aput(said, session_id=self.short_term.session_id)


class TestLlamaIndex(AdapterContract):
    make_talker = LlamaIndexTalker


def test_words_that_leave_the_short_term_memory_are_kept_once(
    tmp_path: Any,
) -> None:
    memory = open_memory(tmp_path)
    talker = LlamaIndexTalker(memory, "dana", "c-1")
    talker.short_term.token_limit = 40
    talker.short_term.token_flush_size = 5

    async def run() -> None:
        for number in range(4):
            await talker.say(f"The number {number} is on the green door.")
        await talker.say(TOLD)

    asyncio.run(run())
    turns = memory.search(memory_types=["turn"], max_results=100).results
    said = [one.content for one in turns if "green door" in one.content]
    assert len(said) == len(set(said)) == 4
    assert list_memory(memory, "dana").results


def test_the_tool_searches_one_users_memory(tmp_path: Any) -> None:
    memory = open_memory(tmp_path)
    for user, city in (("dana", "Porto"), ("marco", "Braga")):
        said = {"role": "user", "content": f"I moved to {city}."}
        memory.ingest(
            {"conversationId": city, "userId": user, "messages": [said]}
        )
    tool = make_search_tool(memory, user_id="dana")
    given = asyncio.run(tool.acall(queryText=ASKED, userId="marco"))
    answer = json.loads(str(given.raw_output))
    assert {result["userId"] for result in answer["results"]} == {"dana"}
    described = tool.metadata.get_parameters_dict()["properties"]
    assert "description" in described["queryText"]
