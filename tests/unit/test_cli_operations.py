"""`varve dlq` on the command line: what it prints, what it refuses, and that a laptop has nothing to show."""

import json
from collections.abc import Callable

import pytest

from tests.support.builders import RecordingQueue
from tests.support.drivers import give_dead_letter_boxes
from varve.adapters.in_memory import InMemoryDeadLetterBox, InMemoryDeadLetters
from varve.cli.main import main
from varve.domain.errors import Rejected
from varve.ports.queues import Delivery

Buried = Callable[..., RecordingQueue]


@pytest.fixture
def buried(monkeypatch: pytest.MonkeyPatch) -> Buried:
    """Puts dead letters with these bodies into the ingest queue's box; gives the queue they came from."""

    def bury(*bodies: str) -> RecordingQueue:
        dead, source = InMemoryDeadLetters(), RecordingQueue()
        for number, body in enumerate(bodies):
            dead.send(
                Delivery(str(number), body, "g"),
                Rejected("messages[0].role", "is missing"),
            )
        boxes = {"ingest": InMemoryDeadLetterBox(dead, source)}
        give_dead_letter_boxes(monkeypatch, boxes)
        return source

    return bury


def test_without_queues_it_says_that_there_are_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("INGEST", "WRITE", "SUMMARY"):
        monkeypatch.delenv(f"VARVE_{name}_QUEUE_URL", raising=False)
    assert main(["dlq", "list", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == []
    assert "no dead letters" in told.err


def test_a_list_has_a_line_and_a_reason_for_each(
    buried: Buried, capsys: pytest.CaptureFixture[str]
) -> None:
    buried("the words", "more words")
    assert main(["dlq", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["dead-0", "dead-1"]
    assert all(
        "Rejected: messages[0].role: is missing" in line for line in lines
    )
    assert "words" not in "".join(lines)


def test_content_is_shown_only_when_asked_for(
    buried: Buried, capsys: pytest.CaptureFixture[str]
) -> None:
    buried("the words")
    assert main(["dlq", "show", "dead-0"]) == 0
    assert "the words" not in capsys.readouterr().out
    assert main(["dlq", "show", "dead-0", "--content", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["content"] == "the words"


def test_redrive_sends_and_drop_removes(
    buried: Buried, capsys: pytest.CaptureFixture[str]
) -> None:
    source = buried("one", "two", "three")
    assert main(["dlq", "redrive", "dead-1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"redriven": ["dead-1"]}
    assert main(["dlq", "drop", "--all", "--yes"]) == 0
    assert capsys.readouterr().out == "2 dead letters dropped\n"
    assert [delivery.body for delivery in source.sent] == ["two"]


@pytest.mark.parametrize(
    "words",
    [
        "show", "show dead-0 dead-1", "redrive", "drop", "drop --all", "redrive dead-0 --all", "show nobody",
        "list --queue none",
    ],
)  # fmt: skip
def test_what_is_not_clear_is_refused_and_changes_nothing(
    buried: Buried, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    source = buried("one", "two")
    assert main(["dlq", *words.split()]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert main(["dlq", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert source.sent == []
