"""The tools by name: what a model learns of each, and what validates its input and output.

Shapes: OpenAI, "Function calling"; Anthropic, "Tool use"; Amazon Bedrock AgentCore,
"Lambda function targets"; Model Context Protocol, "Tools".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from varve.domain.errors import Rejected
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest
from varve.integrations import tool_models as models
from varve.integrations.search_tool import DESCRIPTION, NAME
from varve.integrations.tool_schema import describe_answer, describe_arguments

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool: its name and description for a model, and its input and output.

    Of a tool that writes, `writes` says so: it adds, deletes nothing, and does nothing
    again if it is called again. `agents` are the other agents whose memory a model may
    ask for.
    """

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[BaseModel]
    writes: bool = False
    agents: tuple[str, ...] = ()

    def _describe_input(self, *, rich: bool) -> Json:
        """Return the schema of the arguments; `rich` has choices and ranges."""
        schema = describe_arguments(self.arguments, rich=rich)
        if self.agents:
            names: Json = {"type": "string"}
            if rich:
                names["enum"] = list(self.agents)
            schema["properties"]["agents"] = {
                "type": "array",
                "description": f"{_AGENTS}: {', '.join(self.agents)}",
                "items": names,
            }
        return schema

    def as_openai(self) -> Json:
        """Return the tool as OpenAI's chat completions take it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self._describe_input(rich=True),
            },
        }

    def as_anthropic(self) -> Json:
        """Return the tool as Anthropic's messages take it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self._describe_input(rich=True),
        }

    def as_bedrock(self) -> Json:
        """Return the tool as a target of an AgentCore Gateway takes it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self._describe_input(rich=False),
        }

    def as_mcp(self) -> Json:
        """Return the tool as an MCP server lists it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self._describe_input(rich=True),
            "outputSchema": describe_answer(self.answer),
            "annotations": _ADDING if self.writes else _READING,
        }


_AGENTS = "Other agents whose memory to search as well"
_READING: Json = {"readOnlyHint": True, "openWorldHint": False}
_ADDING: Json = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
DEFINITIONS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        NAME, "Search memory", DESCRIPTION, SearchRequest, SearchResponse
    ),
    ToolDefinition(
        "remember",
        "Remember",
        "Remember what was said, word for word; facts with their dates are made of it.",
        models.RememberArguments,
        models.RememberAnswer,
        writes=True,
    ),
    ToolDefinition(
        "correct",
        "Correct a memory",
        "Say what holds instead of a fact or turn that a search found. "
        "History keeps both.",
        models.CorrectArguments,
        models.CorrectAnswer,
        writes=True,
    ),
    ToolDefinition(
        "get_context",
        "Get context",
        "Get the block of memories that bear on a prompt, to read before "
        "you answer it. Empty if nothing does.",
        models.ContextArguments,
        models.ContextAnswer,
    ),
    ToolDefinition(
        "recall_experience",
        "Recall experience",
        "Find past episodes like this situation with how they ended, and the lessons "
        "drawn from them.",
        models.RecallArguments,
        models.RecallAnswer,
    ),
    ToolDefinition(
        "propose_forget",
        "Propose to forget",
        "Propose what to forget. Nothing is erased until a person confirms the "
        "proposal with the command in the answer.",
        models.ProposeForgetArguments,
        models.ProposeForgetAnswer,
        writes=True,
    ),
)

FORMS: Mapping[str, Callable[[ToolDefinition], Json]] = {
    "openai": ToolDefinition.as_openai,
    "anthropic": ToolDefinition.as_anthropic,
    "bedrock": ToolDefinition.as_bedrock,
    "mcp": ToolDefinition.as_mcp,
}


def offer_agents(agents: Sequence[str]) -> list[ToolDefinition]:
    """Return all tools; `search_memory` lets a model name these other agents."""
    offered = []
    for tool in DEFINITIONS:
        is_search = tool.name == NAME
        offered.append(
            replace(tool, agents=tuple(agents)) if is_search else tool
        )
    return offered


def describe_tools(
    names: Iterable[str], form: str, agents: Sequence[str] = ()
) -> list[Json]:
    """Return the definitions of these tools in one form; `all` names every tool.

    `agents` are other agents that a model may name in a search.
    Raises Rejected: there is no such tool.
    """
    by_name = {tool.name: tool for tool in offer_agents(agents)}
    wanted: dict[str, ToolDefinition] = {}
    for name in names:
        if name == "all":
            wanted |= by_name
        elif name in by_name:
            wanted[name] = by_name[name]
        else:
            known = ", ".join(by_name)
            raise Rejected("tool", f"{name[:40]!r} is none of {known}")
    return [FORMS[form](tool) for tool in wanted.values()]
