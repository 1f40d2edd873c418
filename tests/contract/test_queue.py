"""The contract of queues and dead letters for each adapter, then tests of SQS alone."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests.support.loopback import ACCOUNT, REGION
from tests.support.queues import fifo_queue, sqs_server
from varve.adapters.in_memory import InMemoryDeadLetters
from varve.adapters.objects.locks import ProcessLocks
from varve.adapters.queues.dead_letters import (
    MAX_ATTRIBUTE_CHARACTERS,
    SqsDeadLetters,
)
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.adapters.queues.sqs import SqsQueue
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.ports.queues import DeadLetters, Delivery
from varve.wiring.queues import SessionQueues

MAX_RECEIVES = 3
LOCKS = ProcessLocks("memory")
names = (f"queue-{number}" for number in count())


@pytest.fixture(scope="module")
def sqs() -> Iterator[Any]:
    with sqs_server() as client:
        yield client


@pytest.fixture
def queue(sqs: Any) -> Iterator[SqsQueue]:
    with fifo_queue(sqs, next(names), MAX_RECEIVES) as made:
        yield made


def received(sqs: Any, url: str) -> list[dict[str, Any]]:
    """Receive and delete all messages, with all attributes.

    A group delivers no further message while its first one is held.
    """
    messages: list[dict[str, Any]] = []
    while True:
        answer = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
            VisibilityTimeout=60,
        )
        if not answer.get("Messages"):
            return messages
        for message in answer["Messages"]:
            sqs.delete_message(
                QueueUrl=url, ReceiptHandle=message["ReceiptHandle"]
            )
            messages.append(message)


def dead(sqs: Any, queue: SqsQueue) -> list[dict[str, Any]]:
    name, _ = queue.redrive
    return received(sqs, sqs.get_queue_url(QueueName=name)["QueueUrl"])


def reasons(message: dict[str, Any]) -> dict[str, str]:
    return {
        name: value["StringValue"]
        for name, value in message["MessageAttributes"].items()
    }


def event(*records: tuple[str, str, str, int]) -> dict[str, Any]:
    """Build an event as Lambda receives it: id, body, group and number of receives."""
    return {
        "Records": [
            {
                "messageId": id_,
                "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": str(receives),
                    "AWSTraceHeader": "Root=1-6a9b1c2d-0123456789abcdef01234567",
                    "SentTimestamp": "1791878400000",
                    "SequenceNumber": "18849496460467696128",
                    "MessageGroupId": group,
                    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
                    "MessageDeduplicationId": f"dedup-{id_}",
                    "ApproximateFirstReceiveTimestamp": "1791878400123",
                },
                "messageAttributes": {},
                "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:ingest.fifo",
                "awsRegion": REGION,
            }
            for id_, body, group, receives in records
        ]
    }


class TestSending:
    def test_a_message_keeps_its_body_its_group_and_its_deduplication_id(
        self, sqs: Any, queue: SqsQueue
    ) -> None:
        body = json.dumps(
            {"text": "¿Cuándo? 'x' \"y\" \\ 😀\n"}, ensure_ascii=False
        )
        queue.send(body, group="acme:support:c-1", deduplication_id="a" * 64)
        (message,) = received(sqs, queue.url)
        assert message["Body"] == body
        assert message["Attributes"]["MessageGroupId"] == "acme:support:c-1"
        assert message["Attributes"]["MessageDeduplicationId"] == "a" * 64

    def test_the_same_deduplication_id_is_one_message(
        self, sqs: Any, queue: SqsQueue
    ) -> None:
        for body in ("first", "again"):
            queue.send(body, group="g", deduplication_id="same")
        queue.send("another", group="g", deduplication_id="other")
        assert [message["Body"] for message in received(sqs, queue.url)] == [
            "first",
            "another",
        ]

    def test_the_order_of_a_group_is_the_order_of_sending(
        self, sqs: Any, queue: SqsQueue
    ) -> None:
        for number in range(25):
            queue.send(str(number), group="g", deduplication_id=str(number))
        assert [message["Body"] for message in received(sqs, queue.url)] == [
            str(n) for n in range(25)
        ]

    def test_a_local_ingest_queue_keeps_messages_in_order_until_they_are_taken(
        self,
    ) -> None:
        queues = SessionQueues(None, None, no_writer, LOCKS)
        for number in range(3):
            queues.ingest.send(
                str(number), group="g", deduplication_id=f"d-{number}"
            )
        taken = queues.take()
        assert taken == [Delivery(f"d-{n}", str(n), "g") for n in range(3)]
        assert queues.take() == []

    def test_a_local_message_that_no_code_takes_is_an_error_and_not_lost_in_silence(
        self,
    ) -> None:
        queues = SessionQueues(None, None, no_writer, LOCKS)
        queues.require_taken()
        queues.ingest.send("words", group="g", deduplication_id="d")
        with pytest.raises(Misconfigured, match="VARVE_INGEST_QUEUE_URL"):
            queues.require_taken()

    def test_with_queues_nothing_waits_in_the_process(
        self, queue: SqsQueue
    ) -> None:
        queues = SessionQueues(queue, queue, no_writer, LOCKS)
        assert queues.take() is None
        assert queues.delivers_writes
        queues.flush()
        queues.require_taken()

    @pytest.mark.parametrize(
        "error", [Retryable("busy"), Rejected("messages", "is missing")]
    )
    def test_a_local_write_queue_raises_the_writers_error_and_keeps_nothing(
        self, error: Exception
    ) -> None:
        def fail() -> Any:
            raise error

        queues = SessionQueues(None, None, fail, LOCKS)
        assert not queues.delivers_writes
        queues.write.send("words", group="g", deduplication_id="d")
        with pytest.raises(type(error)) as raised:
            queues.flush()
        assert raised.value is error
        queues.flush()


def no_writer() -> Any:
    raise AssertionError("nothing is to be written")


class TestFaults:
    def test_a_missing_queue_is_misconfigured(self, queue: SqsQueue) -> None:
        missing = SqsQueue(queue.url.replace("queue-", "missing-"))
        with pytest.raises(Misconfigured, match="missing-"):
            missing.send("words", group="g", deduplication_id="d")
        with pytest.raises(Misconfigured, match="missing-"):
            missing.redrive  # noqa: B018 - reading it asks SQS
        missing.client.close()

    def test_an_outage_is_retryable(
        self, queue: SqsQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            monkeypatch.setenv(
                "AWS_ENDPOINT_URL",
                f"http://127.0.0.1:{unused.getsockname()[1]}",
            )
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
            away = SqsQueue(queue.url)
            with pytest.raises(Retryable, match="queue"):
                away.send("words", group="g", deduplication_id="d")
            away.client.close()

    def test_a_queue_without_dead_letters_is_misconfigured(
        self, sqs: Any
    ) -> None:
        url = sqs.create_queue(
            QueueName=f"{next(names)}.fifo", Attributes={"FifoQueue": "true"}
        )["QueueUrl"]
        queue = SqsQueue(url)
        with pytest.raises(Misconfigured, match="RedrivePolicy"):
            queue.redrive  # noqa: B018 - reading it asks SQS
        with pytest.raises(Misconfigured, match="RedrivePolicy"):
            SqsDeadLetters(queue).send(
                Delivery("m-1", "words", "g"), Rejected("f", "r")
            )
        queue.client.close()

    def test_the_client_is_built_on_first_use(self) -> None:
        queue = SqsQueue("https://example.invalid/queue.fifo")
        SqsDeadLetters(queue)
        assert "client" not in vars(queue)


class TestDeadLetters:
    @pytest.fixture(params=["memory", "sqs"])
    def kept(
        self, request: pytest.FixtureRequest, sqs: Any, queue: SqsQueue
    ) -> tuple[DeadLetters, Callable[[], list[tuple[str, str]]]]:
        """Return dead letters, and a function that reads their bodies and error types."""
        if request.param == "sqs":
            letters = SqsDeadLetters(queue)
            return letters, lambda: [
                (m["Body"], reasons(m)["errorType"]) for m in dead(sqs, queue)
            ]
        memory = InMemoryDeadLetters()
        return memory, lambda: [
            (d.body, type(e).__name__) for d, e in memory.letters
        ]

    def test_keep_the_message_and_its_error(
        self, kept: tuple[DeadLetters, Callable[[], list[tuple[str, str]]]]
    ) -> None:
        letters, bodies = kept
        letters.send(
            Delivery("m-1", "one", "g"),
            Rejected("messages[0].role", "is missing"),
        )
        letters.send(
            Delivery("m-2", "two", "g"), Misconfigured("VARVE_LLM: is wrong")
        )
        assert bodies() == [("one", "Rejected"), ("two", "Misconfigured")]

    def test_carry_type_reason_field_and_the_first_message_id(
        self, sqs: Any, queue: SqsQueue
    ) -> None:
        delivery = Delivery(
            "m-1", '{"a": 1}', "acme:support:c-1", last_chance=True
        )
        SqsDeadLetters(queue).send(
            delivery, Rejected("messages[0].role", "is missing")
        )
        (message,) = dead(sqs, queue)
        assert message["Body"] == '{"a": 1}'
        assert message["Attributes"]["MessageGroupId"] == "acme:support:c-1"
        assert reasons(message) == {
            "errorType": "Rejected",
            "reason": "messages[0].role: is missing",
            "messageId": "m-1",
            "field": "messages[0].role",
        }

    def test_a_message_that_fails_twice_is_one_dead_letter(
        self, sqs: Any, queue: SqsQueue
    ) -> None:
        for _ in range(2):
            SqsDeadLetters(queue).send(
                Delivery("m-1", "words", "g"), Rejected("f", "r")
            )
        assert len(dead(sqs, queue)) == 1

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (Retryable(""), None),
            (
                Rejected("f", "ü" * 5_000),
                "f: " + "ü" * (MAX_ATTRIBUTE_CHARACTERS - 3),
            ),
            (ValueError("\n 😀 'x'"), "\n 😀 'x'"),
        ],
    )
    def test_a_reason_of_any_length_fits(
        self, sqs: Any, queue: SqsQueue, error: Exception, reason: str | None
    ) -> None:
        SqsDeadLetters(queue).send(Delivery("m-1", "words", "g"), error)
        (message,) = dead(sqs, queue)
        assert reasons(message)["errorType"] == type(error).__name__
        assert reasons(message).get("reason") == reason


class TestDeliveries:
    def test_are_the_records_of_an_event_in_their_order(
        self, queue: SqsQueue
    ) -> None:
        given = event(
            ("m-1", "one", "g-1", 1),
            ("m-2", "two", "g-2", 1),
            ("m-3", "three", "g-1", 2),
        )
        assert deliveries(given, queue) == [
            Delivery("m-1", "one", "g-1"),
            Delivery("m-2", "two", "g-2"),
            Delivery("m-3", "three", "g-1"),
        ]

    @pytest.mark.parametrize(
        ("receives", "last"),
        [
            (1, False),
            (MAX_RECEIVES - 1, False),
            (MAX_RECEIVES, True),
            (9, True),
        ],
    )
    def test_the_last_receive_is_the_last_chance(
        self, queue: SqsQueue, receives: int, last: bool
    ) -> None:
        (delivery,) = deliveries(event(("m-1", "one", "g", receives)), queue)
        assert delivery.last_chance is last

    def test_the_last_chance_agrees_with_sqs(
        self, sqs: Any, queue: SqsQueue
    ) -> None:
        queue.send("words", group="g", deduplication_id="d")
        seen = []
        for _ in range(MAX_RECEIVES):
            (message,) = sqs.receive_message(
                QueueUrl=queue.url, AttributeNames=["All"]
            )["Messages"]
            sqs.change_message_visibility(
                QueueUrl=queue.url,
                ReceiptHandle=message["ReceiptHandle"],
                VisibilityTimeout=0,
            )
            record = {
                "messageId": message["MessageId"],
                "body": message["Body"],
                "attributes": message["Attributes"],
            }
            (delivery,) = deliveries({"Records": [record]}, queue)
            seen.append((delivery.body, delivery.group, delivery.last_chance))
        assert seen == [
            ("words", "g", False),
            ("words", "g", False),
            ("words", "g", True),
        ]
        assert received(sqs, queue.url) == []
        assert [message["Body"] for message in dead(sqs, queue)] == ["words"]

    def test_the_answer_names_the_messages_to_deliver_again(self) -> None:
        returned = [Delivery("m-2", "two", "g"), Delivery("m-3", "three", "g")]
        assert batch_response(returned) == {
            "batchItemFailures": [
                {"itemIdentifier": "m-2"},
                {"itemIdentifier": "m-3"},
            ]
        }
        assert batch_response([]) == {"batchItemFailures": []}

    def test_the_redrive_policy_is_requested_once(
        self, queue: SqsQueue
    ) -> None:
        asked: list[str] = []
        for call in ("GetQueueAttributes", "GetQueueUrl"):
            queue.client.meta.events.register(
                f"before-call.sqs.{call}", lambda **_: asked.append("call")
            )
        for _ in range(3):
            deliveries(
                event(("m-1", "one", "g", 1), ("m-2", "two", "g", 1)), queue
            )
        assert len(asked) == 1
        assert queue.redrive[0].endswith("-dead.fifo")
        assert queue.redrive[1] == MAX_RECEIVES
