"""The server of the pages: the token, the hosts, and the headers of every answer."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.look import Client, let_in, open_told, served
from varve.cli import main
from varve.domain.errors import Misconfigured
from varve.look.rendering import open_templates
from varve.look.server import LookServer

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LookServer]:
    with served(
        open_told(tmp_path_factory.mktemp("look") / "store")
    ) as server:
        yield server


def test_it_listens_on_loopback_alone(server: LookServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_without_the_token_no_page_is_shown(server: LookServer) -> None:
    for path in (
        "/",
        "/period/2026",
        "/static/look.css",
        "/?token=wrong",
        "/?token=",
    ):
        answer = Client(server).get(path)
        assert answer.status == 403, path
        assert "Dana" not in answer.body


def test_the_token_leaves_the_address_for_a_cookie(server: LookServer) -> None:
    answer = Client(server, follows=False).get(f"/?token={server.token}")
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert server.token not in cookie


def test_the_token_opens_only_the_first_page(server: LookServer) -> None:
    answer = Client(server).get(f"/period/2026?token={server.token}")
    assert answer.status == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]:80", "", "localhost"],
)
def test_another_host_is_refused(server: LookServer, host: str) -> None:
    answer = let_in(server).get("/", Host=host)
    assert answer.status == 421
    assert "Dana" not in answer.body


def test_localhost_with_the_port_is_the_same_host(server: LookServer) -> None:
    host = f"localhost:{server.server_port}"
    assert let_in(server).get("/", Host=host).status == 200


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
)
def test_only_get_and_head_are_answered(
    server: LookServer, method: str
) -> None:
    assert let_in(server).get("/", method).status == 501


def test_head_has_the_headers_and_no_body(server: LookServer) -> None:
    answer = let_in(server).get("/", "HEAD")
    assert answer.status == 200
    assert answer.body == ""
    assert int(answer.headers["Content-Length"]) > 1_000


def test_every_answer_forbids_scripts_frames_and_referrers(
    server: LookServer,
) -> None:
    client = let_in(server)
    for path in ("/", "/nowhere", "/static/look.js", "/period/1x"):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_no_page_has_inline_scripts_styles_or_foreign_addresses(
    server: LookServer,
) -> None:
    client = let_in(server)
    for path in (
        "/",
        "/period/2026",
        "/search?q=Dana",
        "/entity/dana",
        "/health",
    ):
        body = client.get(path).body
        assert not re.search(
            r"<script(?! src=)|<style| style=| on[a-z]+=", body
        ), path
        assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", body), (
            path
        )


def test_a_static_file_is_one_of_two(server: LookServer) -> None:
    client = let_in(server)
    assert (
        client.get("/static/look.css")
        .headers["Content-Type"]
        .startswith("text/css")
    )
    for path in ("/static/../server.py", "/static/..%2fserver.py", "/static/"):
        assert client.get(path).status == 404


def test_a_long_address_is_refused(server: LookServer) -> None:
    assert let_in(server).get("/search?q=" + "a" * 21_000).status == 414


def test_a_taken_port_is_named(server: LookServer) -> None:
    with pytest.raises(Misconfigured, match=str(server.server_port)):
        LookServer(server.site, server.server_port)


def test_a_client_that_goes_away_is_no_error(
    server: LookServer, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
    assert let_in(server).get("/").status == 200
    assert capfd.readouterr().err == ""


def test_nothing_is_logged(
    server: LookServer, capfd: pytest.CaptureFixture[str]
) -> None:
    let_in(server).get("/search?q=secret")
    assert capfd.readouterr() == ("", "")


def test_the_assets_are_the_project_s_own() -> None:
    import varve.look

    static = Path(varve.look.__file__).parent / "static"
    assert {path.name for path in static.iterdir()} == {"look.css", "look.js"}


def test_the_command_serves_until_it_is_interrupted(
    server: LookServer, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "varve",
        "look",
        "--store",
        str(tmp_path),
        "--json",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        said = b""
        while b"}" not in said:
            said += process.stdout.readline()
        address = json.loads(said)["address"]
        opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor()
        )
        with opener.open(address) as page:
            assert b"This memory is empty" in page.read()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert told == b"varve: stopped\n"


def test_without_jinja_the_command_names_the_extra(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    open_templates.cache_clear()
    try:
        assert main(["look", "--store", str(tmp_path)]) == 2
    finally:
        open_templates.cache_clear()
    assert "pip install 'varve-memory[look]'" in capsys.readouterr().err
