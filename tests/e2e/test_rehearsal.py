"""The template, deployed on loopback: a conversation goes in and comes back from search."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.e2e.conversations import conversation
from tests.e2e.snapshot import list_ids
from tests.support.deployment import Deployment, pool
from tests.support.install import Image
from tests.support.model_server import ModelServer
from tests.support.moto_template import NOT_IN_MOTO
from tests.support.poller import Poller
from tests.support.runtime_api import FunctionError

pytestmark = pytest.mark.e2e

MOVED = "Dana moved to Lisbon on 2026-02-27."
FEEDS = {
    "ExtractFunction": "IngestQueue",
    "WriteFunction": "WriteQueue",
    "SummarizeFunction": "WorkQueue",
}
ACME = {"x-varve-workspace": "acme", "x-varve-agent": "support"}


@pytest.fixture(scope="module")
def told(rehearsal: Deployment) -> Deployment:
    """The rehearsal after one conversation each of two tenants."""
    rehearsal.ingest(
        conversation(
            "c-1",
            "I moved to Lisbon last Friday.",
            "The boxes are still packed.",
        )
    )
    rehearsal.ingest(
        conversation(
            "c-2",
            "I started at Brightline on Monday.",
            workspace="rival",
            speaker="Priya",
        )
    )
    rehearsal.run()
    return rehearsal


def contents(answer: dict[str, Any]) -> list[str]:
    return [result["content"] for result in answer["results"]]


def test_every_queue_is_fifo_and_sheds_what_fails_into_a_dead_letter_queue(
    rehearsal: Deployment,
) -> None:
    stack = rehearsal.stack
    # EventBridge Scheduler sends what it could not deliver to standard queues only.
    assert [
        name for name, queue in stack.queues.items() if not queue.fifo
    ] == ["ScheduleDeadLetterQueue"]
    for queue in FEEDS.values():
        assert stack.dead_letters_of(queue).fifo
        assert stack.queues[queue].redrive["maxReceiveCount"] >= 3
        assert (
            stack.queues[queue].attributes["DeduplicationScope"]
            == "messageGroup"
        )


def test_the_mappings_feed_the_queues_to_their_functions(
    rehearsal: Deployment,
) -> None:
    stack = rehearsal.stack
    assert {
        mapping.function: mapping.queue for mapping in stack.mappings.values()
    } == FEEDS
    for function, queue in FEEDS.items():
        mapping = stack.mapping_of(function)
        assert mapping.reports_failures
        assert 1 <= mapping.batch_size <= 10
        assert (
            int(stack.queues[queue].attributes["VisibilityTimeout"])
            >= 6 * stack.functions[function].timeout
        )


def test_the_functions_are_the_images_and_know_their_store(
    rehearsal: Deployment, image: Image
) -> None:
    for function in rehearsal.stack.functions.values():
        module, _, name = function.command.rpartition(".")
        source = image.root / f"{module.replace('.', '/')}.py"
        assert (
            f"def {name}(" in source.read_text()
            or f"{name} =" in source.read_text()
        )
        assert function.environment["VARVE_STORE"].startswith(
            f"s3://{rehearsal.stack.bucket}/"
        )


def test_only_what_moto_cannot_do_was_left_out(rehearsal: Deployment) -> None:
    assert set(rehearsal.stack.skipped.values()) <= NOT_IN_MOTO


def test_a_conversation_comes_back_from_search(told: Deployment) -> None:
    answer = told.search("acme", "support", queryText="Who moved to Lisbon?")
    best = answer["results"][0]
    assert best["sourceIds"] == ["c-1-m1"]
    assert "Lisbon" in best["content"]
    assert (best["conversationId"], best["userId"], best["grain"]) == (
        "c-1",
        "u-42",
        "working",
    )
    assert answer["searched"]["records"] == 3
    assert answer["hint"] is None


def test_what_the_model_extracted_lies_beside_the_words(
    told: Deployment,
) -> None:
    (fact,) = told.search("acme", "support", memoryTypes=["fact"])["results"]
    assert fact["content"] == MOVED
    assert (fact["date"], fact["period"], fact["sourceIds"]) == (
        "2026-02-27",
        "2026-03-02",
        ["c-1-m1"],
    )
    also_in = {
        result["content"]: result["alsoIn"]
        for result in told.search("acme", "support")["results"]
    }
    assert also_in == {
        "Dana: I moved to Lisbon last Friday.": [fact["id"]],
        "Dana: The boxes are still packed.": [],
    }


def test_what_a_user_said_of_themselves_is_in_their_profile(
    told: Deployment,
) -> None:
    (key,) = told.keys(f"{told.root}profiles/acme/support/")
    profile = json.loads(told.read(key))
    assert profile["userId"] == "u-42"
    # A change of last week, as of then and as of when it was told.
    assert [
        (e["key"], e["value"], e["messageIds"]) for e in profile["entries"]
    ] == 2 * [("location", "Lisbon", ["c-1-m1"])]


def test_without_a_query_the_newest_come_first(told: Deployment) -> None:
    answer = told.search("acme", "support")
    times = [result["eventTime"] for result in answer["results"]]
    assert times == sorted(times, reverse=True)
    assert len(times) == 2
    ids = list_ids(answer["results"])
    assert len(set(ids)) == len(ids) == answer["searched"]["records"] == 3


def test_an_empty_window_says_where_it_looked(told: Deployment) -> None:
    answer = told.search(
        "acme",
        "support",
        queryText="Lisbon",
        since="2020-01-01",
        until="2020-02-01",
    )
    assert answer["results"] == []
    assert answer["hint"]
    assert answer["searched"]["grains"]


def test_a_gateway_target_gets_the_same_answer(told: Deployment) -> None:
    answer = told.search_via_gateway(
        ACME, queryText="Where does Dana live?", maxResults=5
    )
    assert contents(answer) == contents(
        told.search(
            "acme", "support", queryText="Where does Dana live?", maxResults=5
        )
    )


def test_a_gateway_target_may_have_its_identity_from_the_configuration(
    told: Deployment,
) -> None:
    answer = told.search_via_gateway(
        None,
        tool="memory___search_memory",
        maxResults=100,
        memoryTypes=["fact"],
    )
    assert contents(answer) == [MOVED]


def test_an_action_group_gets_the_same_answer_as_text(
    told: Deployment,
) -> None:
    session = {"workspaceId": "acme", "agentId": "support"}
    reply = told.search_via_agent(
        session, queryText="Where does Dana live?", maxResults=5
    )
    assert reply["messageVersion"] == "1.0"
    assert (
        reply["response"]["actionGroup"],
        reply["response"]["function"],
    ) == (
        "memory",
        "search_memory",
    )
    body = reply["response"]["functionResponse"]["responseBody"]["TEXT"][
        "body"
    ]
    direct = told.search(
        "acme", "support", queryText="Where does Dana live?", maxResults=5
    )
    assert contents(json.loads(body)) == contents(direct)


def test_no_argument_of_a_models_changes_whose_memory_it_is(
    told: Deployment,
) -> None:
    forged = {
        "workspaceId": "rival",
        "agentId": "support",
        "x-varve-workspace": "rival",
    }
    try:
        answer = told.search_via_gateway(
            ACME, queryText="Where does Priya work?", **forged
        )
    except FunctionError as error:
        answer = {"refused": error.message}
    assert "Brightline" not in json.dumps(answer)


def test_a_caller_without_identity_is_refused(told: Deployment) -> None:
    try:
        answer = told.search_via_gateway(
            None,
            tool="stranger___search_memory",
            queryText="Where does Dana live?",
        )
    except FunctionError as error:
        answer = {"refused": error.message}
    assert "Lisbon" not in json.dumps(answer)


def test_bad_input_is_refused_with_its_field_and_changes_nothing(
    rehearsal: Deployment,
) -> None:
    before = rehearsal.keys()
    for field, value in (
        ("workspaceId", "../acme"),
        ("messages", []),
        ("conversationId", "a/b"),
    ):
        bad = {**conversation("c-bad", "Nothing to see."), field: value}
        try:
            text = json.dumps(rehearsal.ingest(bad))
        except FunctionError as error:
            text = error.message
        assert field in text
    assert rehearsal.poller.quiet()
    assert rehearsal.keys() == before


def test_the_same_conversation_again_adds_nothing_and_a_grown_one_only_what_is_new(
    rehearsal: Deployment,
) -> None:
    words = ("I adore gooseberries.", "Oh, and quinces as well!")
    at = {"workspace": "again"}
    rehearsal.ingest(conversation("c-grow", words[0], **at))
    rehearsal.run()
    rehearsal.ingest(conversation("c-grow", words[0], **at))
    rehearsal.run()
    assert rehearsal.search("again", "support")["searched"]["records"] == 2
    rehearsal.ingest(conversation("c-grow", *words, **at))
    rehearsal.run()
    assert rehearsal.search("again", "support")["searched"]["records"] == 4


def test_an_outcome_that_the_function_is_told_labels_the_episode(
    rehearsal: Deployment,
) -> None:
    whose = {
        "workspaceId": "endings",
        "agentId": "support",
        "conversationId": "c-end",
    }
    worked = conversation(
        "c-end",
        "The checkout service waits for connections.",
        workspace="endings",
    )
    rehearsal.ingest(
        worked
        | {
            "messages": [
                m | {"state": "debugging"} for m in worked["messages"]
            ]
        }
    )
    ended = {
        "type": "outcome",
        **whose,
        "outcome": "FAILURE",
        "correction": "It was the release.",
    }
    ended |= {"at": "2026-03-02T10:00:00Z"}
    assert rehearsal.ingest(ended) == {"accepted": {"outcomes": 1}}
    assert (
        "outcome"
        in rehearsal.ingest(ended | {"outcome": "WON"})["error"]["field"]
    )
    rehearsal.run()
    answer = rehearsal.search(
        "endings", "support", queryText="connections", memoryTypes=["episode"]
    )
    (content,) = contents(answer)
    assert "FAILURE" in content
    assert "It was the release." in content


def test_a_conversation_over_the_queues_limit_takes_the_claim_check(
    rehearsal: Deployment,
) -> None:
    filler = " ".join(
        f"Item {number} of the inventory is in its place."
        for number in range(9_000)
    )
    texts = [
        f"The list for my flat in Porto: {filler}",
        filler,
        f"So much for that. {filler}",
    ]
    large = conversation("c-large", *texts, workspace="large")
    assert len(json.dumps(large)) > int(
        rehearsal.stack.queues["IngestQueue"].attributes["MaximumMessageSize"]
    )
    rehearsal.ingest(large)
    waiting = rehearsal.poller.peek("IngestQueue")
    assert len(waiting) == len(texts), "each of them fills a part"
    assert all(len(part["body"]) < 2_000 for part in waiting)
    assert len(rehearsal.keys(f"{rehearsal.root}payloads/large/")) == len(
        texts
    )
    rehearsal.run()
    answer = rehearsal.search(
        "large", "support", queryText="Dana lives in Porto"
    )
    assert answer["results"][0]["sourceIds"] == ["c-large-m1"]


def test_the_key_may_lie_in_secrets_manager(
    rehearsal: Deployment, image: Image, model: ModelServer
) -> None:
    secret = rehearsal.stack.client("secretsmanager").create_secret(
        Name="varve/key", SecretString=model.api_key
    )
    environment = {
        **image.environment,
        "AWS_ENDPOINT_URL": rehearsal.stack.endpoint,
        "OPENAI_BASE_URL": model.base_url,
        "VARVE_API_KEY_SECRET": secret["ARN"],
    }
    extract = pool(
        rehearsal.stack.functions["ExtractFunction"], image, environment
    )
    functions = {**rehearsal.functions, "ExtractFunction": extract}
    rehearsal.ingest(
        conversation(
            "c-secret", "I moved to Lisbon last Friday.", workspace="secret"
        )
    )
    try:
        Poller(rehearsal.stack, functions).until_quiet()
        assert model.api_key not in extract.logs
    finally:
        extract.stop()
    facts = rehearsal.search("secret", "support", memoryTypes=["fact"])
    assert contents(facts) == [MOVED]


def test_the_command_line_gives_the_same_answer(
    told: Deployment, image: Image
) -> None:
    function = told.functions["SearchFunction"].processes[0]
    now = datetime.now(UTC).isoformat()
    scope = [
        "--workspace",
        "acme",
        "--agent",
        "support",
        "--now",
        now,
        "--json",
    ]
    command = [
        str(image.python),
        "-m",
        "varve",
        "search",
        "Where does Dana live?",
        *scope,
    ]
    done = subprocess.run(
        command,
        env=dict(function.environment),
        cwd=image.root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    by_hand, by_function = (
        json.loads(done.stdout),
        told.search("acme", "support", queryText="Where does Dana live?"),
    )
    assert contents(by_hand) == contents(by_function)
    assert by_hand["results"][0].keys() == by_function["results"][0].keys()
    assert by_hand.keys() == by_function.keys()
