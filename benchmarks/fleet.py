"""The functions as processes that are handed events one at a time: `python benchmarks/fleet.py` tries one.

Each is started, imports its handler and answers, as a Lambda environment does. SQS is moto on loopback, S3
the counting one. What is told of an invocation is the processor's time of the whole process, all threads,
which does not depend on what else the machine does as clock time would; memory is the process's peak.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from counting_s3 import BUCKET, CREDENTIALS, CountingS3, Counts

PROJECT = Path(__file__).parents[1]
QUEUES = ("ingest", "write", "summary")
BATCH = 10
CHUNK = 64 * 1024
"""SQS counts a request for each 64 KB of what it carries."""
HEAVY = (
    "lancedb", "pyarrow", "numpy", "obstore", "boto3", "pydantic", "wordllama", "tokenizers", "duckdb",
    "openai", "httpx", "detect_secrets", "phonenumbers", "stdnum", "Stemmer", "dateparser", "pandas",
)  # fmt: skip
"""Libraries that take some of a process's start or memory."""
CHILD = """
import importlib, json, os, sys, time
from types import SimpleNamespace
out = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # logs and metrics
handler = importlib.import_module(f"functions.{sys.argv[1]}.app").lambda_handler
arn = "arn:aws:lambda:us-east-1:123456789012:function:" + sys.argv[1]
context = SimpleNamespace(
    function_name=sys.argv[1], memory_limit_in_mb=1024, invoked_function_arn=arn, aws_request_id="r",
    client_context=None,
)
before = 0.0
def tell(answer=None):
    global before
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    now, heavy = time.process_time(), [name for name in HEAVY if name in sys.modules]
    told = [now - before, int(status["VmHWM"].split()[0]) / 1024, heavy, answer]
    print(json.dumps(told), file=out, flush=True)
    before = time.process_time()
tell()
for line in sys.stdin:
    tell(handler(json.loads(line), context))
"""


@dataclass(frozen=True, slots=True)
class Invocation:
    """What one invocation took: the processor's seconds, the process's peak MB, requests; what is loaded."""

    seconds: float
    megabytes: float
    heavy: tuple[str, ...]
    answer: Any
    counts: Counts | None = None
    sent: int = 0
    """Messages that it put on queues."""
    queued: int = 0
    """Requests to SQS for the batch it was invoked with: each message's sending, receipt and deletion."""


