"""A key goes only to the address that its owner chose for it."""

import json
from collections.abc import Iterator
from contextlib import closing

import boto3
import pytest

from tests.support.builders import ACME, raw_conversation
from tests.support.drivers import Driver, open_driver
from tests.support.model_server import ModelServer, Request
from tests.support.queues import sqs_server
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.errors import Misconfigured
from varve.domain.workspace import WorkspaceConfig
from varve.wiring.settings import read_settings

OPERATORS = {
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_API_KEY": "ours",
}


def finds_nothing(_: Request) -> dict[str, list[str]]:
    return {"facts": [], "triples": []}


@pytest.fixture
def theirs() -> Iterator[ModelServer]:
    """A provider that the workspace chose."""
    with ModelServer(finds_nothing, api_key="theirs") as server:
        yield server


def told(variables: dict[str, str], base_url: str, **key: str) -> Driver:
    """Return a process that read one sentence with the workspace's own model."""
    models = {"llm": "openai:m", "baseUrl": base_url, "key": key}
    records = InMemoryRecords()
    driver = open_driver(
        variables,
        objects=InMemoryObjects(),
        records=records,
        stores=records,
        graph=InMemoryGraph(),
        configs={"acme": WorkspaceConfig.model_validate({"models": models})},
    )
    driver.memory(ACME).ingest(raw_conversation("I moved to Lisbon."))
    return driver


def listed(**addresses: str) -> dict[str, str]:
    return {"VARVE_KEY_ADDRESSES": json.dumps(addresses)}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "VARVE_RERANKER_API_KEY"])
def test_a_workspace_cannot_name_a_variable_that_the_operator_did_not_list(
    theirs: ModelServer, name: str
) -> None:
    environment = {**OPERATORS, "VARVE_RERANKER_API_KEY": "rank"}
    with pytest.raises(Misconfigured, match=f"{name}: VARVE_KEY_ADDRESSES"):
        told(environment, theirs.base_url, environment=name)
    assert theirs.requests == []


def test_a_listed_key_goes_to_its_own_address(theirs: ModelServer) -> None:
    addresses = listed(ACME_API_KEY=f"{theirs.base_url}/")
    environment = {**OPERATORS, **addresses, "ACME_API_KEY": "theirs"}
    told(environment, theirs.base_url, environment="ACME_API_KEY")
    assert [one.headers["authorization"] for one in theirs.chats] == [
        "Bearer theirs"
    ]


def test_a_listed_key_goes_to_no_other_address(theirs: ModelServer) -> None:
    addresses = listed(GLOBEX_API_KEY="https://llm.globex.example/v1")
    environment = {**OPERATORS, **addresses, "GLOBEX_API_KEY": "globex"}
    with pytest.raises(
        Misconfigured, match=r"GLOBEX_API_KEY: .*globex\.example"
    ):
        told(environment, theirs.base_url, environment="GLOBEX_API_KEY")
    assert theirs.requests == []


@pytest.mark.parametrize("by_arn", [False, True])
def test_a_workspace_cannot_send_the_operators_secret_to_its_own_address(
    theirs: ModelServer, by_arn: bool
) -> None:
    with sqs_server(), closing(boto3.client("secretsmanager")) as secrets:
        made = secrets.create_secret(Name="varve/key", SecretString="ours")
        environment = {**OPERATORS, "VARVE_API_KEY_SECRET": "varve/key"}
        del environment["OPENAI_API_KEY"]
        named = made["ARN"] if by_arn else "varve/key"
        with pytest.raises(Misconfigured, match="the operator's key"):
            told(environment, theirs.base_url, secret=named)
    assert theirs.requests == []


def test_a_listed_secret_goes_to_no_other_address(theirs: ModelServer) -> None:
    addresses = listed(**{"varve/globex": "https://llm.globex.example/v1"})
    with pytest.raises(Misconfigured, match="varve/globex"):
        told(
            {**OPERATORS, **addresses}, theirs.base_url, secret="varve/globex"
        )
    assert theirs.requests == []


def test_a_secret_of_the_workspace_goes_to_its_address(
    theirs: ModelServer,
) -> None:
    with sqs_server(), closing(boto3.client("secretsmanager")) as secrets:
        secrets.create_secret(Name="varve/acme", SecretString="theirs")
        told(OPERATORS, theirs.base_url, secret="varve/acme")
    assert [one.headers["authorization"] for one in theirs.chats] == [
        "Bearer theirs"
    ]


@pytest.mark.parametrize(
    "text", ["ACME_API_KEY", "[]", '{"A_API_KEY": 1}', '{"A": "x"}']
)
def test_a_list_of_another_form_is_refused_by_the_variables_name(
    text: str,
) -> None:
    with pytest.raises(Misconfigured, match="VARVE_KEY_ADDRESSES: must be"):
        read_settings({"VARVE_KEY_ADDRESSES": text})
