"""A correction event holds whatever waits on the queues between it and what it corrects.

Nothing is lost in silence (invariant 1), and what was told last holds (invariant 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ACME, RecordingQueue
from tests.support.drivers import open_driver
from varve.adapters.in_memory import InMemoryDeadLetters
from varve.domain.record import turn_id
from varve.messages.told import read_told
from varve.ports.queues import Delivery

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
TURN = turn_id("c-1", "m1")


class Stack:
    """A process with queues, whose messages wait until they are taken."""

    def __init__(self, path: Path) -> None:
        self.ingest = RecordingQueue()
        self.writes = RecordingQueue()
        self.letters = InMemoryDeadLetters()
        urls = {
            f"VARVE_{name}_QUEUE_URL": f"http://localhost:9/0/{name}"
            for name in ("INGEST", "WRITE")
        }
        self.app = open_driver(
            urls,
            path,
            NOW,
            ingest_queue=self.ingest,
            write_queue=self.writes,
            dead_letters=self.letters,
        )
        self.memory = self.app.memory(ACME)

    def say(self, text: str, at: datetime = NOW) -> None:
        message = {
            "id": "m1",
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": at.isoformat(),
        }
        self.memory.ingest(
            {"conversationId": "c-1", "userId": "u-42", "messages": [message]}
        )

    def correct(self, text: str, hours: float, **given: str) -> None:
        """Send a correction event of the turn, so many hours after `NOW`."""
        event = {
            "type": "correct",
            "workspaceId": ACME.workspace,
            "agentId": ACME.agent,
            "id": TURN,
            "text": text,
            "userId": "u-42",
            "name": "Dana",
        }
        at = NOW + timedelta(hours=hours)
        self.memory.ingest(read_told({**event, **given}, at), now=at)

    def extract(
        self, deliveries: Sequence[Delivery] | None = None
    ) -> list[Delivery]:
        """Handle what waits on the ingest queue, else these; return what comes again."""
        if deliveries is None:
            deliveries = self.ingest.sent[:]
            self.ingest.sent.clear()
        return self.app.extract(deliveries)

    def write(self) -> None:
        self.app.write(self.writes.sent)
        self.writes.sent.clear()

    def list_current(self, question: str) -> list[str]:
        results = self.memory.search(
            question, user_id="u-42", memory_types=["turn"], now=LATER
        ).results
        return [one.content for one in results if one.current]

    def read_profile(self) -> dict[str, str]:
        attributes = self.memory.profile(user_id="u-42", now=LATER)
        return {one["key"]: one["value"] for one in attributes["attributes"]}


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


STANDUP = "Our standup is at {}."


def return_to_earlier_words(stack: Stack) -> list[Delivery]:
    """Send a correction in the words of one before the last; nothing is written yet."""
    stack.say(STANDUP.format("9:30"))
    stack.extract()
    stack.write()
    for hours, time in enumerate(("10:00", "9:30", "10:00"), 1):
        stack.correct(STANDUP.format(time), hours)
    return stack.extract()


def test_1_a_correction_in_earlier_words_waits_for_those_before_it(
    stack: Stack,
) -> None:
    returned = return_to_earlier_words(stack)
    assert len(returned) == 1
    stack.write()
    assert stack.extract(returned) == []
    stack.write()
    assert stack.list_current("When is our standup?") == [
        "Dana: Our standup is at 10:00."
    ]
    assert stack.letters.letters == []


def test_1_a_correction_that_has_waited_too_long_is_a_dead_letter(
    stack: Stack,
) -> None:
    [returned] = return_to_earlier_words(stack)
    last = replace(returned, last_chance=True)
    assert stack.extract([last]) == []
    [(_, reason)] = stack.letters.letters
    assert "an earlier correction" in str(reason)


def test_3_the_corrections_of_a_record_share_a_group(stack: Stack) -> None:
    for text in ("One.", "Two."):
        stack.correct(text, 1)
    stack.correct("Three.", 1, id="turn-other")
    first, second, other = stack.ingest.groups
    assert first == second
    assert other != first


def test_a_repeated_correction_changes_nothing_while_it_is_written(
    stack: Stack,
) -> None:
    stack.say(STANDUP.format("9:30"))
    stack.correct(STANDUP.format("10:00"), 1)
    sent = stack.ingest.sent[:]
    stack.extract()
    stack.write()
    assert stack.extract(sent) == []
    assert stack.writes.sent == []


@pytest.mark.parametrize("order", [1, -1])
def test_11_a_correction_may_arrive_before_what_it_corrects(
    stack: Stack, order: int
) -> None:
    stack.say("I live in Lisbon.")
    stack.correct("I live in Porto.", 1)
    for delivery in stack.ingest.sent[::order]:
        assert stack.extract([delivery]) == []
    stack.write()
    assert stack.list_current("Where do I live?") == ["Dana: I live in Porto."]
    assert stack.read_profile() == {"location": "Porto"}


@pytest.mark.parametrize("minutes", [0, 5])
def test_11_a_correction_holds_if_the_corrected_message_has_a_later_time(
    stack: Stack, minutes: int
) -> None:
    stack.say("I live in Lisbon.", NOW + timedelta(minutes=minutes))
    stack.extract()
    stack.write()
    stack.correct("I live in Porto.", 0)
    again: list[Any] = stack.ingest.sent[:]
    stack.extract()
    stack.write()
    assert stack.list_current("Where do I live?") == ["Dana: I live in Porto."]
    assert stack.read_profile() == {"location": "Porto"}
    stack.extract(again)
    assert stack.writes.sent == []
