"""SQS on loopback for the queues' contract suites."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest

from tests.support.loopback import ACCOUNT, REGION
from tests.support.moto_process import MotoServer
from tests.support.s3 import CREDENTIALS
from varve.adapters.queues.sqs import SqsQueue
from varve.ports.queues import Delivery


@contextmanager
def sqs_server() -> Iterator[Any]:
    """A client of a server that is this process's AWS until the block ends."""
    with MotoServer() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in {
            **CREDENTIALS,
            "AWS_ENDPOINT_URL": server.endpoint,
        }.items():
            patch.setenv(name, value)
        client = boto3.client("sqs")
        yield client
        client.close()


@contextmanager
def fifo_queue(sqs: Any, name: str, max_receives: int) -> Iterator[SqsQueue]:
    """A FIFO queue whose messages go to `….dead.fifo` after so many receives."""
    sqs.create_queue(
        QueueName=f"{name}-dead.fifo", Attributes={"FifoQueue": "true"}
    )
    policy = {
        "deadLetterTargetArn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}-dead.fifo",
        "maxReceiveCount": max_receives,
    }
    attributes = {"FifoQueue": "true", "RedrivePolicy": json.dumps(policy)}
    made = SqsQueue(
        sqs.create_queue(QueueName=f"{name}.fifo", Attributes=attributes)[
            "QueueUrl"
        ]
    )
    yield made
    made.client.close()


class InlineQueue:
    """The Queue port of a test without SQS.

    A message is durable when `send` returns, because its handler has finished. The
    handler's errors reach the sender.
    """

    def __init__(self, handle: Callable[[Delivery], None]) -> None:
        self._handle = handle

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self._handle(Delivery(id=deduplication_id, body=body, group=group))
