"""A workspace's configuration, which the store keeps and an operator writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import attempt
from varve.domain.errors import Rejected
from varve.domain.workspace import (
    Plan,
    WorkspaceConfig,
    parse_workspace_config,
)

NAMES = st.sampled_from(
    ["plan", "timezone", "prompts", "models", "llm", "embedder", "baseUrl", "key", "environment", "secret"]
) | st.text(max_size=3)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=6)
    | st.sampled_from(["free", "UTC", "Europe", "Europe/Lisbon", "../UTC", "/etc", "OPENAI_API_KEY", "\x00"])
)  # fmt: skip
JSON = st.recursive(
    LEAVES,
    lambda i: st.lists(i, max_size=3) | st.dictionaries(NAMES, i, max_size=4),
)


def parse(**config: Any) -> WorkspaceConfig:
    return parse_workspace_config(json.dumps(config).encode())


@given(
    JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40)
)
def test_any_bytes_are_a_configuration_or_rejected(data: bytes) -> None:
    config = attempt(parse_workspace_config, data)
    if isinstance(config, Rejected):
        assert config.field.startswith("config.json: ")
    else:
        assert config.zone.key == config.timezone


def test_everything_is_optional() -> None:
    config = parse()
    assert (config.plan, config.timezone) == (Plan.FREE, "UTC")
    assert (
        config.models.llm
        is config.models.key
        is config.prompts.extract
        is None
    )


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"plan": "gold"}, "plan"),
        ({"timezone": "Lisbon"}, "timezone"),
        ({"timezone": "Europe"}, "timezone"),
        ({"timezone": "../../etc/passwd"}, "timezone"),
        ({"retention": 5}, "retention"),
        ({"models": {"llm": 5}}, "models.llm"),
        ({"models": {"llm": "openai:"}}, "models.llm"),
        ({"models": {"embedder": "openai:x:9000"}}, "models.embedder"),
        ({"models": {"reranker": "cohere"}}, "models.reranker"),
        (
            {"models": {"movingFrom": "default,openai:x:9000"}},
            "models.movingFrom",
        ),
        ({"models": {"key": "sk-123"}}, "models.key"),
        (
            {"models": {"key": {"environment": "AWS_SECRET_ACCESS_KEY"}}},
            "models.key.environment",
        ),
        ({"models": {"key": {}}}, "models.key"),
        (
            {"models": {"key": {"environment": "A_API_KEY", "secret": "s"}}},
            "models.key",
        ),
        ({"models": {"baseUrl": "https://llm.example"}}, "models"),
    ],
)
def test_a_fault_is_named_by_its_place(
    config: dict[str, Any], field: str
) -> None:
    with pytest.raises(Rejected) as refused:
        parse(**config)
    assert refused.value.field == f"config.json: {field}"


def test_a_base_url_of_ones_own_needs_a_key_of_ones_own() -> None:
    config = parse(
        models={
            "baseUrl": "https://llm.example",
            "key": {"secret": "acme/llm"},
        }
    )
    assert config.models.key is not None
    assert config.models.key.secret == "acme/llm"


def test_the_key_itself_has_no_place_in_the_configuration() -> None:
    for name in ("apiKey", "key_value", "token"):
        with pytest.raises(Rejected, match="is not a known name"):
            parse(models={name: "sk-123"})


def test_invariant_9_a_refusal_does_not_repeat_a_key_written_in_the_wrong_place() -> (
    None
):
    for models in (
        {"key": "sk-verysecret"},
        {"key": {"environment": "sk-verysecret"}},
        {"apiKey": "sk-verysecret"},
    ):
        with pytest.raises(Rejected) as refused:
            parse(models=models)
        assert "sk-verysecret" not in str(refused.value)


def test_a_key_that_appears_twice_is_refused_by_name() -> None:
    with pytest.raises(Rejected, match="'plan' appears twice"):
        parse_workspace_config(b'{"plan": "free", "plan": "pro"}')
