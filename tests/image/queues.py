"""As much of SQS on loopback as the functions call: what they send is kept, by queue."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections import defaultdict
from typing import Any

from tests.support.loopback import LoopbackHandler, LoopbackServer

ACCOUNT, REGION = "123456789012", "us-east-1"
DEAD_LETTERS = "dead-letters.fifo"

Json = Any


class Queues(LoopbackServer):
    """Every queue there is by asking for it; nothing is redelivered, nothing is deduplicated."""

    def __init__(self) -> None:
        self.sent: dict[str, list[Json]] = defaultdict(list)
        super().__init__(_SqsHandler)

    def url(self, queue: str) -> str:
        return f"http://{self.address}/{ACCOUNT}/{queue}"

    def take(self, queue: str) -> Json:
        """The event that a function gets with everything sent to this queue."""
        return {
            "Records": [
                _record(queue, message) for message in self.sent.pop(queue, [])
            ]
        }

    def answer(self, action: str, request: Json) -> Json | None:
        """The answer to one call; None for a call that no function is known to make."""
        if action == "GetQueueAttributes":
            arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{DEAD_LETTERS}"
            return {
                "Attributes": {
                    "RedrivePolicy": json.dumps(
                        {"deadLetterTargetArn": arn, "maxReceiveCount": 5}
                    )
                }
            }
        if action == "GetQueueUrl":
            return {"QueueUrl": self.url(request["QueueName"])}
        if action == "SendMessage":
            self.sent[request["QueueUrl"].rpartition("/")[2]].append(request)
            body = request["MessageBody"].encode()
            return {
                "MessageId": str(uuid.uuid4()),
                "MD5OfMessageBody": hashlib.md5(body).hexdigest(),
            }
        return None


class _SqsHandler(LoopbackHandler):
    def do_POST(self) -> None:  # noqa: N802 - the base class's name
        owner: Queues = self.server.owner  # type: ignore[attr-defined]  # set by LoopbackServer
        action = (self.headers.get("X-Amz-Target") or "").rpartition(".")[2]
        answer = owner.answer(action, json.loads(self.body() or b"{}"))
        self.answer_json(
            200 if answer is not None else 400,
            answer or {"__type": f"Unknown: {action}"},
        )


def _record(queue: str, message: Json) -> Json:
    now = str(int(time.time() * 1000))
    return {
        "messageId": str(uuid.uuid4()),
        "receiptHandle": str(uuid.uuid4()),
        "body": message["MessageBody"],
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": now,
            "ApproximateFirstReceiveTimestamp": now,
            "SequenceNumber": now,
            "SenderId": ACCOUNT,
            "MessageGroupId": message["MessageGroupId"],
            "MessageDeduplicationId": message["MessageDeduplicationId"],
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(message["MessageBody"].encode()).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
        "awsRegion": REGION,
    }
