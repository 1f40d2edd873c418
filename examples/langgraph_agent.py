"""A LangGraph agent with memory: middleware recalls and keeps, a tool searches.

`MODEL` names the model as LangChain does, such as `openai:gpt-4o-mini`. Run it and type;
an empty line ends it: `python examples/langgraph_agent.py ./memory`.
"""

import os
import sys
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langgraph.checkpoint.memory import InMemorySaver

from varve import Memory
from varve.integrations.langchain import VarveMiddleware, make_search_tool


def build_agent(model: Any, memory: Memory, user: str) -> Any:
    """Return a graph whose threads are conversations of one user."""
    return create_agent(
        model,
        tools=[make_search_tool(memory, user_id=user)],
        middleware=[VarveMiddleware(memory, user_id=user)],
        checkpointer=InMemorySaver(),
    )


def reply(agent: Any, thread: str, words: str) -> str:
    """Run one turn of a thread, and return the model's words."""
    config = {"configurable": {"thread_id": thread}}
    state = agent.invoke({"messages": [("user", words)]}, config)
    return str(state["messages"][-1].text)


def main(store: str, user: str = "u-1") -> None:
    """Talk until an empty line."""
    model = init_chat_model(os.environ["MODEL"])
    agent = build_agent(model, Memory.open(store), user)
    thread = uuid4().hex
    while words := input("> ").strip():
        print(reply(agent, thread, words))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(str(__doc__))
    main(*sys.argv[1:])
