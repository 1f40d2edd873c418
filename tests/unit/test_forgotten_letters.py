"""What is forgotten goes from dead letters and claim checks: outcomes too, and all that a group holds."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.builders import ACME, RecordingQueue, a_conversation
from tests.support.traffic import Simulation
from varve.adapters.in_memory import (
    InMemoryDeadLetterBox,
    InMemoryDeadLetters,
    InMemoryObjects,
)
from varve.domain.erasure import Selector, Tombstones
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.messages.erasure import ERASED, forgotten_share
from varve.messages.ingest import IngestMessage, read_ingest, send_ingest
from varve.messages.outcome import read_outcome, send_outcome
from varve.ports.queues import Delivery, Letter
from varve.usecases.erasure.sweep import sweep_payloads

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
BARRED = Tombstones(key="k").with_subject(Selector(user="u-dana"), NOW)


def a_report(
    user: str = "u-dana",
    words: str = "Dana lives in Kumquatville.",
    **given: Any,
) -> Report:
    return Report(
        "c-1",
        Outcome.FAILURE,
        NOW,
        NOW,
        words,
        user_id=user,
        conversation_id="c-1",
        **given,
    )


def sent_outcome(report: Report, objects: InMemoryObjects) -> Delivery:
    queue = RecordingQueue()
    send_outcome(ACME, report, queue=queue, objects=objects)
    return queue.sent[0]


def test_invariant_8_a_dead_letter_with_the_outcome_of_somebody_forgotten_is_dropped() -> (
    None
):
    objects = InMemoryObjects()
    hers, his = (
        sent_outcome(a_report(user), objects).body
        for user in ("u-dana", "u-marco")
    )
    assert forgotten_share(hers, ACME, BARRED) == "all"
    assert forgotten_share(his, ACME, BARRED) == "none"
    assert forgotten_share(hers, Scope("acme", "sales"), BARRED) == "none"
    tomorrow = NOW + timedelta(days=1)
    later = sent_outcome(
        replace(a_report(), at=tomorrow, created_at=tomorrow), objects
    )
    assert forgotten_share(later.body, ACME, BARRED) == "none", (
        "she has come back"
    )


def test_invariant_8_an_outcome_on_its_way_in_a_claim_check_loses_its_words() -> (
    None
):
    objects = InMemoryObjects()
    words = "Dana" + "\x01" * 9_990  # what JSON escapes takes six bytes
    used = tuple(f"{number:03}" + "\U0001f340" * 120 for number in range(200))
    delivery = sent_outcome(
        a_report(words=words, decision=words, resolution=words, used=used),
        objects,
    )
    assert "payload" in json.loads(delivery.body)
    assert read_outcome(delivery, objects=objects) is not None
    (key,) = sweep_payloads(ACME, BARRED, objects=objects)
    assert json.loads(objects.get(key).data) == ERASED
    assert read_outcome(delivery, objects=objects) is None


@pytest.mark.parametrize(
    ("selector", "messages", "mixed", "left"),
    [
        (Selector(user="u-dana"), [], [], ["other"]),
        (Selector(conversation="c-1"), [], [], ["other"]),
        (Selector(ids=("fact-1",)), [("c-1", "m2")], [], ["other"]),
        (Selector(ids=("fact-1",)), [("c-2", "m2")], [], ["hers", "other"]),
        (Selector(user="u-nobody"), [], ["c-1"], ["other"]),
        (Selector(user="u-nobody"), [], [], ["hers", "other"]),
    ],
)
def test_invariant_8_a_checkpoint_of_what_was_read_goes_with_anything_in_it_that_is_forgotten(
    selector: Selector,
    messages: list[tuple[str, str]],
    mixed: list[str],
    left: list[str],
) -> None:
    objects = InMemoryObjects()
    hers = {
        "conversationId": "c-1",
        "messageIds": ["m1", "m2"],
        "userIds": ["u-marco", "u-dana"],
    }
    other = {
        "conversationId": "c-9",
        "messageIds": ["m1", "m2"],
        "userIds": ["u-marco"],
    }
    for name, body in (("hers", hers), ("other", other)):
        objects.put(
            f"payloads/{ACME}/extractions/{name}", json.dumps(body).encode()
        )
    barred = Tombstones(key="k").with_subject(selector, NOW, messages=messages)
    sweep_payloads(ACME, barred, mixed, objects=objects)
    assert [
        info.key.rpartition("/")[2] for info in objects.list("payloads")
    ] == left


@pytest.mark.parametrize(
    "scope",
    [Scope("acme", "extractions"), Scope("extractions", "summaries")],
    ids=str,
)
def test_invariant_1_an_agent_may_be_called_like_a_folder_and_loses_no_claim_check(
    scope: Scope,
) -> None:
    queue, objects = RecordingQueue(), InMemoryObjects()
    texts = [f"{number} " + "w" * 100_000 for number in range(3)]
    conversation = a_conversation(
        *texts,
        userId="u-marco",
        workspaceId=scope.workspace,
        agentId=scope.agent,
    )
    send_ingest(
        IngestMessage(conversation, (), NOW), queue=queue, objects=objects
    )
    assert sweep_payloads(scope, BARRED, objects=objects) == []
    message = read_ingest(queue.sent[0], objects=objects)
    assert isinstance(message, IngestMessage)
    assert [said.text for said in message.conversation.messages] == texts


class TenAtATime(InMemoryDeadLetterBox):
    """Shows of what there is the first ten, as SQS does of a group."""

    def letters(self) -> list[Letter]:
        return super().letters()[:10]


def test_invariant_8_dead_letters_behind_the_first_ten_of_their_group_are_dropped_as_well() -> (
    None
):
    dead = InMemoryDeadLetters()
    for number in range(25):
        report = a_report(
            "u-marco" if number in (3, 14) else "u-dana",
            f"Dana said {number}.",
        )
        body = sent_outcome(report, InMemoryObjects()).body
        dead.send(
            Delivery(str(number), body, "g"),
            Rejected("message", "is malformed"),
        )
    boxes = {"ingest": TenAtATime(dead, RecordingQueue())}
    sim = Simulation({}, NOW, dead_letter_boxes=boxes)
    done = sim.app.forget(
        ACME, Selector(user="u-dana"), NOW, patience=timedelta(0)
    )
    assert "23 dead letters were dropped." in done.notes
    assert [json.loads(d.body)["userId"] for d, _ in dead.letters] == [
        "u-marco",
        "u-marco",
    ]


@pytest.mark.parametrize(
    "error",
    [Misconfigured("queue: AccessDenied"), Retryable("queue: no answer")],
    ids=str,
)
def test_dead_letters_that_cannot_be_looked_at_are_told_in_the_receipt(
    error: Exception,
) -> None:
    class Closed(InMemoryDeadLetterBox):
        def letters(self) -> list[Letter]:
            raise error

    dead = InMemoryDeadLetters()
    dead.send(
        Delivery("1", sent_outcome(a_report(), InMemoryObjects()).body, "g"),
        Rejected("message", "is not"),
    )
    boxes = {
        "ingest": Closed(dead, RecordingQueue()),
        "write": TenAtATime(dead, RecordingQueue()),
    }
    sim = Simulation({}, NOW, dead_letter_boxes=boxes)
    done = sim.app.forget(
        ACME, Selector(user="u-dana"), NOW, patience=timedelta(0)
    )
    assert done.receipt is not None
    stored = sim.parts.objects.get(done.receipt)
    assert json.loads(stored.data)["notes"] == list(done.notes)
    assert any("INGEST" in note and str(error) in note for note in done.notes)
    assert dead.letters == [], "the others' are looked at all the same"
