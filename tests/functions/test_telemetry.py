"""What the functions tell: each message's fate by its correlation id, and the models' tokens; no content."""

import io
import json
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from functions.costs import count_costs
from functions.telemetry import log_accepted, log_fates
from tests.support.builders import MORNING, RecordingQueue, a_conversation
from varve.adapters.in_memory import InMemoryObjects
from varve.messages.ingest import IngestMessage, send_ingest
from varve.messages.wire import MAX_BODY_BYTES
from varve.ports.queues import Delivery
from varve.wiring.sessions import Sessions

services = (f"test-{number}" for number in count())
"""A logger keeps the stream that the first one of its service was given."""


@pytest.fixture
def log() -> tuple[Logger, io.StringIO]:
    stream = io.StringIO()
    return Logger(service=next(services), stream=stream), stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def sent(text: str) -> tuple[IngestMessage, Delivery]:
    message, queue = (
        IngestMessage(a_conversation(text), (), MORNING),
        RecordingQueue(),
    )
    send_ingest(message, queue=queue, objects=InMemoryObjects())
    return message, queue.sent[0]


@pytest.mark.parametrize(
    "text",
    ["The safe opens with 7-2-9.", "x" * MAX_BODY_BYTES],
    ids=["message", "claim check"],
)
def test_a_message_has_the_correlation_id_that_ingest_told_and_no_content(
    log: tuple[Logger, io.StringIO], text: str
) -> None:
    logger, stream = log
    message, delivery = sent(text)
    log_accepted(logger, [message.correlation_id])
    log_fates(logger, [delivery], [])
    log_fates(logger, [delivery], [delivery])
    assert [line["message"] for line in lines(stream)] == [
        "accepted",
        "settled",
        "returned",
    ]
    assert {line["correlationId"] for line in lines(stream)} == {
        message.correlation_id
    }
    assert text not in stream.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        "",
        '{"correlationId": "my password is tulip"}',
        '{"correlationId": 7}',
        '"' * 99,
    ],
)
def test_what_is_no_correlation_id_is_not_told(
    log: tuple[Logger, io.StringIO], body: str
) -> None:
    logger, stream = log
    log_fates(logger, [Delivery("m-1", body, "g")], [])
    (line,) = lines(stream)
    assert (line.get("correlationId"), line["messageId"]) == (None, "m-1")
    assert "tulip" not in stream.getvalue()


def test_what_was_used_is_told_once(tmp_path: Path) -> None:
    metrics = Metrics(namespace="Varve", service="test")
    opened = Sessions.from_environment(tmp_path, environment={})
    opened.meter.add_model(
        "gpt-4o-mini", SimpleNamespace(prompt_tokens=1_000_000)
    )
    opened.meter.add("gets", 3)
    count_costs(metrics, opened)
    told = json.loads(json.dumps(metrics.serialize_metric_set()))
    names = (
        "ModelCalls",
        "ModelTokens",
        "StoreRequests",
        "EstimatedMicrodollars",
    )
    assert [told[name] for name in names] == [[1.0], [1e6], [3.0], [150_001.0]]
    metrics.clear_metrics()
    count_costs(metrics, opened)
    assert metrics.metric_set == {}
