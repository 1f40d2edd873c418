"""The composition root: which part serves which setting, and whose key goes where."""

import json
from pathlib import Path
from typing import Any

import pytest

from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.openai_llm import OpenAILLM
from varve.bootstrap import Parts
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.retention import Plan
from varve.domain.rules import RuleExtractor
from varve.domain.workspace import WorkspaceConfig
from varve.pipeline.condensing import ExtractiveSummarizer
from varve.pipeline.privacy import Privacy, PrivateSummarizer
from varve.pipeline.reading import CheckpointedExtractor
from varve.settings import read_settings

FILTER = Privacy({}, [])


def parts(**environment: str) -> Parts:
    built = Parts(read_settings(environment), environment=environment)
    built.objects = InMemoryObjects()
    return built


def configured(**values: object) -> WorkspaceConfig:
    return WorkspaceConfig.model_validate(values)


def test_without_settings_nothing_asks_a_model() -> None:
    built = parts()
    assert isinstance(built.extractor(WorkspaceConfig(), "support", FILTER), RuleExtractor)
    summarizer = built.summarizer(WorkspaceConfig(), "support", FILTER)
    assert isinstance(summarizer, PrivateSummarizer)
    assert summarizer.name == ExtractiveSummarizer(built.embedder(WorkspaceConfig())).name
    assert built.embedder(WorkspaceConfig()).model == "wordllama-l2-supercat:256"


def test_a_model_reads_behind_checkpoints() -> None:
    built = parts(VARVE_LLM="openai:some-model", OPENAI_API_KEY="key")
    assert isinstance(built.extractor(WorkspaceConfig(), "support", FILTER), CheckpointedExtractor)
    assert built.summarizer(WorkspaceConfig(), "support", FILTER).name.startswith("some-model/")


def test_a_model_without_a_key_is_refused_by_the_variables_name() -> None:
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
        parts(VARVE_LLM="openai:some-model").extractor(WorkspaceConfig(), "support", FILTER)


def test_a_workspace_may_choose_its_own_model_and_words() -> None:
    built = parts(OPENAI_API_KEY="key")
    config = configured(models={"llm": "openai:their-model"}, prompts={"extract": "Only dates."})
    theirs = built.extractor(config, "support", FILTER)
    assert theirs.name.startswith("their-model/")
    assert (
        theirs.name
        != built.extractor(configured(models={"llm": "openai:their-model"}), "support", FILTER).name
    )


def test_an_agents_own_words_come_before_its_workspaces() -> None:
    config = configured(prompts={"extract": "Ours."}, agents={"support": {"extract": "Mine."}})
    assert config.prompts_for("support").extract == "Mine."
    assert config.prompts_for("sales").extract == "Ours."


def test_a_key_reference_must_be_set() -> None:
    config = configured(models={"llm": "openai:m", "key": {"environment": "THEIR_API_KEY"}})
    with pytest.raises(Misconfigured, match="THEIR_API_KEY"):
        parts(OPENAI_API_KEY="ours").extractor(config, "support", FILTER)


def test_a_referenced_key_is_the_one_that_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str] = []
    original = OpenAILLM.__init__

    def spy(self: OpenAILLM, model: str, *, api_key: str, **others: object) -> None:
        keys.append(api_key)
        original(self, model, api_key=api_key, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenAILLM, "__init__", spy)
    config = configured(models={"llm": "openai:m", "key": {"environment": "THEIR_API_KEY"}})
    parts(OPENAI_API_KEY="ours", THEIR_API_KEY="theirs").extractor(config, "support", FILTER)
    assert keys == ["theirs"]


def test_an_address_of_its_own_needs_a_key_of_its_own() -> None:
    stored = json.dumps({"models": {"baseUrl": "https://elsewhere.example"}}).encode()
    built = parts(OPENAI_API_KEY="ours")
    built.objects.put("workspaces/acme/config.json", stored)
    with pytest.raises(Rejected, match="key reference"):
        built.config("acme")


def test_an_unconfigured_workspace_has_the_default_plan() -> None:
    assert parts(VARVE_DEFAULT_PLAN="pro").config("acme").plan is Plan.PRO


def test_a_configuration_without_a_plan_has_the_default_plan() -> None:
    built = parts(VARVE_DEFAULT_PLAN="pro")
    built.objects.put("workspaces/acme/config.json", b'{"timezone": "Europe/Lisbon"}')
    assert built.config("acme").plan is Plan.PRO


def test_nothing_is_made_in_a_store_that_is_only_opened(tmp_path: Path) -> None:
    Parts(read_settings({}, str(tmp_path / "store"))).config("acme")
    assert not (tmp_path / "store").exists()


def test_the_tokens_of_every_client_are_counted_in_one_place() -> None:
    built = parts(OPENAI_API_KEY="key", VARVE_LLM="openai:m", VARVE_EMBEDDER="openai:e:8")
    embedder: Any = built.embedder(WorkspaceConfig())
    summarizer: Any = built.summarizer(WorkspaceConfig(), "support", FILTER)
    assert embedder._inner.usage is built.usage
    assert summarizer._inner._llm._inner.usage is built.usage
