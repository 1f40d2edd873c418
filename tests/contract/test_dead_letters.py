"""What an operator can do with dead letters, asked of the fake and of SQS's API; then of SQS alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from tests.support.builders import RecordingQueue
from tests.support.internals import hold_letters
from tests.support.queues import fifo_queue, sqs_server
from varve.adapters.in_memory import InMemoryDeadLetterBox, InMemoryDeadLetters
from varve.adapters.queues.dead_letters import SqsDeadLetterBox, SqsDeadLetters
from varve.adapters.queues.sqs import SqsQueue
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.ports.queues import DeadLetterBox, DeadLetters, Delivery

MAX_RECEIVES = 2
names = (f"box-{number}" for number in count())


@pytest.fixture(scope="module")
def sqs() -> Iterator[Any]:
    with sqs_server() as client:
        yield client


@pytest.fixture
def queue(sqs: Any) -> Iterator[SqsQueue]:
    with fifo_queue(sqs, next(names), MAX_RECEIVES) as made:
        yield made


def taken(sqs: Any, url: str) -> list[dict[str, Any]]:
    """All messages of a queue, taken away."""
    messages: list[dict[str, Any]] = []
    while found := sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"]
    ).get("Messages"):
        for message in found:
            sqs.delete_message(
                QueueUrl=url, ReceiptHandle=message["ReceiptHandle"]
            )
            messages.append(message)
    return messages


@dataclass
class Desk:
    """Dead letters to send to, the box they end in, and what comes back to the source queue."""

    dead: DeadLetters
    box: DeadLetterBox
    returned: Callable[[], list[tuple[str, str]]]


@pytest.fixture(params=["memory", "sqs"])
def desk(request: pytest.FixtureRequest, sqs: Any, queue: SqsQueue) -> Desk:
    if request.param == "sqs":

        def returned() -> list[tuple[str, str]]:
            return [
                (m["Body"], m["Attributes"]["MessageGroupId"])
                for m in taken(sqs, queue.url)
            ]

        return Desk(SqsDeadLetters(queue), SqsDeadLetterBox(queue), returned)
    memory, source = InMemoryDeadLetters(), RecordingQueue()
    return Desk(
        memory,
        InMemoryDeadLetterBox(memory, source),
        lambda: [(d.body, d.group) for d in source.sent],
    )


def bury(desk: Desk, *bodies: str, group: str = "g") -> None:
    for number, body in enumerate(bodies):
        desk.dead.send(
            Delivery(f"m-{group}-{number}", body, group),
            Rejected("messages[0].role", "is missing"),
        )


def test_a_letter_tells_its_message_its_group_and_why_it_is_one(
    desk: Desk,
) -> None:
    bury(desk, "words")
    (letter,) = desk.box.letters()
    assert (letter.body, letter.group) == ("words", "g")
    assert letter.reasons == {
        "errorType": "Rejected",
        "reason": "messages[0].role: is missing",
        "messageId": "m-g-0",
        "field": "messages[0].role",
    }


def test_looking_takes_nothing_away_and_shows_the_same_again(
    desk: Desk,
) -> None:
    bury(desk, "one", "two")
    bury(desk, "three", group="h")
    first = desk.box.letters()
    assert sorted(letter.body for letter in first) == ["one", "three", "two"]
    assert desk.box.letters() == first


def test_what_is_redriven_is_back_on_its_queue_in_its_group_and_order_and_no_letter_any_more(
    desk: Desk,
) -> None:
    bury(desk, "one", "two", "three")
    one, two, three = desk.box.letters()
    assert desk.box.redrive([three.id, one.id]) == [one.id, three.id]
    assert desk.returned() == [("one", "g"), ("three", "g")]
    assert desk.box.letters() == [two]


def test_what_is_dropped_is_gone_and_comes_back_nowhere(desk: Desk) -> None:
    bury(desk, "one", "two")
    one, two = desk.box.letters()
    assert desk.box.drop([one.id]) == [one.id]
    assert desk.box.letters() == [two]
    assert desk.returned() == []


def test_a_letter_that_is_not_there_is_not_among_those_that_were(
    desk: Desk,
) -> None:
    bury(desk, "one")
    assert desk.box.redrive(["nobody"]) == desk.box.drop(["nobody"]) == []
    assert len(desk.box.letters()) == 1


def test_an_empty_box_is_empty(desk: Desk) -> None:
    assert desk.box.letters() == []


def test_a_letter_that_sqs_moved_by_itself_has_no_reasons_but_its_deliveries(
    sqs: Any, queue: SqsQueue
) -> None:
    before = datetime.now(UTC) - timedelta(
        seconds=1
    )  # the server tells whole milliseconds
    queue.send("words", group="g", deduplication_id="d")
    for _ in range(MAX_RECEIVES):
        (message,) = sqs.receive_message(QueueUrl=queue.url)["Messages"]
        sqs.change_message_visibility(
            QueueUrl=queue.url,
            ReceiptHandle=message["ReceiptHandle"],
            VisibilityTimeout=0,
        )
    assert taken(sqs, queue.url) == []
    (letter,) = SqsDeadLetterBox(queue).letters()
    assert (letter.body, letter.reasons, letter.receives) == (
        "words",
        {},
        MAX_RECEIVES,
    )
    assert before <= letter.sent_at <= datetime.now(UTC)


def test_no_more_letters_are_held_than_a_look_may_take_and_all_are_put_back(
    sqs: Any, queue: SqsQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_letters(monkeypatch, 15)
    for number in range(25):
        SqsDeadLetters(queue).send(
            Delivery(f"m-{number}", "words", f"g-{number}"), Rejected("f", "r")
        )
    box = SqsDeadLetterBox(queue)
    assert len(box.letters()) == len(box.letters()) == 20
    assert len(taken(sqs, queue.dead_letter_url)) == 25


def test_a_letter_that_says_of_itself_what_is_no_text_can_be_read(
    sqs: Any, queue: SqsQueue
) -> None:
    sqs.send_message(
        QueueUrl=queue.dead_letter_url,
        MessageBody="words",
        MessageGroupId="g",
        MessageDeduplicationId="d",
        MessageAttributes={
            "errorType": {"DataType": "String", "StringValue": "Rejected"},
            "sum": {"DataType": "Binary", "BinaryValue": b"\x00"},
        },
    )
    (letter,) = SqsDeadLetterBox(queue).letters()
    assert letter.reasons == {"errorType": "Rejected"}


def test_a_redrive_that_ended_between_sending_and_removing_leaves_one_message(
    sqs: Any, queue: SqsQueue
) -> None:
    SqsDeadLetters(queue).send(
        Delivery("m-1", "words", "g"), Rejected("f", "r")
    )
    box = SqsDeadLetterBox(queue)
    (letter,) = box.letters()

    def lost(**_: Any) -> None:
        raise Retryable("killed here")

    queue.client.meta.events.register("before-call.sqs.DeleteMessage", lost)
    with pytest.raises(Retryable, match="killed"):
        box.redrive([letter.id])
    queue.client.meta.events.unregister("before-call.sqs.DeleteMessage", lost)
    assert [each.body for each in box.letters()] == ["words"]
    assert box.redrive([letter.id]) == [letter.id]
    assert [message["Body"] for message in taken(sqs, queue.url)] == ["words"]
    assert box.letters() == []


def test_a_message_that_fails_anew_after_its_redrive_is_a_letter_again(
    sqs: Any, queue: SqsQueue
) -> None:
    dead, box = SqsDeadLetters(queue), SqsDeadLetterBox(queue)
    dead.send(Delivery("m-1", "words", "g"), Rejected("f", "first"))
    box.redrive([letter.id for letter in box.letters()])
    (message,) = taken(sqs, queue.url)
    dead.send(
        Delivery(message["MessageId"], message["Body"], "g"),
        Rejected("f", "second"),
    )
    (letter,) = box.letters()
    assert letter.reasons["reason"] == "f: second"
    assert box.redrive([letter.id]) == [letter.id]
    assert len(taken(sqs, queue.url)) == 1


def test_a_queue_that_is_not_there_is_the_operators_business(
    queue: SqsQueue,
) -> None:
    missing = SqsQueue(queue.url.replace("box-", "missing-"))
    with pytest.raises(Misconfigured, match="missing-"):
        SqsDeadLetterBox(missing).letters()
    missing.client.close()
