"""The batches of SQS messages that Lambda passes to a function, and its answer."""

from collections.abc import Iterable
from typing import Any

from varve.adapters.queues.sqs import SqsQueue
from varve.ports.queues import Delivery


def deliveries(event: dict[str, Any], queue: SqsQueue) -> list[Delivery]:
    """Return the messages of an SQS event, in their order."""
    return [_to_delivery(record, queue) for record in event["Records"]]


def batch_response(returned: Iterable[Delivery]) -> dict[str, Any]:
    """Return the function's answer: the messages that SQS must deliver again."""
    failures = [{"itemIdentifier": delivery.id} for delivery in returned]
    return {"batchItemFailures": failures}


def _to_delivery(record: dict[str, Any], queue: SqsQueue) -> Delivery:
    attributes = record["attributes"]
    _, max_receives = queue.redrive
    return Delivery(
        id=record["messageId"],
        body=record["body"],
        group=attributes["MessageGroupId"],
        last_chance=int(attributes["ApproximateReceiveCount"]) >= max_receives,
    )
