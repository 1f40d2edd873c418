"""`varve mcp --http`: the same tools over Streamable HTTP, asked by the SDK's client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client

from tests.support.mcp_client import call, talk
from varve import Memory
from varve.cli import main

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-the-tests-4711"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
TOLD = {"name": "Dana", "content": "I moved to Porto last week."}


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    """Start `varve mcp --http` and give its address; end it afterwards."""
    token = folder / "token"
    token.write_text(TOKEN)
    command = [
        sys.executable,
        "-m",
        "varve",
        "mcp",
        "--http",
        "--token-file",
        token,
    ]
    environment = {"PYTHONPATH": str(ROOT / "shared")}
    with subprocess.Popen(
        [*command, "--store", folder / "memory", *options],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()


def test_what_one_client_remembers_another_recalls(tmp_path: Path) -> None:
    async def tell(client: Client) -> None:
        assert client.protocol_version == "2026-07-28"
        nothing = await call(
            client, "get_context", prompt="Which city is mine?"
        )
        assert nothing == {"text": "", "tokens": 0, "ids": []}
        first = await call(client, "remember", messages=[TOLD])
        again = await call(client, "remember", messages=[TOLD])
        assert (first["stored"]["turns"], again["stored"]["turns"]) == (1, 0)
        assert first["conversationId"] == again["conversationId"]

    async def recall(client: Client) -> None:
        assert client.protocol_version == "2025-11-25"
        block = await call(
            client, "get_context", prompt="Which city did I move to?"
        )
        assert "Porto" in block["text"]
        found = await call(client, "search_memory", queryText="Porto")
        scores = [result["score"] for result in found["results"]]
        assert scores == [round(score, 3) for score in scores]
        wrong = await call(client, "get_context", prompt=7)
        assert wrong["error"]["field"] == "prompt"
        record = found["results"][0]["id"]
        (content,) = (
            await client.read_resource(f"varve://record/{record}")
        ).contents
        assert json.loads(content.text)["userId"] == "dana"  # type: ignore[union-attr]

    with served(tmp_path, "--user", "dana") as address:
        talk(address, tell, headers=AUTHORIZED)
        talk(address, recall, mode="legacy", headers=AUTHORIZED)
    memory = Memory.open(tmp_path / "memory", environment={})
    assert {result.user_id for result in memory.search().results} == {"dana"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that has to refuse."""
    with served(tmp_path_factory.mktemp("refusing")) as address:
        yield address


@pytest.mark.parametrize(
    "given", ["", "Bearer wrong", TOKEN, f"bearer {TOKEN}"]
)
def test_a_request_without_the_token_is_refused(
    address: str, given: str
) -> None:
    refused = httpx2.post(
        address, headers={"Authorization": given}, json={}, timeout=60
    )
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"


def test_a_request_for_another_host_is_refused(address: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
    refused = httpx2.post(address, headers=headers, json={}, timeout=60)
    assert refused.status_code == 421


@pytest.mark.parametrize("transport", [[], ["--http"]])
def test_a_store_that_cannot_be_read_is_told_at_the_start(
    tmp_path: Path, transport: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "file"
    place.write_text("no directory")
    assert main(["mcp", *transport, "--store", str(place)]) == 2
    assert str(place) in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "short", "line\nbreak-of-a-long-token"])
def test_a_weak_token_is_refused(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    store = str(tmp_path / "memory")
    options = ["--http", "--token-file", str(file)]
    assert main(["mcp", "--store", store, *options]) == 2
    assert "--token-file" in capsys.readouterr().err
