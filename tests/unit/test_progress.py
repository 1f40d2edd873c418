"""Bars on a terminal, nothing when piped, and colours that NO_COLOR turns off."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.screen import open_screen
from varve import Memory
from varve.cli import progress
from varve.cli.main import main
from varve.usecases.progress import StepCounter

NOW = "2026-04-10T08:00:00Z"
DAYS = 3


def a_chat(day: int) -> dict[str, object]:
    said = {
        "id": f"m{day}",
        "role": "user",
        "content": f"On day {day} I was in Porto.",
        "timestamp": f"2026-03-{day + 1:02}T09:15:00Z",
    }
    return {"conversationId": f"c-{day}", "userId": "u-1", "messages": [said]}


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chats") / "chats.json"
    path.write_text(json.dumps([a_chat(day) for day in range(DAYS)]))
    return path


@pytest.fixture(scope="module")
def backup(chats: Path) -> Path:
    """An export of the chats, and beside it the store that it was made of."""
    store = str(chats.parent / "store")
    memory = Memory.open(store, environment={})
    memory.ingest([a_chat(day) for day in range(DAYS)])
    memory.export(chats.parent / "backup")
    return chats.parent / "backup"


def a_store_of(memory: Path) -> list[str]:
    return ["--store", str(memory), "--now", NOW]


def test_long_runs_draw_bars_on_a_terminal(
    tmp_path: Path, chats: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    where = a_store_of(tmp_path / "store")
    runs = {
        ("ingest", str(chats)): f"messages .* of {DAYS}, ",
        ("summarize",): f"daily periods .* of {DAYS}, .* left",
        ("export", str(tmp_path / "out")): "records .* of .* left",
        ("import", str(backup), "--agent", "twin"): f"records .* of {DAYS}, ",
        ("look", "--out", str(tmp_path / "pages")): "pages .* of .* left",
        (
            "forget",
            "--user",
            "u-1",
            "--yes",
            "--verify",
        ): "objects searched .* of ",
    }
    for words, drawn in runs.items():
        with open_screen(monkeypatch) as screen:
            assert main([*words, *where]) == 0
        assert re.search(drawn, screen.text), screen.text
        assert not re.search(drawn, "\n".join(screen.lines)), "a bar stays"


def test_long_runs_are_silent_when_piped(
    tmp_path: Path,
    chats: Path,
    backup: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    where = a_store_of(tmp_path / "store")
    for words in (
        ["ingest", str(chats)],
        ["summarize"],
        ["export", str(tmp_path / "out")],
        ["import", str(backup), "--agent", "twin"],
        ["reembed"],
        ["look", "--out", str(tmp_path / "pages")],
        ["forget", "--user", "u-1", "--yes"],
    ):
        assert main([*words, *where]) == 0
        assert capsys.readouterr().err == ""


def test_each_step_has_a_bar_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    with open_screen(monkeypatch) as screen, progress.show_progress() as show:
        StepCounter("acme/support/working", 2, show).add()
        StepCounter("acme/support/daily", 7, show).add()
    assert re.search("acme/support/working .* of 2, .* left", screen.text)
    assert re.search("acme/support/daily .* of 7, .* left", screen.text)


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)],
)
def test_no_color_turns_colours_off(
    variables: dict[str, str],
    coloured: bool,
    backup: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with open_screen(monkeypatch) as screen:
        assert (
            main(["search", "Porto", *a_store_of(backup.parent / "store")])
            == 0
        )
    assert (
        "\x1b[2m     working 2026-03-01 · u-1 · turn" in screen.text
    ) is coloured
    assert ("\x1b[" in screen.text) is coloured


def test_a_dumb_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    with open_screen(monkeypatch) as screen:
        monkeypatch.setenv("TERM", "dumb")
        with progress.show_progress() as show:
            StepCounter("records", 2, show).add()
    assert screen.text == ""


def test_an_interrupted_import_says_one_line_and_goes_on_when_run_again(
    tmp_path: Path, backup: Path
) -> None:
    store = tmp_path / "store"
    script = f"""
import signal, sys
from varve.cli.main import main
from varve.usecases.transfer import importing

def interrupted(*given, **named):
    signal.raise_signal(signal.SIGINT)
importing.take_in = interrupted
sys.exit(main(["import", {str(backup)!r}, "--store", {str(store)!r}]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "")
    assert done.stderr == "varve: interrupted; run it again to go on\n"
    again = Memory.open(store, environment={}).import_(backup)
    assert (again["records"]["new"], again["takenIn"]) == (0, DAYS)


def test_an_interrupt_during_start_up_says_one_line() -> None:
    script = """
import signal, sys
class Interrupt:
    def find_spec(self, name, *rest):
        if name == "varve.cli.arguments":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from varve.cli import main
sys.exit(main(["status"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "")
    assert done.stderr == "varve: interrupted; run it again to go on\n"
