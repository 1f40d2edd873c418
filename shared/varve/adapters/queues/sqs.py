"""The Queue port over SQS through boto3."""

import json
from functools import cached_property
from typing import Any

import boto3

from varve.adapters.aws_errors import translate_aws_errors
from varve.domain.errors import Misconfigured
from varve.domain.usage import Item
from varve.ports.meter import Meter

BILLED_BYTES = 64 * 1024


class SqsQueue:
    """The Queue port over the SQS FIFO queue at `url`; `meter` counts the messages sent."""

    def __init__(self, url: str, meter: Meter | None = None) -> None:
        self.url = url
        self._meter = meter or Meter()

    @cached_property
    def client(self) -> Any:
        """The SQS client, built on first use."""
        return boto3.client("sqs")

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        # SQS bills each 64 KB as a request.
        self._meter.add(Item.SENDS, -(-len(body.encode()) // BILLED_BYTES))
        with translate_aws_errors(f"queue {self.url}"):
            self.client.send_message(
                QueueUrl=self.url,
                MessageBody=body,
                MessageGroupId=group,
                MessageDeduplicationId=deduplication_id,
            )

    @cached_property
    def redrive(self) -> tuple[str, int]:
        """The dead-letter queue's name, and the receives after which SQS moves a message.

        Reads the queue's RedrivePolicy on first use.
        Raises Misconfigured: the queue has no dead-letter queue.
        """
        with translate_aws_errors(f"queue {self.url}"):
            answer = self.client.get_queue_attributes(
                QueueUrl=self.url, AttributeNames=["RedrivePolicy"]
            )
        text = answer.get("Attributes", {}).get("RedrivePolicy")
        if text is None:
            raise Misconfigured(
                f"queue {self.url}: has no dead-letter queue (RedrivePolicy)"
            )
        policy = json.loads(text)
        name = policy["deadLetterTargetArn"].rpartition(":")[2]
        return name, int(policy["maxReceiveCount"])

    @cached_property
    def dead_letter_url(self) -> str:
        """The dead-letter queue's URL, requested on first use.

        Raises Misconfigured: there is none, or the caller may not see it.
        """
        name, _ = self.redrive
        with translate_aws_errors(f"queue {name}"):
            return str(self.client.get_queue_url(QueueName=name)["QueueUrl"])
