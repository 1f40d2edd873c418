"""Event source mappings driven by hand: receive, invoke, delete or give back, until all is quiet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol

from tests.support.aws import EventSource, Queue, Stack
from tests.support.loopback import REGION
from tests.support.runtime_api import PAYLOAD_LIMIT, FunctionError

FIFO_BATCH_LIMIT = 10
MESSAGE_KEYS = {
    "messageId": "MessageId",
    "receiptHandle": "ReceiptHandle",
    "body": "Body",
    "md5OfBody": "MD5OfBody",
}

Record = dict[str, Any]
Message = Mapping[str, Any]


class Invocable(Protocol):
    """What a mapping feeds: a process, a pool of them, or a toy in a test."""

    def invoke(self, event: Any) -> Any: ...


class NotQuietError(AssertionError):
    """The queues did not fall quiet within the rounds given; the text says what lies where."""


@dataclass(frozen=True)
class Delivery:
    """One invocation: which messages went to which function, and which came back."""

    queue: str
    function: str
    records: list[Record]
    failed: frozenset[str]
    error: FunctionError | None = None
    repeated: bool = False

    @property
    def groups(self) -> list[str]:
        return [group_of(record) for record in self.records]

    @property
    def broken_groups(self) -> list[str]:
        """Groups in which a message counts as done although an earlier one of the batch failed."""
        return [
            group
            for group, records in _grouped(self.records)
            if not _is_suffix(records, self.failed)
        ]


def group_of(record: Record) -> str:
    return str(record["attributes"].get("MessageGroupId", ""))


def _grouped(records: list[Record]) -> Iterator[tuple[str, list[Record]]]:
    for group, members in groupby(sorted(records, key=group_of), key=group_of):
        yield group, list(members)


def _is_suffix(records: list[Record], failed: frozenset[str]) -> bool:
    fates = [record["messageId"] in failed for record in records]
    return fates == sorted(fates)


@dataclass
class Poller:
    """`Poller(stack, {"ExtractFunction": process, …}).until_quiet()`; functions left out are not fed.

    With `deliver_twice` every message that succeeded goes to its function once more, in an invocation
    of its own, before it is deleted: as when a deletion is lost. A failure of the second time counts.
    """

    stack: Stack
    functions: Mapping[str, Invocable]
    deliver_twice: bool = False
    deliveries: list[Delivery] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sqs = self.stack.client("sqs")

    @property
    def mappings(self) -> list[EventSource]:
        return [
            mapping
            for mapping in self.stack.mappings.values()
            if mapping.function in self.functions
        ]

    def until_quiet(self, max_rounds: int = 100) -> list[Delivery]:
        """Run all mappings until their queues are empty; the deliveries made on the way."""
        before = len(self.deliveries)
        for _ in range(max_rounds):
            if self.quiet():
                return self.deliveries[before:]
            self.round()
        if self.quiet():
            return self.deliveries[before:]
        raise NotQuietError(self._report(self.deliveries[before:], max_rounds))

    def round(self) -> int:
        """Each mapping handles what its queue holds now, one batch at a time; how many batches there were."""
        return sum(self._drain(mapping) for mapping in self.mappings)

    def step(self, function: str) -> Delivery | None:
        """One batch of one function's mapping; None when its queue gives nothing."""
        mapping = self.stack.mapping_of(function)
        batch = self._receive(mapping)
        return self._handle(mapping, batch) if batch else None

    def quiet(self) -> bool:
        return not any(
            sum(self.depth(mapping.queue)) for mapping in self.mappings
        )

    def depth(self, queue: str) -> tuple[int, int, int]:
        """Messages of a queue that are waiting, in flight and delayed."""
        names = ["", "NotVisible", "Delayed"]
        wanted = [f"ApproximateNumberOfMessages{name}" for name in names]
        reply = self._sqs.get_queue_attributes(
            QueueUrl=self._queue(queue).url, AttributeNames=wanted
        )
        waiting, in_flight, late = (
            int(reply["Attributes"][name]) for name in wanted
        )
        return waiting, in_flight, late

    def depths(self) -> dict[str, tuple[int, int, int]]:
        """Every queue of the stack, dead letters too."""
        return {queue: self.depth(queue) for queue in self.stack.queues}

    def send(
        self,
        queue: str,
        body: str,
        group: str,
        deduplication: str,
        **attributes: str,
    ) -> None:
        """Put a message on a queue from outside: garbage, or somebody's replay."""
        fields = {
            name: {"DataType": "String", "StringValue": value}
            for name, value in attributes.items()
        }
        self._sqs.send_message(
            QueueUrl=self._queue(queue).url,
            MessageBody=body,
            MessageGroupId=group,
            MessageDeduplicationId=deduplication,
            MessageAttributes=fields,
        )

    def peek(self, queue: str) -> list[Record]:
        """The waiting messages as event records, up to ten of a group; they stay, one receive richer."""
        batch = self._receive_all(self._queue(queue))
        for message in batch:
            self._give_back(self._queue(queue), message)
        return [record(message, self._queue(queue)) for message in batch]

    def dead_letters(self, queue: str) -> list[Record]:
        """What lies in the dead-letter queue of the given source queue."""
        return self.peek(self.stack.dead_letters_of(queue).logical_id)

    def take(self, queue: str) -> list[Record]:
        """Everything off a queue, in order, as event records."""
        taken: list[Record] = []
        for _ in range(self.depth(queue)[0]):
            for message in self._receive_up_to(
                self._queue(queue), FIFO_BATCH_LIMIT
            ):
                self._delete(self._queue(queue), message)
                taken.append(record(message, self._queue(queue)))
        return taken

    def _drain(self, mapping: EventSource) -> int:
        # Bounded by what lay there at the start: a message that fails comes again in a later round.
        batches = 0
        for _ in range(self.depth(mapping.queue)[0]):
            batch = self._receive(mapping)
            if not batch:
                break
            self._handle(mapping, batch)
            batches += 1
        return batches

    def _handle(self, mapping: EventSource, batch: list[Message]) -> Delivery:
        queue = self._queue(mapping.queue)
        delivery = self._deliver(
            mapping, [record(message, queue) for message in batch]
        )
        if self.deliver_twice:
            delivery = self._deliver_again(mapping, delivery)
        for message in batch:
            failed = message["MessageId"] in delivery.failed
            (self._give_back if failed else self._delete)(queue, message)
        return delivery

    def _deliver(
        self,
        mapping: EventSource,
        records: list[Record],
        *,
        repeated: bool = False,
    ) -> Delivery:
        delivery = Delivery(
            mapping.queue,
            mapping.function,
            records,
            frozenset(),
            repeated=repeated,
        )
        try:
            answer = self.functions[mapping.function].invoke(
                {"Records": records}
            )
            failed = (
                failures(answer, records)
                if mapping.reports_failures
                else frozenset()
            )
            delivery = replace(delivery, failed=failed)
        except FunctionError as error:
            delivery = replace(delivery, failed=_ids(records), error=error)
        self.deliveries.append(delivery)
        return delivery

    def _deliver_again(
        self, mapping: EventSource, first: Delivery
    ) -> Delivery:
        done = [
            record
            for record in first.records
            if record["messageId"] not in first.failed
        ]
        if not done:
            return first
        second = self._deliver(mapping, done, repeated=True)
        return replace(first, failed=first.failed | second.failed)

    def _receive(self, mapping: EventSource) -> list[Message]:
        queue = self._queue(mapping.queue)
        batch = self._receive_up_to(
            queue, min(mapping.batch_size, FIFO_BATCH_LIMIT)
        )
        fitting = _within_payload(batch, queue)
        for message in batch[len(fitting) :]:
            self._give_back(queue, message)
        return fitting

    def _receive_up_to(self, queue: Queue, count: int) -> list[Message]:
        reply = self._sqs.receive_message(
            QueueUrl=queue.url,
            MaxNumberOfMessages=count,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages: list[Message] = reply.get("Messages", [])
        return messages

    def _receive_all(self, queue: Queue) -> list[Message]:
        found: list[Message] = []
        for _ in range(self.depth(queue.logical_id)[0]):
            batch = self._receive_up_to(queue, FIFO_BATCH_LIMIT)
            if not batch:
                break
            found += batch
        return found

    def _delete(self, queue: Queue, message: Message) -> None:
        self._sqs.delete_message(
            QueueUrl=queue.url, ReceiptHandle=message["ReceiptHandle"]
        )

    def _give_back(self, queue: Queue, message: Message) -> None:
        """Visible again at once, where Lambda would let the visibility timeout pass."""
        self._sqs.change_message_visibility(
            QueueUrl=queue.url,
            ReceiptHandle=message["ReceiptHandle"],
            VisibilityTimeout=0,
        )

    def _queue(self, logical_id: str) -> Queue:
        return self.stack.queues[logical_id]

    def _report(self, deliveries: list[Delivery], rounds: int) -> str:
        lines = [
            f"not quiet after {rounds} rounds; (waiting, in flight, delayed):"
        ]
        lines += [
            f"  {queue}: {depth}" for queue, depth in self.depths().items()
        ]
        failed = [delivery for delivery in deliveries if delivery.failed]
        lines += [
            f"  {each.function}: {len(each.failed)} of {len(each.records)}: {each.error}"
            for each in failed[-5:]
        ]
        return "\n".join(lines)


def record(message: Message, queue: Queue) -> Record:
    """A received message as Lambda puts it into an SQS event."""
    fields = {key: message[name] for key, name in MESSAGE_KEYS.items()}
    attributes = message.get("MessageAttributes", {})
    return {
        **fields,
        "attributes": dict(message.get("Attributes", {})),
        "messageAttributes": {
            name: _attribute(value) for name, value in attributes.items()
        },
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.arn,
        "awsRegion": REGION,
    }


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    text = (
        {"stringValue": value["StringValue"]} if "StringValue" in value else {}
    )
    return {
        **text,
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": value["DataType"],
    }


def _within_payload(batch: list[Message], queue: Queue) -> list[Message]:
    """As many of the first messages as one invocation may carry."""
    fitting: list[Message] = []
    size = 0
    for message in batch:
        size += len(json.dumps(record(message, queue)))
        if fitting and size > PAYLOAD_LIMIT - 1024:
            break
        fitting.append(message)
    return fitting


def failures(answer: Any, records: list[Record]) -> frozenset[str]:
    """The ids that a partial batch response returns; for Lambda a malformed one means all of them."""
    if not answer or not answer.get("batchItemFailures"):
        return frozenset()
    named = [
        item.get("itemIdentifier") for item in answer["batchItemFailures"]
    ]
    known = _ids(records)
    return frozenset(named) if all(name in known for name in named) else known


def _ids(records: list[Record]) -> frozenset[str]:
    return frozenset(record["messageId"] for record in records)
