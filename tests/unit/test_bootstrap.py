"""The composition root: which part serves which setting, and whose key goes where."""

import json
from pathlib import Path
from typing import Any

import pytest

from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.models.http_reranker import HttpReranker
from varve.adapters.models.openai_llm import OpenAILLM
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.retention import Plan
from varve.domain.rules import RuleExtractor
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.condensing import ExtractiveSummarizer
from varve.usecases.naming import ModelEntityFinder
from varve.usecases.privacy import Privacy, PrivateSummarizer
from varve.usecases.reading import CheckpointedExtractor
from varve.wiring.parts import Parts
from varve.wiring.settings import read_settings

FILTER = Privacy({}, [])


def parts(**environment: str) -> Parts:
    built = Parts(read_settings(environment), environment=environment)
    built.objects = InMemoryObjects()
    return built


def configured(**values: object) -> WorkspaceConfig:
    return WorkspaceConfig.model_validate(values)


def test_without_settings_nothing_asks_a_model() -> None:
    built = parts()
    assert isinstance(
        built.extractor(WorkspaceConfig(), "support", FILTER), RuleExtractor
    )
    summarizer = built.summarizer(WorkspaceConfig(), "support", FILTER)
    assert isinstance(summarizer, PrivateSummarizer)
    assert (
        summarizer.name == ExtractiveSummarizer(built.embedder(WorkspaceConfig())).name
    )
    assert built.embedder(WorkspaceConfig()).model == "wordllama-l2-supercat:256"


def test_a_model_reads_behind_checkpoints() -> None:
    built = parts(VARVE_LLM="openai:some-model", OPENAI_API_KEY="key")
    assert isinstance(
        built.extractor(WorkspaceConfig(), "support", FILTER), CheckpointedExtractor
    )
    assert built.summarizer(WorkspaceConfig(), "support", FILTER).name.startswith(
        "some-model/"
    )


def test_a_model_without_a_key_is_refused_by_the_variables_name() -> None:
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
        parts(VARVE_LLM="openai:some-model").extractor(
            WorkspaceConfig(), "support", FILTER
        )


def test_a_workspace_may_choose_its_own_model_and_words() -> None:
    built = parts(OPENAI_API_KEY="key")
    config = configured(
        models={"llm": "openai:their-model"}, prompts={"extract": "Only dates."}
    )
    theirs = built.extractor(config, "support", FILTER)
    assert theirs.name.startswith("their-model/")
    assert (
        theirs.name
        != built.extractor(
            configured(models={"llm": "openai:their-model"}), "support", FILTER
        ).name
    )


def test_an_agents_own_words_come_before_its_workspaces() -> None:
    config = configured(
        prompts={"extract": "Ours."}, agents={"support": {"extract": "Mine."}}
    )
    assert config.prompts_for("support").extract == "Mine."
    assert config.prompts_for("sales").extract == "Ours."


def test_a_key_reference_must_be_set() -> None:
    config = configured(
        models={"llm": "openai:m", "key": {"environment": "THEIR_API_KEY"}}
    )
    with pytest.raises(Misconfigured, match="THEIR_API_KEY"):
        parts(OPENAI_API_KEY="ours").extractor(config, "support", FILTER)


def test_a_referenced_key_is_the_one_that_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys: list[str] = []
    original = OpenAILLM.__init__

    def spy(self: OpenAILLM, model: str, *, api_key: str, **others: object) -> None:
        keys.append(api_key)
        original(self, model, api_key=api_key, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenAILLM, "__init__", spy)
    config = configured(
        models={"llm": "openai:m", "key": {"environment": "THEIR_API_KEY"}}
    )
    parts(OPENAI_API_KEY="ours", THEIR_API_KEY="theirs").extractor(
        config, "support", FILTER
    )
    assert keys == ["theirs"]


def test_without_settings_nothing_is_reranked_and_no_model_names_entities() -> None:
    assert parts().reranker(WorkspaceConfig()) is None
    assert parts().entity_finder(WorkspaceConfig()) is None


def test_a_reranker_has_an_address_and_a_key_of_its_own_or_the_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[tuple[str, str | None, str]] = []

    def spy(
        self: HttpReranker,
        model: str,
        *,
        api_key: str | None,
        base_url: str,
        **_: object,
    ) -> None:
        made.append((model, api_key, base_url))

    monkeypatch.setattr(HttpReranker, "__init__", spy)
    own = {
        "VARVE_RERANKER_URL": "https://rank.example/v1",
        "VARVE_RERANKER_API_KEY": "rank-key",
    }
    models = {"OPENAI_BASE_URL": "https://llm.example/v1", "OPENAI_API_KEY": "ours"}
    theirs = {
        "reranker": "openai:r2", "base_url": "https://theirs.example", "key": {"environment": "THEIR_API_KEY"}
    }  # fmt: skip
    parts(VARVE_RERANKER="openai:r1", **models, **own).reranker(WorkspaceConfig())
    parts(VARVE_RERANKER="openai:r1", **models).reranker(WorkspaceConfig())
    parts(THEIR_API_KEY="theirs", **models, **own).reranker(configured(models=theirs))
    assert made == [
        ("r1", "rank-key", "https://rank.example/v1"),
        ("r1", "ours", "https://llm.example/v1"),
        ("r2", "theirs", "https://theirs.example"),
    ]
    assert (
        parts(VARVE_RERANKER="openai:r1").reranker(
            configured(models={"reranker": "off"})
        )
        is None
    )


def test_a_rerankers_own_address_needs_a_key_of_its_own() -> None:
    built = parts(
        VARVE_RERANKER="openai:r",
        VARVE_RERANKER_URL="https://x.example",
        OPENAI_API_KEY="ours",
    )
    with pytest.raises(Misconfigured, match="VARVE_RERANKER_API_KEY"):
        built.reranker(WorkspaceConfig())


def test_a_model_may_name_entities() -> None:
    built = parts(VARVE_ENTITIES="openai:small", OPENAI_API_KEY="key")
    assert isinstance(built.entity_finder(WorkspaceConfig()), ModelEntityFinder)


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
    built = parts(
        OPENAI_API_KEY="key", VARVE_LLM="openai:m", VARVE_EMBEDDER="openai:e:8"
    )
    embedder: Any = built.embedder(WorkspaceConfig())
    summarizer: Any = built.summarizer(WorkspaceConfig(), "support", FILTER)
    assert embedder._inner.usage is built.usage
    assert summarizer._inner._llm._inner.usage is built.usage
