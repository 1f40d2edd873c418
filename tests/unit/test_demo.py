"""`varve demo` with a person's own chat, and the pages that it offers at a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import sys
from pathlib import Path

import pytest

from tests.support.screen import read_until
from varve.cli.main import main

SAID = {
    "id": "a",
    "author": {"role": "user"},
    "create_time": 1772442900.0,
    "content": {
        "content_type": "text",
        "parts": ["I live in Porto. My sister is called Hannah."],
    },
}
EXPORT = [
    {
        "title": "Home",
        "create_time": 1772442900.0,
        "conversation_id": "x1",
        "current_node": "a",
        "mapping": {
            "root": {
                "id": "root",
                "message": None,
                "parent": None,
                "children": ["a"],
            },
            "a": {
                "id": "a",
                "parent": "root",
                "children": [],
                "message": SAID,
            },
        },
    }
]
"""A chat as ChatGPT exports it."""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(EXPORT))
    return path


def test_a_foreign_chat_is_stored_and_asked_about(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "store")
    assert main(["demo", "--chat", str(export), "--store", store]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "? What about Hannah?   (default/default)" in told.out
    assert "? the newest memories   (default/default)" in told.out
    assert f"  varve look --store {store} --workspace default" in told.out
    assert (
        main(["demo", "--chat", str(export), "--store", store, "--json"]) == 0
    )
    shown = json.loads(capsys.readouterr().out)
    (status,) = shown["status"]
    assert status["grains"]["working"]["records"] >= 1
    assert shown["answers"][-1]["question"] == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.json", "none.json: does not exist"),
        ("odd.json", "odd.json: looks like no"),
    ],
)
def test_a_chat_that_cannot_be_read_is_named(
    name: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text("plain words")
    store = tmp_path / "store"
    assert (
        main(["demo", "--chat", str(tmp_path / name), "--store", str(store)])
        == 2
    )
    assert reason in capsys.readouterr().err
    assert not store.exists()


def test_at_a_terminal_it_offers_the_pages_and_serves_them(
    export: Path, tmp_path: Path
) -> None:
    words = ["demo", "--chat", str(export), "--store", str(tmp_path / "store")]
    command = (
        f"import sys; from varve.cli import main; sys.exit(main({words!r}))"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", command])
    try:
        read_until(terminal, b"[y/N]")
        os.write(terminal, b"y\n")
        served = read_until(terminal, b"Ctrl-C ends it.")
        assert b"default/default is at http://127.0.0.1:" in served
        os.write(terminal, b"\x03")
        read_until(terminal, b"varve: stopped")
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, ended = os.waitpid(child, 0)
        os.close(terminal)
    assert os.waitstatus_to_exitcode(ended) == 0
