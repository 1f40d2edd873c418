"""What goes wrong on the way: failing models, doubled messages, poison, writers that die or meet."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.e2e.conftest import API_KEY, PARAMETERS
from tests.e2e.conversations import SCRIPT, STORY_SCOPES, conversation, story
from tests.e2e.snapshot import contents, list_ids, records, snapshot, triples
from tests.support.deployment import Deploy, Deployment, deployed
from tests.support.install import Image
from tests.support.model_replies import extraction, first_message
from tests.support.model_server import (
    EMBEDDINGS,
    NO_RETRY,
    Fault,
    ModelServer,
    wrong_dimensions,
)
from tests.support.moto_template import Template
from tests.support.poller import Delivery, Poller, Record, failures, group_of
from tests.support.runtime_api import FunctionError, LambdaPool

pytestmark = pytest.mark.e2e

POISON = "not JSON, but a heron"


@pytest.fixture(scope="module")
def plain(rehearsal: Deployment) -> dict[str, Any]:
    """What memory holds after the story, when nothing goes wrong."""
    rehearsal.ingest_all(*story("plain"))
    rehearsal.run()
    return snapshot(rehearsal, "plain", *STORY_SCOPES)


def reason(letter: Record) -> tuple[str, str]:
    attributes = letter["messageAttributes"]
    return attributes["errorType"]["stringValue"], attributes["reason"][
        "stringValue"
    ]


def group_of_last(deployment: Deployment, queue: str) -> str:
    last: Delivery = next(
        each
        for each in reversed(deployment.poller.deliveries)
        if each.queue == queue
    )
    return last.groups[-1]


def first_fates(deployment: Deployment, queue: str) -> dict[str, str]:
    """What became of each group's first delivery: a repeated one would hide a failure taken for success."""
    fates: dict[str, str] = {}
    for delivery in deployment.poller.deliveries:
        if delivery.queue == queue:
            for group in delivery.groups:
                fates.setdefault(
                    group, "returned" if delivery.failed else "done"
                )
    return fates


def test_the_story_is_remembered(plain: dict[str, Any]) -> None:
    labels = {
        (row["source_id"], row["label"], row["target_id"])
        for row in plain["support"]["triples"]
    }
    assert ("dana", "lives_in", "lisbon") in labels
    ids = list_ids(plain["support"]["records"])
    assert plain["support"]["count"] == len(ids) == len(set(ids)) == 14
    assert plain["sales"]["count"] == 2


def test_doubled_messages_and_a_failing_model_change_nothing(
    plain: dict[str, Any], deploy: Deploy, other_model: ModelServer
) -> None:
    battered = deploy(deliver_twice=True)
    other_model.fail_first_of_each(first_message)
    battered.ingest_all(*story("plain"))
    battered.run()
    assert len([chat for chat in other_model.chats if chat.fault]) == len(
        story()
    )
    assert set(first_fates(battered, "IngestQueue").values()) == {"returned"}
    assert snapshot(battered, "plain", *STORY_SCOPES) == plain
    assert not any(
        delivery.broken_groups for delivery in battered.poller.deliveries
    )
    assert set(battered.poller.depths().values()) == {(0, 0, 0)}


def test_sending_everything_again_long_after_changes_nothing(
    plain: dict[str, Any], deploy: Deploy
) -> None:
    forgetful = deploy(deduplication_seconds=0)
    for _ in range(2):
        forgetful.ingest_all(*story("plain"))
        forgetful.run()
    assert snapshot(forgetful, "plain", *STORY_SCOPES) == plain


def test_a_conversation_whose_model_never_answers_is_a_dead_letter_with_its_reason(
    rehearsal: Deployment, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "reply", lambda _: "I would rather not.")
    model.fail_next(*[Fault(500, NO_RETRY)] * 50)
    rehearsal.ingest(
        conversation(
            "c-lost", "I moved to Lisbon last Friday.", workspace="lost"
        )
    )
    rehearsal.run()
    model.heal()
    (letter,) = rehearsal.poller.take("IngestDeadLetterQueue")
    assert (
        json.loads(letter["body"])["conversation"]["conversationId"]
        == "c-lost"
    )
    assert all(reason(letter))


def test_poison_on_the_ingest_queue_is_a_dead_letter_and_its_group_goes_on(
    rehearsal: Deployment,
) -> None:
    at = {"workspace": "poisoned"}
    rehearsal.ingest(conversation("c-p", "I adore gooseberries.", **at))
    rehearsal.run()
    rehearsal.poller.send(
        "IngestQueue",
        POISON,
        group_of_last(rehearsal, "IngestQueue"),
        "poison-1",
    )
    rehearsal.ingest(
        conversation(
            "c-p", "I adore gooseberries.", "Oh, and quinces as well!", **at
        )
    )
    rehearsal.run()
    (letter,) = rehearsal.poller.dead_letters("IngestQueue")
    assert letter["body"] == POISON
    assert reason(letter)[0] == "Rejected"
    assert reason(letter)[1]
    assert "Dana likes quinces." in contents(rehearsal, "poisoned", "support")
    rehearsal.poller.take("IngestDeadLetterQueue")


