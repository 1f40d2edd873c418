"""The operator's verbs: dead letters listed by ids and reasons, their content only when asked for."""

import json
from typing import Any

import pytest

from tests.support.builders import (
    ACME,
    MORNING,
    RecordingQueue,
    a_conversation,
    an_operation,
)
from tests.support.drivers import open_driver
from tests.support.labelled import secret
from varve.adapters.in_memory import (
    InMemoryDeadLetterBox,
    InMemoryDeadLetters,
    InMemoryObjects,
)
from varve.api.administration import Administration
from varve.domain.errors import Rejected
from varve.messages.ingest import IngestMessage, send_ingest
from varve.messages.write import WriteTriples, send_triples
from varve.ports.queues import Delivery

WORDS = "The safe opens with 7-2-9."


class Desk:
    """An administration over boxes in memory."""

    def __init__(self, *queues: str) -> None:
        self.sources = {name: RecordingQueue() for name in queues}
        self.dead = {name: InMemoryDeadLetters() for name in queues}
        boxes = {
            name: InMemoryDeadLetterBox(self.dead[name], self.sources[name])
            for name in queues
        }
        self.verbs = open_driver(dead_letter_boxes=boxes).administration()

    def bury(self, queue: str, body: str, id_: str = "m-1") -> str:
        self.dead[queue].send(
            Delivery(id_, body, "g"),
            Rejected("messages[0].role", "is missing"),
        )
        return f"dead-{id_}"


def ingest_body(words: str = WORDS) -> str:
    queue = RecordingQueue()
    send_ingest(
        IngestMessage(a_conversation(words), (), MORNING),
        queue=queue,
        objects=InMemoryObjects(),
    )
    return queue.sent[0].body


def test_a_list_has_ids_sizes_and_reasons_and_no_content() -> None:
    desk = Desk("ingest", "write")
    desk.bury("ingest", ingest_body())
    (letter,) = desk.verbs.dead_letters()
    assert (letter["queue"], letter["errorType"], letter["field"]) == (
        "ingest",
        "Rejected",
        "messages[0].role",
    )
    assert (letter["workspaceId"], letter["conversationId"]) == ("acme", "c-1")
    assert letter["bytes"] == len(ingest_body().encode())
    assert len(letter["messageIds"]) == 1
    assert "safe" not in json.dumps(letter)


def test_content_is_shown_when_asked_for_and_without_its_secrets() -> None:
    desk = Desk("ingest")
    key = secret("openai")
    id_ = desk.bury("ingest", ingest_body(f"{WORDS} {key}"))
    assert "content" not in desk.verbs.dead_letter(id_)
    shown = desk.verbs.dead_letter(id_, content=True)["content"]
    assert WORDS in shown
    assert key not in shown


def test_a_write_is_told_by_its_store_and_its_size() -> None:
    queue = RecordingQueue()
    send_triples(
        WriteTriples(ACME, (an_operation(),)),
        queue=queue,
        objects=InMemoryObjects(),
    )
    desk = Desk("write")
    id_ = desk.bury("write", queue.sent[0].body)
    shown = desk.verbs.dead_letter(id_)
    assert (shown["type"], shown["agentId"], shown["operations"]) == (
        "triples",
        "support",
        1,
    )
    assert "Lisbon" not in json.dumps(shown)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "[1]",
        '"text"',
        "{}",
        '{"type": 3, "conversation": [], "messages": 1}',
        "[" * 5000,
    ],
)
def test_any_letter_can_be_shown(body: str) -> None:
    desk = Desk("ingest")
    assert desk.verbs.dead_letter(desk.bury("ingest", body))["type"] is None


def test_a_letter_without_a_reason_says_how_often_it_was_delivered() -> None:
    from varve.ports.queues import Letter
    from varve.usecases.operate.dead_letters import describe_letter

    shown = describe_letter(
        "ingest", Letter("1", "{}", "g", {}, receives=5), str
    )
    assert shown["reason"] == "no reason recorded: delivered 5 times"


def test_redriving_sends_the_named_ones_and_all_of_one_queue() -> None:
    desk = Desk("ingest", "write")
    one, two = (
        desk.bury("ingest", "one", "m-1"),
        desk.bury("ingest", "two", "m-2"),
    )
    desk.bury("write", "three", "m-3")
    assert desk.verbs.redrive([two]) == [two]
    assert desk.verbs.redrive(queue="ingest") == [one]
    assert [d.body for d in desk.sources["ingest"].sent] == ["two", "one"]
    assert [letter["queue"] for letter in desk.verbs.dead_letters()] == [
        "write"
    ]


def test_dropping_removes_and_sends_nothing() -> None:
    desk = Desk("ingest")
    desk.bury("ingest", "one")
    assert desk.verbs.drop() == ["dead-m-1"]
    assert desk.verbs.dead_letters() == []
    assert desk.sources["ingest"].sent == []


@pytest.mark.parametrize("verb", ["redrive", "drop"])
def test_a_letter_that_is_not_there_is_named(verb: str) -> None:
    desk = Desk("ingest")
    there = desk.bury("ingest", "one")
    with pytest.raises(Rejected, match="nobody"):
        getattr(desk.verbs, verb)([there, "nobody"])
    assert desk.verbs.dead_letters() == []


def test_a_queue_that_is_not_there_is_refused() -> None:
    with pytest.raises(Rejected, match="queue"):
        Desk("ingest").verbs.dead_letters("summary")


def test_without_queues_there_are_no_dead_letters() -> None:
    verbs: Any = Administration.open("./memory", environment={})
    assert (verbs.queues, verbs.dead_letters()) == ((), [])