class Function:
    """One function's process; the first thing it tells is what its import took."""

    def __init__(self, name: str, environment: Mapping[str, str]) -> None:
        code = f"HEAVY = {HEAVY!r}\n{CHILD}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, name],
            cwd=PROJECT,
            env={
                **environment,
                "PYTHONPATH": f"{PROJECT}:{PROJECT / 'shared'}",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.imported = self._told()

    def __call__(self, event: Any) -> Invocation:
        """Hand it an event."""
        assert self._process.stdin is not None
        print(json.dumps(event), file=self._process.stdin, flush=True)
        return self._told()

    def _told(self) -> Invocation:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the function ended: {self._process.wait()}")
        seconds, megabytes, heavy, answer = json.loads(line)
        return Invocation(seconds, megabytes, tuple(heavy), answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: object,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


@dataclass(frozen=True, slots=True)
class Fleet:
    """All functions over one bucket and three queues."""

    s3: CountingS3
    sqs: Any
    urls: Mapping[str, str]
    environment: Mapping[str, str]

    @contextmanager
    def cold(self, name: str) -> Iterator[Function]:
        """A new process of a function."""
        with Function(name, self.environment) as function:
            yield function

    def invoke(self, function: Function, event: Any) -> Invocation:
        """Hand it an event, and count what it asks of S3 and sends to the queues."""
        before = {name: self._waiting(name) for name in QUEUES}
        self.s3.reset()
        done = function(event)
        counts = self.s3.counts()
        sent = sum(self._waiting(name) - before[name] for name in QUEUES)
        records = event.get("Records", []) if isinstance(event, dict) else []
        sizes = [len(record["body"].encode()) for record in records]
        queued = (
            sum(map(_chunks, sizes)) + _chunks(sum(sizes)) + 1
            if records
            else 0
        )
        return replace(done, counts=counts, sent=sent, queued=queued)

    def batches(
        self, name: str, size: int = BATCH
    ) -> Iterator[dict[str, Any]]:
        """All that waits on a queue as events of its mapping: one group each, in order."""
        waiting = sorted(
            self._taken(name), key=lambda r: r["attributes"]["MessageGroupId"]
        )
        for _, group in groupby(
            waiting, key=lambda r: r["attributes"]["MessageGroupId"]
        ):
            records = list(group)
            yield from (
                {"Records": records[at : at + size]}
                for at in range(0, len(records), size)
            )

    def _taken(self, name: str) -> Iterator[dict[str, Any]]:
        url = self.urls[name]
        while True:
            answer = self.sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"]
            )
            messages = answer.get("Messages", [])
            if not messages:
                return
            for message in messages:
                self.sqs.delete_message(
                    QueueUrl=url, ReceiptHandle=message["ReceiptHandle"]
                )
                yield {
                    "messageId": message["MessageId"],
                    "body": message["Body"],
                    "attributes": message["Attributes"],
                    "eventSource": "aws:sqs",
                }

    def _waiting(self, name: str) -> int:
        asked = self.sqs.get_queue_attributes(
            QueueUrl=self.urls[name], AttributeNames=["All"]
        )
        return int(asked["Attributes"]["ApproximateNumberOfMessages"])


def _chunks(size: int) -> int:
    return -(-size // CHUNK)


@contextmanager
def fleet(**more: str) -> Iterator[Fleet]:
    """Servers and queues until the block ends; `more` is environment of the functions."""
    with ExitStack() as stack:
        s3, moto = (
            stack.enter_context(CountingS3()),
            stack.enter_context(_moto()),
        )
        aws = {
            "endpoint_url": moto,
            "region_name": "us-east-1",
            "aws_access_key_id": "bench",
            "aws_secret_access_key": "bench",
        }
        sqs = boto3.client("sqs", **aws)
        stack.callback(sqs.close)
        urls = {name: _queue(sqs, name) for name in QUEUES}
        environment = {
            **CREDENTIALS,
            "PATH": "/usr/bin:/bin",
            "AWS_ENDPOINT_URL": s3.endpoint,
            "AWS_ENDPOINT_URL_SQS": moto,
            "POWERTOOLS_METRICS_NAMESPACE": "Varve",
            "POWERTOOLS_SERVICE_NAME": "benchmark",
            "VARVE_STORE": f"s3://{BUCKET}/memory",
            **{
                f"VARVE_{name.upper()}_QUEUE_URL": url
                for name, url in urls.items()
            },
            **more,
        }
        yield Fleet(s3, sqs, urls, environment)


@contextmanager
def _moto() -> Iterator[str]:
    """The address of the tests' own SQS, which ends with its standard input."""
    command = [sys.executable, "-m", "tests.support.moto_process", "0"]
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
    }
    with subprocess.Popen(command, cwd=PROJECT, text=True, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def _queue(sqs: Any, name: str) -> str:
    fifo = {"FifoQueue": "true"}
    dead = sqs.create_queue(QueueName=f"{name}-dead.fifo", Attributes=fifo)[
        "QueueUrl"
    ]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])[
        "Attributes"
    ]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 5})
    made = sqs.create_queue(
        QueueName=f"{name}.fifo", Attributes={**fifo, "RedrivePolicy": redrive}
    )
    return str(made["QueueUrl"])


def main() -> None:
    """Invoke ingest twice and tell."""
    spoken = {
        "workspaceId": "w",
        "agentId": "a",
        "messages": [{"role": "user", "content": "I like tea."}],
    }
    with fleet() as running, running.cold("ingest") as function:
        print("import", function.imported)
        for number in range(2):
            print(
                running.invoke(
                    function, {**spoken, "conversationId": f"c-{number}"}
                )
            )


if __name__ == "__main__":
    main()
