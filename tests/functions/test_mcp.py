"""McpFunction behind a Function URL: the SDK's client, signed requests, the real handler."""

from __future__ import annotations

import importlib
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from mcp.client import Client

from tests.support.function_url import (
    FunctionUrl,
    Principal,
    SignedAuth,
    role_session,
)
from tests.support.loopback import ACCOUNT
from tests.support.mcp_client import call, talk
from varve import Memory

DANA = role_session("assistant", "dana")
TEAM = role_session("assistant", "nightly")
STRANGER = role_session("stranger")
UNKNOWN = role_session("of-another-account")
ROLE = f"arn:aws:iam::{ACCOUNT}:role/assistant"
IDENTITIES = {DANA.arn: "acme/support/dana", ROLE: "acme/support"}
CONTEXT: Any = SimpleNamespace(
    function_name="f",
    memory_limit_in_mb=1,
    invoked_function_arn="a",
    aws_request_id="r",
)


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Varve")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    monkeypatch.setenv("VARVE_STORE", str(tmp_path))
    monkeypatch.setenv("VARVE_IDENTITIES", json.dumps(IDENTITIES))
    app = importlib.import_module("functions.mcp.app")
    app.sessions.cache_clear()
    yield lambda event: app.lambda_handler(event, CONTEXT)
    app.sessions.cache_clear()


@pytest.fixture
def url(handler: Any) -> Iterator[str]:
    with FunctionUrl(handler, [DANA, TEAM, STRANGER]) as server:
        yield server.url


def test_the_signer_chooses_the_memory_in_both_specifications(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def tell(client: Client) -> None:
        assert client.protocol_version == "2026-07-28"
        told = {"content": "My locker has the code 4711."}
        stored = await call(client, "remember", messages=[told])
        assert stored["stored"]["turns"] == 1
        for name in ("userId", "workspaceId", "agentId"):
            refused = await call(
                client, "remember", messages=[told], **{name: "other"}
            )
            assert refused["error"]["field"] == name

    async def find(client: Client) -> None:
        assert client.protocol_version == "2025-11-25"
        found = await call(client, "search_memory", queryText="locker code")
        assert {result["userId"] for result in found["results"]} == {"dana"}
        assert found["results"]
        (first, *_) = (
            await client.list_resource_templates()
        ).resource_templates
        assert first.uri_template == "varve://record/{id}"

    talk(url, tell, auth=SignedAuth(DANA))
    talk(url, find, mode="legacy", auth=SignedAuth(TEAM))
    memory = Memory.open(
        tmp_path, workspace="acme", agent="support", environment={}
    )
    assert {one.user_id for one in memory.list().records} == {"dana"}
    out, err = capfd.readouterr()
    assert "4711" not in out + err


def post(url: str, principal: Principal, **more: Any) -> httpx2.Response:
    return httpx2.post(
        url,
        auth=SignedAuth(principal),
        json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
        timeout=60,
        **more,
    )


def test_a_principal_whom_nothing_binds_is_refused(url: str) -> None:
    refused = post(url, STRANGER)
    assert refused.status_code == 403
    assert refused.json()["error"]["reason"].startswith(
        "is bound to no memory"
    )
    assert post(url, UNKNOWN).json() == {"Message": "Forbidden"}


def test_an_event_without_a_signer_is_refused(handler: Any) -> None:
    for event in ({}, {"requestContext": {"authorizer": None}}, [], None):
        assert handler(event)["statusCode"] == 403


def test_an_encoded_body_and_another_path_are_understood(handler: Any) -> None:
    body = b64encode(b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}').decode()
    event = {
        "rawPath": "/mcp",
        "headers": {
            "host": "x.lambda-url.us-east-1.on.aws",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        },
        "requestContext": {
            "authorizer": {"iam": {"userArn": DANA.arn}},
            "http": {"method": "POST"},
        },
        "body": body,
        "isBase64Encoded": True,
    }
    answer = handler(event)
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["id"] == 7
    assert handler({**event, "rawPath": "/elsewhere"})["statusCode"] == 404
