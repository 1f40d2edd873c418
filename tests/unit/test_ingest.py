"""A conversation is accepted when it is durable on the queue, and not before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.builders import (
    MORNING,
    Failing,
    RecordingQueue,
    a_conversation,
    raw_conversation,
    raw_message,
)
from tests.support.usecase_drivers import run_ingest
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.conversation import (
    MAX_MESSAGES,
    Conversation,
    parse_conversation,
)
from varve.domain.errors import Rejected, Retryable
from varve.messages.ingest import IngestMessage, read_ingest
from varve.usecases.ingest.ingest import (
    CHARACTERS_PER_PART,
    CONTEXT_MESSAGES,
    MESSAGES_PER_PART,
    IngestOutcome,
    read_event,
)


class Gate:
    """The ingest verb with a queue and objects, and what lies on the queue."""

    def __init__(self) -> None:
        self.queue, self.objects = RecordingQueue(), InMemoryObjects()

    def ingest(
        self, *conversations: Conversation, hours: int = 0, queue: Any = None
    ) -> IngestOutcome:
        now = MORNING + timedelta(hours=hours)
        return run_ingest(
            conversations, now, queue=queue or self.queue, objects=self.objects
        )

    @property
    def parts(self) -> list[IngestMessage]:
        return [
            read_ingest(delivery, objects=self.objects)
            for delivery in self.queue.sent
        ]


def texts(messages: Any) -> list[str]:
    return [message.text for message in messages]


def test_an_accepted_conversation_is_on_the_queue_with_the_time_it_came() -> (
    None
):
    gate, conversation = (
        Gate(),
        a_conversation("I moved to Lisbon.", "And I like it."),
    )
    outcome = gate.ingest(conversation)
    (part,) = gate.parts
    assert outcome == IngestOutcome(
        1, messages=2, correlation_ids=(part.correlation_id,)
    )
    assert part.conversation.as_json() == conversation.as_json()
    assert (part.context, part.received_at) == ((), MORNING)


def test_fault_the_same_conversation_sent_later_has_the_same_deduplication_ids() -> (
    None
):
    gate, conversation = (
        Gate(),
        a_conversation(*(f"message {i}" for i in range(100))),
    )
    gate.ingest(conversation)
    gate.ingest(parse_conversation(conversation.as_json()), hours=3)
    ids = gate.queue.deduplication_ids
    assert ids[:3] == ids[3:]
    assert len(set(ids)) == 3


def test_ten_thousand_messages_travel_in_order_in_one_group_and_in_bounded_parts() -> (
    None
):
    gate = Gate()
    said = [f"message {i}" for i in range(MAX_MESSAGES)]
    outcome = gate.ingest(a_conversation(*said))
    names = tuple(part.correlation_id for part in gate.parts)
    assert outcome == IngestOutcome(1, MAX_MESSAGES, names)
    assert len(set(names)) == MAX_MESSAGES // MESSAGES_PER_PART
    assert [
        text
        for part in gate.parts
        for text in texts(part.conversation.messages)
    ] == said
    assert (
        max(len(part.conversation.messages) for part in gate.parts)
        == MESSAGES_PER_PART
    )
    assert set(gate.queue.groups) == {"acme:support:c-1"}
    assert len(set(gate.queue.deduplication_ids)) == len(names)


def test_a_part_says_no_more_than_one_run_of_the_extractor_can_read() -> None:
    gate = Gate()
    said = [
        "w" * size
        for size in (900_000, 3, CHARACTERS_PER_PART - 3, 1, 900_000, 2)
    ]
    gate.ingest(a_conversation(*said))
    parts = [
        [len(text) for text in texts(part.conversation.messages)]
        for part in gate.parts
    ]
    assert parts == [
        [900_000],
        [3, CHARACTERS_PER_PART - 3],
        [1],
        [900_000],
        [2],
    ]


def test_each_part_carries_the_few_messages_before_it() -> None:
    gate = Gate()
    said = [f"message {i}" for i in range(2 * MESSAGES_PER_PART + 1)]
    gate.ingest(a_conversation(*said))
    for index, part in enumerate(gate.parts):
        start = index * MESSAGES_PER_PART
        assert (
            texts(part.context)
            == said[max(0, start - CONTEXT_MESSAGES) : start]
        )


def test_the_parts_know_the_conversations_user_and_beginning() -> None:
    gate = Gate()
    gate.ingest(
        a_conversation(*map(str, range(50)), startedAt="2026-01-01T00:00:00Z")
    )
    assert {part.conversation.user_id for part in gate.parts} == {"u-42"}
    assert (
        len({part.conversation.started_at for part in gate.parts} - {None})
        == 1
    )


def test_a_grown_conversation_repeats_no_whole_part_under_another_id() -> None:
    gate = Gate()
    gate.ingest(a_conversation(*map(str, range(MESSAGES_PER_PART))))
    gate.ingest(a_conversation(*map(str, range(MESSAGES_PER_PART + 5))))
    first, again, rest = gate.queue.deduplication_ids
    assert first == again != rest


def test_one_group_for_each_conversation() -> None:
    gate = Gate()
    gate.ingest(
        a_conversation("a"),
        a_conversation("b", conversationId="c-2"),
        a_conversation("c", agentId="sales"),
    )
    assert gate.queue.groups == [
        "acme:support:c-1",
        "acme:support:c-2",
        "acme:sales:c-1",
    ]


def test_invariant_1_a_conversation_is_not_accepted_when_the_queue_fails() -> (
    None
):
    gate = Gate()
    failing = Failing(gate.queue, Retryable("queue: down"), 2)
    with pytest.raises(Retryable, match="queue: down"):
        gate.ingest(a_conversation(*map(str, range(90))), queue=failing)
    gate.ingest(a_conversation(*map(str, range(90))))
    assert gate.queue.deduplication_ids[0] == gate.queue.deduplication_ids[1]


def test_nothing_is_sent_when_one_of_several_has_no_place() -> None:
    gate = Gate()
    unplaced = parse_conversation(
        {"conversationId": "c", "messages": [raw_message()]}
    )
    with pytest.raises(Rejected, match="workspaceId: is missing"):
        gate.ingest(a_conversation(), unplaced)
    assert gate.queue.sent == []


def test_an_event_is_one_conversation_or_several() -> None:
    one = raw_conversation("a")
    for event in (one, [one], {"conversations": [one]}):
        assert [texts(c.messages) for c in read_event(event, MORNING)] == [
            ["a"]
        ]
    assert (
        len(
            read_event(
                [one, raw_conversation("b", conversationId="c-2")], MORNING
            )
        )
        == 2
    )


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (None, "conversation"),
        ("text", "conversation"),
        ({}, "conversationId"),
        ([], "conversations"),
        ({"conversations": []}, "conversations"),
        ({"conversations": 5}, "conversationId"),
        ([raw_conversation(), {}], "conversations[1].conversationId"),
        ({"conversations": [5]}, "conversations[0].conversation"),
        (
            [raw_conversation(raw_message(role="x"))],
            "conversations[0].messages[0].role",
        ),
    ],
)
def test_a_faulty_event_is_refused_by_the_first_faulty_field(
    event: Any, field: str
) -> None:
    with pytest.raises(Rejected) as refused:
        read_event(event, MORNING)
    assert refused.value.field == field
