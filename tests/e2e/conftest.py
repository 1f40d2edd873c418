"""The rehearsal's parts: the image's install, a scripted model, deployments of the template."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conversations import SCRIPT
from tests.support.deployment import Deploy, Deployment, deployed
from tests.support.install import PROJECT, Image, install
from tests.support.model_replies import extraction
from tests.support.model_server import ModelServer
from tests.support.moto_template import Template
from tests.support.sam import load_template, translate
from varve import Memory

API_KEY = "rehearsal-model-key"
CORPUS = Path(__file__).parents[1] / "corpus"
CORPUS_NOW = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
PARAMETERS = {
    "Llm": "openai:test-model",
    "Embedder": "embedded",
    "Identities": '{"memory": "acme/support", "AGENT12345": "acme/support",'
    ' "arn:aws:iam::123456789012:role/assistant": "mcp/assistant/dana"}',
}


@pytest.fixture(scope="module")
def clean_environment() -> Iterator[None]:
    """No setting of the developer's for the modules that ask for it: nothing but what they set themselves."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("VARVE_", "AWS_", "OPENAI_")):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def conversations() -> list[dict[str, Any]]:
    """The conversations of the project's corpus, in its own order."""
    files = sorted(CORPUS.glob("*.json"))
    return [
        conversation
        for path in files
        if path.name != "questions.json"
        for conversation in json.loads(path.read_text("utf-8"))
    ]


@pytest.fixture(scope="session")
def corpus_store(
    tmp_path_factory: pytest.TempPathFactory,
    conversations: list[dict[str, Any]],
) -> Path:
    """The corpus, ingested once in its own order; no test may change it."""
    root = tmp_path_factory.mktemp("corpus") / "store"
    memories: dict[tuple[str, str], Memory] = {}
    for one in conversations:
        workspace, agent = owner = one["workspaceId"], one["agentId"]
        if owner not in memories:
            memories[owner] = Memory.open(
                root, workspace=workspace, agent=agent, now=CORPUS_NOW
            )
        memories[owner].ingest(one)
    return root


@pytest.fixture(scope="session")
def image() -> Image:
    return install()


@pytest.fixture(scope="session")
def template() -> Template:
    return translate(load_template(PROJECT / "template.yaml"), PARAMETERS)


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    with ModelServer(extraction(SCRIPT), api_key=API_KEY) as server:
        yield server


@pytest.fixture
def other_model() -> Iterator[ModelServer]:
    """A model of the test's own, to break as it likes."""
    with ModelServer(extraction(SCRIPT), api_key=API_KEY) as server:
        yield server


@pytest.fixture(scope="session")
def rehearsal(
    template: Template, image: Image, model: ModelServer
) -> Iterator[Deployment]:
    """The deployment most tests share; each test keeps to a workspace of its own, or to reading."""
    options: dict[str, Any] = {
        "parameters": PARAMETERS,
        "overrides": model.environment,
    }
    with deployed(
        template, image, processes={"WriteFunction": 2}, **options
    ) as deployment:
        yield deployment


@pytest.fixture
def deploy(
    template: Template, image: Image, other_model: ModelServer
) -> Iterator[Deploy]:
    """Deployments of a test's own, fed by `other_model`: `deploy(deliver_twice=True)`."""
    with ExitStack() as stacks:

        def start(
            parameters: dict[str, str] | None = None, **options: Any
        ) -> Deployment:
            given = {**PARAMETERS, **(parameters or {})}
            running = deployed(
                template,
                image,
                parameters=given,
                overrides=other_model.environment,
                **options,
            )
            return stacks.enter_context(running)

        yield start
