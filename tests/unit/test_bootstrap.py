"""The composition root: which part serves which setting, and whose key goes where."""

import json
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.contract.test_reranker import RerankServer
from tests.support.builders import ACME, raw_conversation
from tests.support.drivers import Driver, open_driver
from tests.support.model_server import Fault, ModelServer, Request, prompt
from varve import Memory
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.personal import Mode
from varve.domain.retention import Plan
from varve.domain.rules import RuleExtractor
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.ingest.reading import CheckpointedExtractor
from varve.usecases.privacy import PrivateSummarizer
from varve.usecases.summaries.condensing import ExtractiveSummarizer
from varve.wiring.keys import read_operator_key
from varve.wiring.settings import DEFAULT_BASE_URL, read_settings

LATER = datetime(2030, 1, 1, tzinfo=UTC)


def parts(**environment: str) -> Driver:
    return open_driver(environment, objects=InMemoryObjects())


def configured(**values: object) -> WorkspaceConfig:
    return WorkspaceConfig.model_validate(values)


def test_without_settings_nothing_asks_a_model() -> None:
    built = parts()
    assert isinstance(built.extractor(), RuleExtractor)
    summarizer = built.summarizer()
    assert isinstance(summarizer, PrivateSummarizer)
    assert summarizer.name == ExtractiveSummarizer(built.embedder()).name
    assert built.embedder().model == "wordllama-l2-supercat:256"


def test_a_model_reads_behind_checkpoints() -> None:
    built = parts(VARVE_LLM="openai:some-model", OPENAI_API_KEY="key")
    assert isinstance(built.extractor(), CheckpointedExtractor)
    assert built.summarizer().name.startswith("some-model/")


def test_a_model_without_a_key_is_refused_by_the_variables_name() -> None:
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
        parts(VARVE_LLM="openai:some-model").extractor()


