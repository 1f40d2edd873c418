"""SQS and Secrets Manager through boto3."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from varve.domain.dead_letter import reasons_of
from varve.domain.errors import Misconfigured, Retryable
from varve.ports.queues import Delivery

_OPERATOR_ERRORS = frozenset(
    {
        "AccessDenied", "AccessDeniedException", "InvalidClientTokenId", "SignatureDoesNotMatch",
        "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "ResourceNotFoundException",
        "UnrecognizedClientException", "ExpiredToken",
    }
)  # fmt: skip
MAX_ATTRIBUTE_CHARACTERS = 1_000


class SqsQueue:
    """The Queue port over one SQS FIFO queue; `url` is the queue's."""

    def __init__(self, url: str) -> None:
        self.url = url

    @cached_property
    def client(self) -> Any:
        """The SQS client, built on first use."""
        return boto3.client("sqs")

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        with translated(f"queue {self.url}"):
            self.client.send_message(
                QueueUrl=self.url,
                MessageBody=body,
                MessageGroupId=group,
                MessageDeduplicationId=deduplication_id,
            )

    @cached_property
    def redrive(self) -> tuple[str, int]:
        """The dead-letter queue's name, and how often a message is received before SQS moves it there.

        Raises Misconfigured: the queue has no dead-letter queue.
        """
        with translated(f"queue {self.url}"):
            answer = self.client.get_queue_attributes(
                QueueUrl=self.url, AttributeNames=["RedrivePolicy"]
            )
        policy = answer.get("Attributes", {}).get("RedrivePolicy")
        if policy is None:
            raise Misconfigured(
                f"queue {self.url}: has no dead-letter queue (RedrivePolicy)"
            )
        redrive = json.loads(policy)
        return redrive["deadLetterTargetArn"].rpartition(":")[2], int(
            redrive["maxReceiveCount"]
        )

    @cached_property
    def dead_letter_url(self) -> str:
        """The dead-letter queue's URL. Raises Misconfigured: there is none, or no right to see it."""
        name, _ = self.redrive
        with translated(f"queue {name}"):
            return str(self.client.get_queue_url(QueueName=name)["QueueUrl"])


class SqsDeadLetters:
    """The DeadLetters port: the dead-letter queue of a queue, with the reason as attributes."""

    def __init__(self, queue: SqsQueue) -> None:
        self._queue = queue

    @property
    def _url(self) -> str:
        return self._queue.dead_letter_url

    def send(self, delivery: Delivery, error: Exception) -> None:
        reasons = reasons_of(delivery.id, error)
        with translated(f"queue {self._url}"):
            self._queue.client.send_message(
                QueueUrl=self._url,
                MessageBody=delivery.body,
                MessageGroupId=delivery.group,
                MessageDeduplicationId=delivery.id,
                MessageAttributes={
                    name: _attribute(value) for name, value in reasons.items() if value
                },
            )


def deliveries(event: dict[str, Any], queue: SqsQueue) -> list[Delivery]:
    """The records of an SQS event, in their order."""
    return [_delivery(record, queue) for record in event["Records"]]


def batch_response(returned: Iterable[Delivery]) -> dict[str, Any]:
    """What a function answers its event source mapping: the messages to deliver again."""
    return {
        "batchItemFailures": [{"itemIdentifier": delivery.id} for delivery in returned]
    }


def _delivery(record: dict[str, Any], queue: SqsQueue) -> Delivery:
    attributes = record["attributes"]
    _, most = queue.redrive
    return Delivery(
        id=record["messageId"],
        body=record["body"],
        group=attributes["MessageGroupId"],
        last_chance=int(attributes["ApproximateReceiveCount"]) >= most,
    )


class SecretsManager:
    """The Secrets port over AWS Secrets Manager."""

    def get(self, name: str) -> str:
        with (
            translated(f"secret {name}"),
            closing(boto3.client("secretsmanager")) as client,
        ):
            return str(client.get_secret_value(SecretId=name)["SecretString"])


def bucket_versioning(bucket: str) -> str:
    """Enabled, Suspended or Disabled; Unknown where we have no right to ask. Raises Retryable."""
    try:
        with translated(f"bucket {bucket}"), closing(boto3.client("s3")) as client:
            return str(
                client.get_bucket_versioning(Bucket=bucket).get("Status", "Disabled")
            )
    except Misconfigured:
        return "Unknown"


def _attribute(value: str) -> dict[str, str]:
    return {"DataType": "String", "StringValue": value[:MAX_ATTRIBUTE_CHARACTERS]}


@contextmanager
def translated(what: str) -> Iterator[None]:
    """boto3's errors in our words: rights and names are the operator's business, the rest may pass."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code in _OPERATOR_ERRORS:
            raise Misconfigured(f"{what}: {code}") from error
        raise Retryable(f"{what}: {code}") from error
    except BotoCoreError as error:
        raise Retryable(f"{what}: {type(error).__name__}") from error
