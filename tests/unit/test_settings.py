"""The environment, read once; what is wrong is named by its variable."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import attempt
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.identity import Identity, Scope
from varve.domain.model_names import (
    ModelName,
    parse_embedder_name,
    parse_llm_name,
)
from varve.domain.retention import Plan
from varve.wiring.settings import DEFAULT_BASE_URL, Settings, read_settings

NAMES = [
    "VARVE_STORE", "VARVE_INGEST_QUEUE_URL", "VARVE_WRITE_QUEUE_URL", "VARVE_LLM", "VARVE_EMBEDDER",
    "OPENAI_BASE_URL", "OPENAI_API_KEY", "VARVE_API_KEY_SECRET", "VARVE_DEFAULT_PLAN", "VARVE_IDENTITIES",
    "VARVE_CACHE_DIR", "VARVE_CACHE_MEGABYTES", "VARVE_MAX_STALENESS_SECONDS",
    "VARVE_KEY_ADDRESSES",
]  # fmt: skip


def test_an_empty_environment_is_a_laptop_without_a_key() -> None:
    settings = read_settings({})
    assert (settings.store, settings.base_url) == ("memory", DEFAULT_BASE_URL)
    assert settings.llm == ModelName("offline")
    assert settings.embedder == ModelName("embedded")
    assert (
        settings.ingest_queue_url
        is settings.write_queue_url
        is settings.api_key
        is None
    )
    assert settings.default_plan is Plan.NONE
    assert settings.s3_location is None


def test_variables_that_are_set_to_nothing_are_not_set() -> None:
    assert read_settings(dict.fromkeys(NAMES, "")) == read_settings({})


@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.text(st.characters(exclude_characters="\0"), max_size=20),
    )
)
def test_any_environment_is_settings_or_misconfigured_by_variable(
    environment: dict[str, str],
) -> None:
    result = attempt(read_settings, environment)
    assert isinstance(result, Settings) or str(result).split(":")[0] in NAMES


def test_everything_can_be_set() -> None:
    settings = read_settings(
        {
            "VARVE_STORE": "s3://bucket/a/b/",
            "VARVE_INGEST_QUEUE_URL": "https://sqs/ingest.fifo",
            "VARVE_WRITE_QUEUE_URL": "https://sqs/writes.fifo",
            "VARVE_LLM": "openai:gpt-4o-mini:free",
            "VARVE_EMBEDDER": "openai:thenlper/gte-base:768",
            "OPENAI_BASE_URL": "https://llm.example/v1",
            "OPENAI_API_KEY": "sk-1",
            "VARVE_API_KEY_SECRET": "acme/llm",
            "VARVE_DEFAULT_PLAN": "pro",
            "VARVE_IDENTITIES": '{"my-target": "acme/support"}',
        }
    )
    assert settings.s3_location == ("bucket", "a/b")
    assert settings.llm == ModelName("openai", "gpt-4o-mini:free")
    assert settings.embedder == ModelName("openai", "thenlper/gte-base", 768)
    assert settings.identities == {
        "my-target": Identity(Scope("acme", "support"))
    }
    assert (settings.api_key, settings.api_key_secret) == ("sk-1", "acme/llm")
    assert settings.default_plan is Plan.PRO


@pytest.mark.parametrize(
    ("given_plan", "store", "expected"),
    [
        ("", "./memory", Plan.NONE),
        ("", "s3://bucket/memory", Plan.FREE),
        ("pro", "./memory", Plan.PRO),
        ("none", "s3://bucket/memory", Plan.NONE),
    ],
)
def test_item_14_a_directory_without_a_plan_keeps_everything(
    given_plan: str, store: str, expected: Plan
) -> None:
    environment = {"VARVE_DEFAULT_PLAN": given_plan, "VARVE_STORE": store}
    assert read_settings(environment).default_plan is expected


def test_the_store_given_by_hand_wins_over_the_variable() -> None:
    assert (
        read_settings({"VARVE_STORE": "s3://bucket"}, "./here").store == "here"
    )
    assert read_settings({"VARVE_STORE": "s3://bucket"}).s3_location == (
        "bucket",
        "",
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("VARVE_STORE", "s3://"),
        ("VARVE_STORE", "s3:///prefix"),
        ("VARVE_STORE", "gs://bucket"),
        ("VARVE_LLM", "gpt-4o-mini"),
        ("VARVE_LLM", "openai:"),
        ("VARVE_LLM", "offline:x"),
        ("VARVE_EMBEDDER", "openai:thenlper/gte-base"),
        ("VARVE_EMBEDDER", "openai:m:0"),
        ("VARVE_RERANKER", "cohere"),
        ("VARVE_RERANKER", "openai:"),
        ("VARVE_ENTITIES", "openai"),
        ("VARVE_EMBEDDER", "openai:m:9000"),
        ("VARVE_EMBEDDER", "openai:m:²"),
        ("VARVE_DEFAULT_PLAN", "gold"),
        ("VARVE_IDENTITIES", "my-target=acme/support"),
        ("VARVE_IDENTITIES", "[]"),
        ("VARVE_IDENTITIES", '{"t": "acme"}'),
        ("VARVE_IDENTITIES", '{"t": "acme/support/x/y"}'),
        ("VARVE_IDENTITIES", '{"t": "../support"}'),
        ("VARVE_IDENTITIES", '{"t": 5}'),
    ],
)
def test_a_wrong_setting_is_named_by_its_variable(
    variable: str, value: str
) -> None:
    with pytest.raises(Misconfigured, match=f"^{variable}: "):
        read_settings({variable: value})


def test_a_workspaces_own_setting_is_named_as_the_workspace_writes_it() -> (
    None
):
    with pytest.raises(Rejected, match=r"^config.json: models.llm: 'x'"):
        parse_llm_name("x", "config.json: models.llm")
    with pytest.raises(Rejected, match=r"^config.json: models.embedder: 'x'"):
        parse_embedder_name("x", "config.json: models.embedder")


def test_the_cache_and_staleness_are_whole_numbers() -> None:
    given = {
        "VARVE_CACHE_DIR": "/var/c",
        "VARVE_CACHE_MEGABYTES": "7",
        "VARVE_MAX_STALENESS_SECONDS": "30",
    }
    settings = read_settings(given)
    assert (settings.cache_directory, settings.cache_bytes) == (
        Path("/var/c"),
        7_000_000,
    )
    assert settings.max_staleness == timedelta(seconds=30)
    for variable in ("VARVE_CACHE_MEGABYTES", "VARVE_MAX_STALENESS_SECONDS"):
        for text in ("-1", "1.5", "ten", "٣", "1000001"):
            with pytest.raises(Misconfigured, match=variable):
                read_settings({variable: text})


def test_settings_come_from_the_given_environment_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VARVE_LLM", "openai:some-model")
    assert read_settings({}).llm == Settings().llm == ModelName("offline")


def test_every_setting_names_its_variable_and_describes_it() -> None:
    for name, field in Settings.model_fields.items():
        assert re.fullmatch(
            r"(VARVE|OPENAI|OPENROUTER)_[A-Z_]+", str(field.validation_alias)
        ), name
        assert field.description, name


def test_settings_do_not_show_keys() -> None:
    keys = {"OPENAI_API_KEY": "sk-one", "VARVE_RERANKER_API_KEY": "sk-two"}
    assert "sk-" not in repr(read_settings(keys))
    assert "sk-" not in str(read_settings(keys))
    with pytest.raises(Misconfigured) as refused:
        read_settings({**keys, "VARVE_LLM": "gpt"})
    assert "sk-" not in str(refused.value)