def test_a_workspace_may_choose_its_own_model_and_words() -> None:
    built = parts(OPENAI_API_KEY="key")
    config = configured(
        models={"llm": "openai:their-model"},
        prompts={"extract": "Only dates."},
    )
    theirs = built.extractor(config)
    assert theirs.name.startswith("their-model/")
    assert (
        theirs.name
        != built.extractor(
            configured(models={"llm": "openai:their-model"})
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
    listed = json.dumps({"THEIR_API_KEY": DEFAULT_BASE_URL})
    with pytest.raises(Misconfigured, match="THEIR_API_KEY: is not set"):
        parts(OPENAI_API_KEY="ours", VARVE_KEY_ADDRESSES=listed).extractor(
            config
        )


def told(environment: dict[str, str], config: WorkspaceConfig) -> Driver:
    """A process that was told one sentence, in a workspace that is configured so."""
    records = InMemoryRecords()
    driver = open_driver(
        environment,
        objects=InMemoryObjects(),
        records=records,
        stores=records,
        graph=InMemoryGraph(),
        configs={"acme": config},
    )
    driver.memory(ACME).ingest(raw_conversation("I moved to Lisbon."))
    return driver


def terse(request: Request) -> dict[str, Any]:
    """A model that finds nothing worth a fact, and sums everything up in one sentence."""
    if "<sources>" not in prompt(request):
        return {"facts": [], "triples": []}
    lists: dict[str, Any] = {"people": [], "topics": [], "open_questions": []}
    return {"summary": "Dana moved.", **lists}


def test_a_referenced_key_is_the_one_that_is_sent() -> None:
    config = configured(
        models={"llm": "openai:m", "key": {"environment": "THEIR_API_KEY"}}
    )
    with ModelServer(terse, api_key="theirs") as model:
        listed = json.dumps({"THEIR_API_KEY": model.base_url})
        ours = {"OPENAI_API_KEY": "ours", "VARVE_KEY_ADDRESSES": listed}
        environment = {**model.environment, **ours}
        told({**environment, "THEIR_API_KEY": "theirs"}, config)
        keys = [request.headers["authorization"] for request in model.chats]
    assert keys == ["Bearer theirs"]


def test_each_provider_has_its_own_address_and_key() -> None:
    settings = read_settings(
        {"OPENAI_API_KEY": "a", "OPENROUTER_API_KEY": "b"}
    )
    assert settings.base_url == "https://api.openai.com/v1"
    assert read_operator_key("openai", settings) == "a"
    assert read_operator_key("openrouter", settings) == "b"


def test_openais_key_is_never_sent_to_openrouter() -> None:
    built = parts(OPENAI_API_KEY="ours", VARVE_LLM="openrouter:meta/llama")
    with pytest.raises(Misconfigured, match="OPENROUTER_API_KEY: is not set"):
        built.extractor()


def test_a_workspaces_key_serves_one_provider() -> None:
    with pytest.raises(ValidationError, match="serves one provider"):
        configured(
            models={
                "llm": "openai:m",
                "embedder": "openrouter:e:768",
                "key": {"environment": "THEIR_API_KEY"},
            }
        )


def test_a_search_without_the_rerankers_key_keeps_the_fused_order() -> None:
    driver = told({"VARVE_RERANKER": "openai:r1"}, WorkspaceConfig())
    found = driver.memory(ACME).search("Where does Dana live?")
    assert found.results
    assert found.searched.reranked is False


def test_a_context_without_the_finders_key_names_what_is_missing() -> None:
    driver = told({"VARVE_ENTITIES": "openai:small"}, WorkspaceConfig())
    block = driver.memory(ACME).context("Plan a trip to Lisbon")
    assert "OPENAI_API_KEY: is not set" in block.searched.naming


@pytest.mark.parametrize(
    ("name", "value"),
    [("models.llm", "openai:m"), ("models.reranker", "openai:r")],
)
def test_a_model_without_a_key_is_refused_before_it_is_stored(
    name: str, value: str, tmp_path: Path
) -> None:
    memory = Memory.open(tmp_path, environment={})
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY: is not set"):
        memory.configure(name, value)
    assert memory.setting(name) is None
    memory.configure(name, value, check=False)
    assert memory.setting(name) == value


def test_a_model_is_tried_with_one_request_before_it_is_stored(
    tmp_path: Path,
) -> None:
    with ModelServer(lambda _: {"names": []}) as model:
        memory = Memory.open(tmp_path, environment=model.environment)
        memory.configure("models.llm", "openai:m")
        assert len(model.chats) == 1
        model.fail_next(Fault(401))
        with pytest.raises(Misconfigured):
            memory.configure("models.llm", "openai:another")
    assert memory.setting("models.llm") == "openai:m"


def test_without_settings_nothing_is_reranked_and_no_model_names_entities() -> (
    None
):
    assert parts().reranker() is None
    assert parts().entity_finder() is None


def test_a_reranker_has_an_address_and_a_key_of_its_own_or_the_models() -> (
    None
):
    with ExitStack() as stack:
        rank, llm, their = (
            stack.enter_context(RerankServer()) for _ in range(3)
        )
        own = {
            "VARVE_RERANKER_URL": rank.base_url,
            "VARVE_RERANKER_API_KEY": "rank-key",
        }
        models = {
            "OPENAI_BASE_URL": llm.base_url,
            "OPENAI_API_KEY": "ours",
            "VARVE_KEY_ADDRESSES": json.dumps(
                {"THEIR_API_KEY": their.base_url}
            ),
        }
        theirs = {
            "reranker": "openai:r2",
            "base_url": their.base_url,
            "key": {"environment": "THEIR_API_KEY"},
        }
        for reranker in (
            parts(VARVE_RERANKER="openai:r1", **models, **own).reranker(),
            parts(VARVE_RERANKER="openai:r1", **models).reranker(),
            parts(THEIR_API_KEY="theirs", **models, **own).reranker(
                configured(models=theirs)
            ),
        ):
            for server in (rank, llm, their):
                server.answer = {
                    "results": [{"index": 0, "relevance_score": 0.5}]
                }
            assert reranker.rerank("where?", ["here"]) == [0.5]
        asked = [
            [(request["model"], request["key"]) for request in server.requests]
            for server in (rank, llm, their)
        ]
    assert asked == [
        [("r1", "Bearer rank-key")],
        [("r1", "Bearer ours")],
        [("r2", "Bearer theirs")],
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
    reranker = built.reranker()
    assert reranker is not None
    with pytest.raises(Misconfigured, match="VARVE_RERANKER_API_KEY"):
        reranker.rerank("Where?", ["Lisbon"])


def test_a_model_may_name_entities() -> None:
    built = parts(VARVE_ENTITIES="openai:small", OPENAI_API_KEY="key")
    assert built.entity_finder() is not None


def test_an_address_of_its_own_needs_a_key_of_its_own() -> None:
    stored = json.dumps(
        {"models": {"baseUrl": "https://elsewhere.example"}}
    ).encode()
    built = parts(OPENAI_API_KEY="ours")
    built.objects.put("workspaces/acme/config.json", stored)
    with pytest.raises(Rejected, match="key reference"):
        built.config("acme")


@pytest.mark.parametrize(
    ("operators", "own", "mode"),
    [
        ("", None, Mode.OFF),
        ("redact", None, Mode.REDACT),
        ("redact", "off", Mode.OFF),
        ("off", "block", Mode.BLOCK),
    ],
)
def test_a_workspace_without_a_privacy_mode_has_the_operators(
    operators: str, own: str | None, mode: Mode
) -> None:
    built = parts(VARVE_PRIVACY_MODE=operators)
    if own:
        stored = json.dumps({"privacy": {"mode": own}}).encode()
        built.objects.put("workspaces/acme/config.json", stored)
    assert built.config("acme").privacy.mode is mode


def test_a_mode_that_needs_a_workspaces_key_is_no_default() -> None:
    with pytest.raises(Misconfigured, match="VARVE_PRIVACY_MODE"):
        parts(VARVE_PRIVACY_MODE="pseudonym")


def test_an_unconfigured_workspace_has_the_default_plan() -> None:
    assert parts(VARVE_DEFAULT_PLAN="pro").config("acme").plan is Plan.PRO


def test_a_configuration_without_a_plan_has_the_default_plan() -> None:
    built = parts(VARVE_DEFAULT_PLAN="pro")
    built.objects.put(
        "workspaces/acme/config.json", b'{"timezone": "Europe/Lisbon"}'
    )
    assert built.config("acme").plan is Plan.PRO


def test_nothing_is_made_in_a_store_that_is_only_opened(
    tmp_path: Path,
) -> None:
    open_driver(store=tmp_path / "store").config("acme")
    assert not (tmp_path / "store").exists()


def test_the_tokens_of_every_client_are_counted_in_one_place() -> None:
    with ModelServer(terse) as model:
        model.dimensions = 8
        environment = {"VARVE_LLM": "openai:m", "VARVE_EMBEDDER": "openai:e:8"}
        driver = told({**model.environment, **environment}, WorkspaceConfig())
        assert (len(model.chats), len(model.embeddings)) == (1, 1)
        # A day under some 200 tokens is its own summary, without a call.
        long_words = "The rain fell on the roofs of the old town again. " * 40
        driver.memory(ACME).ingest(raw_conversation(long_words))
        extracting = len(model.requests)
        assert driver.usage.calls == extracting
        done = driver.memory(ACME).summarize(grain="daily", now=LATER)
        assert done["built"] == 1
        assert (len(model.chats), len(model.comparisons)) == (4, 1)
        assert driver.usage.calls == len(model.requests)
