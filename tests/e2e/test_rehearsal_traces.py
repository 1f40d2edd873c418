"""What the rehearsal leaves behind: empty queues, logs without content, objects under one root."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conversations import SCRIPT, conversation
from tests.support.builders import MORNING, RecordingQueue
from tests.support.deployment import Deployment
from tests.support.model_server import ModelServer
from tests.support.runtime_api import SECRET
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.allowance import MAX_PHONE_CHECKS
from varve.domain.conversation import parse_conversation
from varve.messages.ingest import IngestMessage, send_ingest

pytestmark = pytest.mark.e2e

MCP_CALL = Path(__file__).parents[2] / "events" / "mcp.search.json"

FOLDERS = {
    "workspaces", "vectordb", "graphs", "profiles", "timeline", "ledger", "payloads", "audit", "probe",
    "costs",
}  # fmt: skip


@pytest.fixture(scope="module")
def logs_of_one(rehearsal: Deployment) -> dict[str, str]:
    """What each function logs for one conversation from ingest to store.

    Other modules share the rehearsal, and what they forget is read again without ingest.
    """
    rehearsal.run()
    before = _count_lines(rehearsal)
    rehearsal.ingest(
        conversation(
            "c-trace", "I moved to Lisbon last Friday.", workspace="trace"
        )
    )
    rehearsal.run()
    return {
        name: "\n".join(lines - before[name])
        for name, lines in _count_lines(rehearsal).items()
    }


def _count_lines(rehearsal: Deployment) -> dict[str, Counter[str]]:
    """Return each function's lines; those of several processes are not in their order."""
    return {
        name: Counter(log.splitlines()) for name, log in rehearsal.logs.items()
    }


@pytest.fixture(scope="module")
def ran(rehearsal: Deployment, logs_of_one: dict[str, str]) -> Deployment:
    """The rehearsal after everything the tests before put it through, and at least one conversation."""
    assert logs_of_one
    # A time before all that was told: the schedules' functions run and find nothing due.
    rehearsal.fire("daily", "2026-01-01T00:10:00Z")
    rehearsal.fire("CleanupFunctionNightly", "2026-01-01T05:10:00Z")
    rehearsal.search("trace", "support", queryText="Where does Dana live?")
    whom = {
        "workspaceId": "trace",
        "agentId": "support",
        "user": "nobody",
        "dryRun": True,
    }
    rehearsal.functions["ForgetFunction"].invoke(whom)
    rehearsal.functions["McpFunction"].invoke(json.loads(MCP_CALL.read_text()))
    return rehearsal


def test_nothing_is_left_on_any_queue(ran: Deployment) -> None:
    assert ran.poller.depths() == dict.fromkeys(ran.stack.queues, (0, 0, 0))


def test_no_group_went_on_past_a_failure(ran: Deployment) -> None:
    assert not any(
        delivery.broken_groups for delivery in ran.poller.deliveries
    )


def test_no_content_and_no_key_is_in_any_log(
    ran: Deployment, model: ModelServer
) -> None:
    said = {text[:60] for text in ran.sent} | {
        knowledge.content for knowledge in SCRIPT.values()
    }
    secrets = {model.api_key, SECRET, "Where does Dana live?"}
    for name, log in ran.logs.items():
        told = sorted(
            each
            for each in said | secrets
            if each in log or json.dumps(each)[1:-1] in log
        )
        assert not told, f"{name} logs content or keys: {told}"


def test_a_conversation_is_followed_by_its_correlation_id_from_ingest_to_store(
    logs_of_one: dict[str, str],
) -> None:
    accepted = _correlation_ids(logs_of_one["IngestFunction"], "accepted")
    assert len(accepted) == 1
    for name in ("ExtractFunction", "WriteFunction"):
        settled = _correlation_ids(logs_of_one[name], "settled")
        assert settled == accepted, name


def _correlation_ids(log: str, message: str) -> set[str]:
    lines = [
        json.loads(line) for line in log.splitlines() if line.startswith("{")
    ]
    told = (
        line.get("correlationId")
        for line in lines
        if line.get("message") == message
    )
    return {correlation_id for correlation_id in told if correlation_id}


def test_a_message_whose_filter_reaches_a_limit_is_told_and_counted(
    rehearsal: Deployment,
) -> None:
    numbers = "".join(
        f"call 612 {number // 1000:03} {number % 1000:03}; "
        for number in range(MAX_PHONE_CHECKS + 1)
    )
    given = conversation(
        "c-limits", "I moved to Lisbon last Friday.", workspace="many"
    )
    given["messages"][0]["attached"] = numbers
    answer = rehearsal.ingest(given)
    assert answer["partlyFiltered"] == [
        {"conversationId": "c-limits", "message": 0, "limit": "checks"}
    ]
    assert rehearsal.metric("IngestFunction", "PartlyFilteredMessages") == 1
    rehearsal.run()
    assert rehearsal.metric("ExtractFunction", "PartlyFilteredMessages") == 0
    _put_on_queue(rehearsal, given | {"conversationId": "c-past-ingest"})
    rehearsal.run()
    assert rehearsal.metric("ExtractFunction", "PartlyFilteredMessages") == 1


def _put_on_queue(rehearsal: Deployment, given: dict[str, Any]) -> None:
    """Send a conversation to the ingest queue without IngestFunction."""
    message = IngestMessage(parse_conversation(given), (), MORNING)
    recorded = RecordingQueue()
    send_ingest(message, queue=recorded, objects=InMemoryObjects())
    (delivery,) = recorded.sent
    rehearsal.stack.client("sqs").send_message(
        QueueUrl=rehearsal.stack.queues["IngestQueue"].url,
        MessageBody=delivery.body,
        MessageGroupId=delivery.group,
        MessageDeduplicationId="past-ingest",
    )


def test_every_function_logs_that_it_worked(ran: Deployment) -> None:
    assert all(log.strip() for log in ran.logs.values())


def test_everything_lies_under_the_stores_root_in_the_folders_of_the_layout(
    ran: Deployment,
) -> None:
    keys = ran.keys()
    assert all(key.startswith(ran.root) for key in keys)
    assert {
        key.removeprefix(ran.root).split("/")[0] for key in keys
    } <= FOLDERS