def test_poison_on_the_write_queue_harms_no_innocent_message(
    rehearsal: Deployment,
) -> None:
    at = {"workspace": "innocent"}
    rehearsal.ingest(conversation("c-i", "I adore gooseberries.", **at))
    rehearsal.run()
    group = "innocent:support:working"
    poisons = [
        POISON,
        "{}",
        json.dumps(
            {
                "type": "records",
                "workspaceId": "../acme",
                "agentId": "a",
                "records": [],
            }
        ),
    ]
    for number, body in enumerate(poisons):
        rehearsal.poller.send("WriteQueue", body, group, f"poison-{number}")
    rehearsal.ingest(conversation("c-i2", "Oh, and quinces as well!", **at))
    rehearsal.run()
    letters = rehearsal.poller.dead_letters("WriteQueue")
    assert sorted(letter["body"] for letter in letters) == sorted(poisons)
    assert all(all(reason(letter)) for letter in letters)
    assert {"Dana likes gooseberries.", "Dana likes quinces."} <= contents(
        rehearsal, "innocent", "support"
    )
    rehearsal.poller.take("WriteDeadLetterQueue")


class DiesInMidBatch:
    """A function whose first invocations are killed after so many seconds each, wherever they are by then."""

    def __init__(self, function: LambdaPool, *seconds: float) -> None:
        self.function = function
        self.timeouts = itertools.chain(seconds, itertools.repeat(None))
        self.killed = 0

    def invoke(self, event: Any) -> Any:
        try:
            return self.function.invoke(event, timeout=next(self.timeouts))
        except FunctionError:
            self.killed += 1
            raise


def test_a_writer_killed_in_mid_batch_loses_and_doubles_nothing(
    rehearsal: Deployment, plain: dict[str, Any]
) -> None:
    rehearsal.ingest_all(*story("killed"))
    rehearsal.functions["WriteFunction"].start()
    dying = DiesInMidBatch(
        rehearsal.functions["WriteFunction"], 0.02, 0.08, 0.2
    )
    Poller(
        rehearsal.stack, {**rehearsal.functions, "WriteFunction": dying}
    ).until_quiet()
    assert dying.killed > 0
    assert snapshot(rehearsal, "killed", *STORY_SCOPES) == plain


def test_two_writers_of_one_store_lose_no_acknowledged_row(
    rehearsal: Deployment,
) -> None:
    names = [f"c-r{number}" for number in range(12)]
    rehearsal.ingest_all(
        *(
            conversation(name, "I adore gooseberries.", workspace="raced")
            for name in names
        )
    )
    Poller(
        rehearsal.stack,
        {"ExtractFunction": rehearsal.functions["ExtractFunction"]},
    ).until_quiet()
    # One message an invocation, so that the two writers meet as often as they can.
    waiting = sorted(rehearsal.poller.take("WriteQueue"), key=group_of)
    with ThreadPoolExecutor(2) as threads:
        list(
            threads.map(
                partial(write_each, rehearsal), [waiting[::2], waiting[1::2]]
            )
        )
    (liked,) = records(rehearsal, "raced", "support")
    ids = list_ids([liked])
    assert len(ids) == len(set(ids)) == 2 * len(names)
    (triple,) = triples(rehearsal, "raced", "support")
    assert {
        each["conversationId"] for each in triple["properties"]["evidence"]
    } == set(names)


def write_each(rehearsal: Deployment, messages: list[Record]) -> None:
    """Invoke the writer for one message after the other, each until it is acknowledged."""
    for message in messages:
        answers = (
            rehearsal.functions["WriteFunction"].invoke({"Records": [message]})
            for _ in range(20)
        )
        assert any(not failures(answer, [message]) for answer in answers)


@pytest.fixture(scope="module")
def embedder() -> Iterator[ModelServer]:
    """A model that embeds too."""
    with ModelServer(extraction(SCRIPT), api_key=API_KEY) as server:
        server.dimensions = 64
        yield server


@pytest.fixture(scope="module")
def embedding(
    template: Template, image: Image, embedder: ModelServer
) -> Iterator[Deployment]:
    """A deployment that embeds over HTTP."""
    given = {**PARAMETERS, "Embedder": "openai:test-embedder:64"}
    with deployed(
        template, image, parameters=given, overrides=embedder.environment
    ) as deployment:
        yield deployment


def test_embeddings_over_http_fail_their_message_and_never_skip_it(
    embedding: Deployment, embedder: ModelServer
) -> None:
    embedder.fail_next(Fault(500, NO_RETRY, path=EMBEDDINGS))
    embedding.ingest(conversation("c-e", "I moved to Lisbon last Friday."))
    embedding.run()
    answer = embedding.search(
        "acme", "support", queryText="Dana moved to Lisbon"
    )
    assert answer["results"][0]["sourceIds"] == ["c-e-m1"]
    assert answer["searched"]["records"] == 2


def test_vectors_of_a_wrong_length_are_never_stored(
    embedding: Deployment, embedder: ModelServer
) -> None:
    embedder.fail_next(*[wrong_dimensions(3)] * 50)
    embedding.ingest(
        conversation("c-w", "I adore gooseberries.", workspace="wrong")
    )
    embedding.run()
    (letter,) = embedding.poller.dead_letters("IngestQueue")
    assert {"3", "64"} <= set(
        reason(letter)[1].replace(",", " ").replace(":", " ").split()
    )
    embedder.heal()
    assert embedding.search("wrong", "support")["results"] == []
