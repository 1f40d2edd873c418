"""A message that takes the filter too long keeps its words, loses what was found, and is named."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import phonenumbers
import pytest

from tests.support.builders import (
    MORNING,
    a_conversation,
    raw_conversation,
    raw_message,
)
from varve.adapters.detectors.personal import PersonalDetector
from varve.adapters.detectors.secrets import SecretDetector
from varve.api.memory import Memory
from varve.cli.main import main
from varve.domain import allowance
from varve.domain.allowance import (
    ITEMS_BETWEEN_LOOKS,
    MAX_SECONDS,
    FilterLimit,
    PartlyFiltered,
)
from varve.domain.errors import Rejected
from varve.domain.personal import Kind, Mode
from varve.messages.ingest import IngestMessage
from varve.ports.clock import Timer
from varve.usecases.privacy import Privacy
from varve.wiring import privacy as wiring

PART = "mail dana@example.org"
PHONES = ("612 345 678", "612 345 679", "612 345 670")


def ticking(seconds: float) -> Timer:
    """A timer that goes on by so many seconds each time it is read."""
    readings = count()
    return lambda: next(readings) * seconds


def privacy(timer: Timer | None, mode: Mode = Mode.REDACT) -> Privacy:
    modes = {kind: mode for kind in Kind if kind is not Kind.SECRET}
    detectors = [SecretDetector(), PersonalDetector(("US", "ES"))]
    return Privacy(modes, detectors, timer=timer)


def parts(number: int) -> dict[str, Any]:
    """A message of so many text parts with an address each."""
    return raw_message([{"type": "text", "text": PART} for _ in range(number)])


def calls(*numbers: str) -> dict[str, Any]:
    """A message of text parts with a phone each."""
    said = [{"type": "text", "text": f"call {number}"} for number in numbers]
    return raw_message(said)


@pytest.fixture
def two_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "MAX_PHONE_CHECKS", 2)


def test_out_of_time_what_was_found_is_redacted_and_the_other_words_stay() -> (
    None
):
    given = a_conversation(parts(20))
    filtered = privacy(ticking(MAX_SECONDS / 20)).filter_conversation(given)
    read = filtered.conversation.messages[0].text.splitlines()
    assert 0 < read.count("mail [email]") < 20
    assert read == sorted(read), "read in order, until the time was over"
    assert set(read) == {"mail [email]", PART}
    assert filtered.partly == (PartlyFiltered("c-1", 0, FilterLimit.TIME),)


def test_the_time_is_over_within_one_text_too() -> None:
    number = 4 * ITEMS_BETWEEN_LOOKS
    given = a_conversation(f"{PART} " * number)
    filtered = privacy(ticking(MAX_SECONDS / 2)).filter_conversation(given)
    text = filtered.conversation.messages[0].text
    assert text.count("[email]") + text.count("dana@example.org") == number
    assert min(text.count("[email]"), text.count("dana@example.org")) > 0
    assert filtered.partly == (PartlyFiltered("c-1", 0, FilterLimit.TIME),)


def test_each_message_has_a_time_of_its_own() -> None:
    given = a_conversation(parts(20), PART, "and I like it")
    filtered = privacy(ticking(MAX_SECONDS / 20)).filter_conversation(given)
    assert filtered.conversation.messages[1].text == "mail [email]"
    assert [one.message for one in filtered.partly] == [0]


def test_in_time_nothing_is_told() -> None:
    filtered = privacy(ticking(0)).filter_conversation(
        a_conversation(parts(20))
    )
    assert PART not in filtered.conversation.messages[0].text
    assert filtered.partly == ()


def test_fields_of_the_conversation_have_a_time_of_their_own() -> None:
    given = a_conversation(notes=[PART] * 20)
    filtered = privacy(ticking(MAX_SECONDS / 20)).filter_conversation(given)
    assert {"mail [email]", PART} == set(filtered.conversation.extra["notes"])
    assert filtered.partly == (PartlyFiltered("c-1", None, FilterLimit.TIME),)


def test_what_could_not_be_checked_in_time_is_refused_where_data_is_blocked() -> (
    None
):
    harmless = raw_message(
        [{"type": "text", "text": "hello"} for _ in range(20)]
    )
    slow = privacy(ticking(MAX_SECONDS / 20), Mode.BLOCK)
    with pytest.raises(Rejected, match="could not be checked") as refused:
        slow.filter_conversation(a_conversation("hello", harmless))
    assert refused.value.field == "messages[1].content"


@pytest.mark.usefixtures("two_checks")
def test_checks_of_phones_are_counted_for_the_whole_message_and_the_rest_is_redacted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []
    matcher = phonenumbers.PhoneNumberMatcher

    def record(number: str, *given: Any) -> Any:
        checked.append(number)
        return matcher(number, *given)

    monkeypatch.setattr(phonenumbers, "PhoneNumberMatcher", record)
    filtered = privacy(None).filter_conversation(
        a_conversation(calls(*PHONES))
    )
    assert (
        filtered.conversation.messages[0].text.splitlines()
        == ["call [phone]"] * 3
    )
    assert set(checked) == set(PHONES[:2])
    assert filtered.partly == (PartlyFiltered("c-1", 0, FilterLimit.CHECKS),)


def test_a_message_off_the_queue_tells_its_own_limits_and_not_its_contexts() -> (
    None
):
    context = tuple(a_conversation(parts(20)).messages)
    slow = privacy(ticking(MAX_SECONDS / 20))
    short = IngestMessage(
        a_conversation("I moved to Lisbon."), context, MORNING
    )
    assert slow.filter_message(short)[1] == ()
    message, partly = slow.filter_message(
        IngestMessage(a_conversation(parts(20)), (), MORNING)
    )
    assert "[email]" in message.conversation.messages[0].text
    assert partly == (PartlyFiltered("c-1", 0, FilterLimit.TIME),)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Memory.open(
        tmp_path, workspace="acme", agent="support", now=MORNING
    ) as memory:
        memory.configure("privacy.mode", "redact")
    return tmp_path


def test_ingest_tells_which_message_it_was_and_remembers_its_words(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "_TIMER", ticking(MAX_SECONDS / 20))
    with Memory.open(
        store, workspace="acme", agent="support", now=MORNING
    ) as memory:
        told = memory.ingest(raw_conversation("I moved to Lisbon.", parts(20)))
        assert memory.search("mail dana@example.org").results
    assert told.accepted.partly_filtered == (
        PartlyFiltered("c-1", 1, FilterLimit.TIME),
    )
    limits = [{"conversationId": "c-1", "message": 1, "limit": "time"}]
    assert told.to_dict()["partlyFiltered"] == limits
    assert told.accepted.to_dict()["partlyFiltered"] == limits
    assert told.stored is not None
    assert (told.stored.messages, told.stored.partly_filtered) == (2, 1)


@pytest.mark.usefixtures("two_checks")
def test_the_command_warns_of_each_message_and_names_it_in_json(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversation.json"
    file.write_text(
        json.dumps(raw_conversation("hello", calls(*PHONES))), "utf-8"
    )
    where = [
        "--store",
        str(store),
        "--workspace",
        "acme",
        "--agent",
        "support",
    ]
    assert main(["ingest", str(file), *where, "--json"]) == 0
    printed = capsys.readouterr()
    (report,) = json.loads(printed.out)["files"].values()
    assert report["partlyFiltered"] == [
        {"conversationId": "c-1", "message": 1, "limit": "checks"}
    ]
    assert (
        "warning: conversation c-1, messages[1]: holds more than"
        in printed.err
    )
    assert (
        main(["remember", " ".join(f"call {n};" for n in PHONES), *where]) == 0
    )
    assert "warning: conversation" in capsys.readouterr().err
