"""The tools' definitions: from the models that validate, in each API's form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic.alias_generators import to_camel

from varve.cli import main
from varve.domain.errors import Rejected
from varve.domain.search.query import parse_search_request
from varve.integrations.tool_definitions import (
    DEFINITIONS,
    FORMS,
    describe_tools,
)

SCHEMAS = {
    "openai": lambda tool: tool["function"]["parameters"],
    "anthropic": lambda tool: tool["input_schema"],
    "bedrock": lambda tool: tool["inputSchema"],
    "mcp": lambda tool: tool["inputSchema"],
}
GATEWAY_KEYWORDS = {"type", "properties", "required", "items", "description"}


def keywords(schema: dict[str, Any]) -> set[str]:
    found = set(schema)
    for inner in (schema.get("items"), *schema.get("properties", {}).values()):
        if inner:
            found |= keywords(inner)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_every_tool_with_a_valid_schema(form: str) -> None:
    described = describe_tools(["all"], form)
    assert len(described) == len(DEFINITIONS)
    for tool, given in zip(DEFINITIONS, described, strict=True):
        schema = SCHEMAS[form](given)
        Draft202012Validator.check_schema(schema)
        names = {to_camel(name) for name in tool.arguments.model_fields}
        assert set(schema["properties"]) <= names
        assert "$ref" not in json.dumps(schema)
        if form == "bedrock":
            assert keywords(schema) <= GATEWAY_KEYWORDS


def test_no_tool_lets_a_model_name_whose_memory_it_is() -> None:
    told = json.dumps(describe_tools(["all"], "mcp"))
    inputs = [tool["inputSchema"] for tool in describe_tools(["all"], "mcp")]
    assert "inputSchema" in told
    for name in ("userId", "workspaceId", "agentId"):
        assert name not in json.dumps(inputs)


@pytest.mark.parametrize("form", FORMS)
def test_a_model_may_name_the_other_agents_that_are_offered(form: str) -> None:
    told = describe_tools(["all"], form, ["sales", "billing"])
    search, *others = (SCHEMAS[form](tool)["properties"] for tool in told)
    assert "sales, billing" in search["agents"]["description"]
    assert all("agents" not in properties for properties in others)
    (plain,) = describe_tools(["search_memory"], form)
    assert "agents" not in SCHEMAS[form](plain)["properties"]
    Draft202012Validator.check_schema(SCHEMAS[form](told[0]))


@pytest.mark.parametrize(
    "arguments",
    [
        {"queryText": "Lisbon", "grain": "daily", "maxResults": 100},
        {"grain": "hourly"},
        {"maxResults": 101},
        {"minimumDaysAgo": -1},
        {"since": 5},
        {"colour": "red"},
    ],
)
def test_the_schema_refuses_what_the_code_refuses(
    arguments: dict[str, Any],
) -> None:
    (tool,) = describe_tools(["search_memory"], "mcp")
    is_valid = Draft202012Validator(tool["inputSchema"]).is_valid(arguments)
    try:
        parse_search_request(arguments)
    except Rejected:
        assert not is_valid
    else:
        assert is_valid


def test_the_command_prints_the_definitions_without_a_store(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tool-schema", "--format", "openai"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)
    assert printed["function"]["name"] == "search_memory"
    assert main(["tool-schema", "forget"]) == 2
    assert "is none of search_memory, remember" in capsys.readouterr().err
