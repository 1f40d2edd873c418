"""A Bedrock agent with memory: SearchFunction is an action group, IngestFunction keeps.

`STACK` names the deployed stack. Once, give the agent the tool:
`python examples/bedrock_agent.py add AGENT_ID SEARCH_FUNCTION_ARN`. Then talk; an empty
line ends it:
`python examples/bedrock_agent.py talk AGENT_ID ALIAS_ID acme support dana`.
"""

import os
import sys
from itertools import count
from typing import Any
from uuid import uuid4

import boto3

from varve import Memory
from varve.integrations.search_tool import DESCRIPTION, NAME, SCHEMA

OFFERED = ("queryText", "grain", "maximumDaysAgo", "maxResults")
"""The most useful arguments; a function of an action group takes five."""


def describe_function() -> dict[str, Any]:
    """Return the tool as an action group's function takes it."""
    parameters = {
        name: {
            "type": SCHEMA["properties"][name]["type"],
            "description": SCHEMA["properties"][name]["description"],
            "required": False,
        }
        for name in OFFERED
    }
    return {"name": NAME, "description": DESCRIPTION, "parameters": parameters}


def add_tool(client: Any, agent_id: str, function: str) -> None:
    """Give the draft of an agent the search as an action group, and prepare it."""
    client.create_agent_action_group(
        agentId=agent_id,
        agentVersion="DRAFT",
        actionGroupName="memory",
        actionGroupExecutor={"lambda": function},
        functionSchema={"functions": [describe_function()]},
    )
    client.prepare_agent(agentId=agent_id)


class Assistant:
    """One session of a Bedrock agent; the session attributes say whose memory it is."""

    def __init__(
        self, client: Any, agent_id: str, alias: str, memory: Memory, user: str
    ) -> None:
        self._client = client
        self._agent = {"agentId": agent_id, "agentAliasId": alias}
        self._memory = memory
        self._user = user
        self._numbers = count(1)
        self._session = uuid4().hex

    def reply(self, words: str) -> str:
        """Answer the user's words, and send both to memory."""
        attributes = {
            "workspaceId": self._memory.scope.workspace,
            "agentId": self._memory.scope.agent,
            "userId": self._user,
        }
        answered = self._client.invoke_agent(
            **self._agent,
            sessionId=self._session,
            inputText=words,
            sessionState={"sessionAttributes": attributes},
        )
        pieces = [
            event["chunk"]["bytes"]
            for event in answered["completion"]
            if "chunk" in event
        ]
        answer = b"".join(pieces).decode()
        said = [self._number("user", words), self._number("assistant", answer)]
        self._memory.save_context(
            f"bedrock-{self._session}", said, user_id=self._user
        )
        return answer

    def _number(self, role: str, words: str) -> dict[str, str]:
        """Return a message with an id, so that equal words of two turns are two."""
        return {
            "id": f"m{next(self._numbers)}",
            "role": role,
            "content": words,
        }


def talk(
    agent_id: str, alias: str, workspace: str, agent: str, user: str
) -> None:
    """Talk until an empty line."""
    memory = Memory.connect(
        os.environ["STACK"], workspace=workspace, agent=agent
    )
    client = boto3.client("bedrock-agent-runtime")
    assistant = Assistant(client, agent_id, alias, memory, user)
    while words := input("> ").strip():
        print(assistant.reply(words))


def main(*words: str) -> None:
    """Add the tool to an agent, or talk to it; other words print how to call it."""
    match words:
        case ("add", agent_id, function):
            add_tool(boto3.client("bedrock-agent"), agent_id, function)
        case ("talk", agent_id, alias, workspace, agent, user):
            if "STACK" not in os.environ:
                sys.exit("STACK must name the deployed stack")
            talk(agent_id, alias, workspace, agent, user)
        case _:
            sys.exit(str(__doc__))


if __name__ == "__main__":
    main(*sys.argv[1:])
