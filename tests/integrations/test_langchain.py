"""LangChain's agent with our middleware and tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip(
    "langchain", reason="make test-integrations installs langchain"
)

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from tests.integrations.contract import (
    ASKED,
    REPLY,
    TOLD,
    AdapterContract,
    list_memory,
)
from varve import Memory
from varve.integrations.langchain import VarveMiddleware, make_search_tool


class WrittenModel(BaseChatModel):
    """A chat model with written replies; it lists its inputs."""

    seen: Any  # not a list: Pydantic would copy it
    replies: tuple[AIMessage, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "written"

    def bind_tools(self, tools: Any, **given: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: Any = None,
        **given: Any,
    ) -> ChatResult:
        self.seen.append("\n".join(message.text for message in messages))
        number = len(self.seen) - 1
        reply = (
            self.replies[number]
            if number < len(self.replies)
            else AIMessage(REPLY)
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


class LangChainTalker:
    def __init__(self, memory: Memory, user: str, conversation: str) -> None:
        self.seen: list[str] = []
        self.middleware = VarveMiddleware(memory, user_id=user)
        self.agent = create_agent(
            WrittenModel(seen=self.seen),
            middleware=[self.middleware],
            checkpointer=InMemorySaver(),
        )
        self.config: Any = {"configurable": {"thread_id": conversation}}
        self.make_anew = lambda: VarveMiddleware(memory, user_id=user)

    async def say(self, text: str) -> str:
        given: Any = {"messages": [HumanMessage(text)]}
        state = await self.agent.ainvoke(given, self.config)
        return str(state["messages"][-1].text)

    async def repeat(self) -> None:
        state = await self.agent.aget_state(self.config)
        # Another process has no list of the kept turns.
        self.make_anew()._keep(
            state.values["messages"],
            None,
            self.config["configurable"]["thread_id"],
        )


class TestLangChain(AdapterContract):
    make_talker = LangChainTalker


def invoke(agent: Any, text: str, thread: str | None = None) -> Any:
    config = {"configurable": {"thread_id": thread}} if thread else {}
    return agent.invoke({"messages": [HumanMessage(text)]}, config)


def test_a_synchronous_run_recalls_and_keeps(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    seen: list[str] = []
    middleware = VarveMiddleware(memory, user_id="dana")
    agent = create_agent(WrittenModel(seen=seen), middleware=[middleware])
    invoke(agent, TOLD)
    invoke(agent, ASKED)
    assert "Porto" in seen[1]


def test_the_block_stands_before_the_question_and_stays_out_of_the_state(
    tmp_path: Any,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    seen: list[str] = []
    middleware = VarveMiddleware(memory, user_id="dana")
    agent = create_agent(WrittenModel(seen=seen), middleware=[middleware])
    invoke(agent, TOLD)
    state = invoke(agent, ASKED)
    assert seen[1].startswith("<varve-memory")
    assert seen[1].endswith(ASKED)
    assert [message.text for message in state["messages"]] == [ASKED, REPLY]


def test_all_model_calls_of_a_turn_get_the_same_block(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    seen: list[str] = []
    search = {
        "name": "search_memory",
        "args": {"queryText": "Porto"},
        "id": "t-1",
    }
    model = WrittenModel(
        seen=seen,
        replies=(AIMessage(REPLY), AIMessage("", tool_calls=[search])),
    )
    agent = create_agent(
        model,
        tools=[make_search_tool(memory, user_id="dana")],
        middleware=[VarveMiddleware(memory, user_id="dana")],
    )
    invoke(agent, TOLD)
    invoke(agent, ASKED)
    assert len(seen) == 3
    assert seen[2].startswith(seen[1])


def test_a_function_of_the_run_names_the_user(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    middleware = VarveMiddleware(
        memory, user_id=lambda run: run.context["user"]
    )
    agent: Any = create_agent(
        WrittenModel(seen=[]), middleware=[middleware], context_schema=dict
    )
    given = {"messages": [HumanMessage(TOLD)]}
    agent.invoke(given, context={"user": "dana"})
    agent.invoke(given, context={"user": None})
    users = {result.user_id for result in list_memory(memory).results}
    assert users == {"dana"}


def test_a_run_without_a_thread_keeps_its_own_turn_alone(
    tmp_path: Any,
) -> None:
    memory = Memory.open(tmp_path, environment={})
    middleware = VarveMiddleware(memory, user_id="dana")
    agent: Any = create_agent(WrittenModel(seen=[]), middleware=[middleware])
    history = [HumanMessage("I sing."), AIMessage(REPLY), HumanMessage(TOLD)]
    agent.invoke({"messages": history})
    shown = " ".join(result.content for result in list_memory(memory).results)
    assert "Porto" in shown
    assert "sing" not in shown


def test_the_tool_searches_one_users_memory(tmp_path: Any) -> None:
    memory = Memory.open(tmp_path, environment={})
    for user, city in (("dana", "Porto"), ("marco", "Braga")):
        said = {"role": "user", "content": f"I moved to {city}."}
        memory.ingest(
            {"conversationId": city, "userId": user, "messages": [said]}
        )
    tool = make_search_tool(memory, user_id="dana")
    answer = json.loads(tool.invoke({"queryText": "moved", "userId": "marco"}))
    assert {result["userId"] for result in answer["results"]} == {"dana"}
    wrong = json.loads(tool.invoke({"maxResults": 1_000}))
    assert wrong["error"]["field"] == "maxResults"
