"""What comes in: accepted with ids that never change, or refused with the field's name and a reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import (
    a_conversation,
    a_message,
    attempt,
    raw_conversation,
    raw_message,
)
from varve.domain.conversation import (
    MAX_MESSAGE_BYTES,
    MAX_MESSAGES,
    Conversation,
    parse_conversation,
)
from varve.domain.errors import Rejected
from varve.domain.identity import Scope

TEXT = st.text(st.characters(), max_size=8)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
NAMES = st.sampled_from(
    ["conversationId", "conversation_id", "messages", "workspaceId", "agentId", "userId", "startedAt", "role",
     "content", "id", "name", "timestamp", "type", "text", "tool_calls"]
)  # fmt: skip
VALUES = LEAVES | st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "text",
        "input_text",
        "c-1",
        "2026-03-02T09:15:00Z",
        "9999-12-31T23:59:59-11:00",
    ]
)
JSON = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES | TEXT, inner, max_size=5)
    ),
)
PARTS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"type": JSON, "text": JSON, "x": JSON}
    ),
    max_size=3,
)
NEARLY = st.fixed_dictionaries(
    {
        "conversationId": st.just("c-1") | JSON,
        "messages": st.lists(
            st.fixed_dictionaries(
                {
                    "role": st.sampled_from(["user", "assistant", "tool"])
                    | JSON,
                    "content": TEXT | PARTS | JSON,
                },
                optional={
                    "id": JSON,
                    "name": JSON,
                    "timestamp": JSON,
                    "extra": JSON,
                },
            ),
            max_size=4,
        ),
    },
    optional={"startedAt": JSON, "userId": JSON, "extra": JSON},
)


@given(JSON | NEARLY)
def test_validation_raises_nothing_but_rejected_and_what_it_accepts_can_travel(
    value: Any,
) -> None:
    conversation = attempt(parse_conversation, value)
    if isinstance(conversation, Rejected):
        assert conversation.field
        assert conversation.reason
        return
    again = parse_conversation(
        json.loads(
            json.dumps(conversation.as_json(), ensure_ascii=False).encode()
        )
    )
    assert [m.id for m in again.messages] == [
        m.id for m in conversation.messages
    ]
    assert [m.text for m in again.messages] == [
        m.text for m in conversation.messages
    ]


REFUSED: list[tuple[Any, str, str]] = [
    (None, "conversation", "must be a JSON object, not null"),
    (True, "conversation", "must be a JSON object, not a boolean"),
    ("text", "conversation", "must be a JSON object, not a string"),
    ([], "conversation", "must be a JSON object, not an array"),
    (7, "conversation", "must be a JSON object, not a number"),
    ({}, "conversationId", "is missing"),
    ({"conversationId": "c"}, "messages", "is missing"),
    (raw_conversation(conversationId="a/b"), "conversationId", "not a valid id"),
    (raw_conversation(conversationId="../../etc"), "conversationId", "not a valid id"),
    (raw_conversation(workspaceId="a..b"), "workspaceId", "not a valid id"),
    (raw_conversation(agentId=5), "agentId", "must be a string"),
    (raw_conversation(userId="a b"), "userId", "not a valid id"),
    (raw_conversation() | {"messages": []}, "messages", "must hold at least one item"),
    (raw_conversation() | {"messages": {}}, "messages", "must be an array"),
    (raw_conversation(7), "messages[0]", "must be an object"),
    (raw_conversation({"content": "hi"}), "messages[0].role", "is missing"),
    (raw_conversation("hi", raw_message(role="wizard")), "messages[1].role", "not 'wizard'"),
    (raw_conversation(raw_message(None)), "messages[0].content", "is missing"),
    (raw_conversation(raw_message(5)), "messages[0].content", "must be a string"),
    (raw_conversation(raw_message(id="a/b")), "messages[0].id", "not a valid id"),
    (raw_conversation(raw_message(name="a\nb")), "messages[0].name", "printable"),
    (raw_conversation(raw_message(name="a" * 201)), "messages[0].name", "200"),
    (raw_conversation(raw_message(timestamp="last week")), "messages[0].timestamp", "'last week' is not"),
    (raw_conversation(raw_message(timestamp=1772442900)), "messages[0].timestamp", "as a string"),
    (raw_conversation(startedAt="soon"), "startedAt", "'soon' is not an ISO 8601"),
    (raw_conversation("\ud800"), "messages[0].content", "is not valid"),
    (raw_conversation([{"type": "text", "text": "\ud800"}]), "messages[0]", "must be an object"),
    (raw_conversation(raw_message([{"type": "text", "text": "\ud800"}])), "messages[0].content", "surrogate"),
    (raw_conversation(raw_message(extra="\ud800")), "messages[0]", "not valid Unicode"),
    (raw_conversation(extra="\ud800"), "conversation", "not valid Unicode"),
    (raw_conversation("a", raw_message("x" * (MAX_MESSAGE_BYTES + 1))), "messages[1].content", "1,048,577 b"),
    (raw_conversation("é" * (MAX_MESSAGE_BYTES // 2 + 1)), "messages[0].content", "1,048,576 (1 MB)"),
    (raw_conversation(raw_message(id="m1"), raw_message("b", id="m1")), "messages[1].id", "earlier message"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "field", "reason"), REFUSED)
def test_bad_input_is_refused_by_field_and_reason(
    value: Any, field: str, reason: str
) -> None:
    with pytest.raises(Rejected) as refused:
        parse_conversation(value)
    assert refused.value.field == field
    assert reason in refused.value.reason


def test_input_nested_too_deeply_is_refused() -> None:
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    with pytest.raises(Rejected, match=r"messages\[0\]: .* nested too deeply"):
        a_conversation(raw_message(extra=deep))


def test_a_message_of_exactly_one_megabyte_is_accepted() -> None:
    assert len(a_message("x" * MAX_MESSAGE_BYTES).text) == MAX_MESSAGE_BYTES


def test_a_conversation_of_ten_thousand_messages_is_accepted_and_one_more_is_refused() -> (
    None
):
    said = [f"message {i}" for i in range(MAX_MESSAGES + 1)]
    assert len(a_conversation(*said[:-1]).messages) == MAX_MESSAGES
    with pytest.raises(
        Rejected, match=r"messages: holds 10001 items; the limit is 10000"
    ):
        a_conversation(*said)


def test_a_refusal_quotes_little_of_the_input() -> None:
    with pytest.raises(Rejected) as refused:
        a_conversation(raw_message(timestamp="secret " * 100))
    assert len(str(refused.value)) < 150


def test_the_contracts_example_is_read_as_it_is_meant() -> None:
    conversation = parse_conversation(
        {"workspaceId": "acme", "agentId": "support", "conversationId": "c-2026-03-02-1", "userId": "u-42",
         "messages": [{"id": "m1", "role": "user", "name": "Dana", "content": "I moved to Lisbon last week.",
                       "timestamp": "2026-03-02T09:15:00Z"}]}
    )  # fmt: skip
    (message,) = conversation.messages
    assert (message.id, message.name, message.text) == (
        "m1",
        "Dana",
        "I moved to Lisbon last week.",
    )
    assert message.timestamp == datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
    assert conversation.scope == Scope("acme", "support")


def test_openai_messages_come_as_they_are() -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "lookup", "arguments": "{}"},
    }
    conversation = a_conversation(
        raw_message("Be kind.", "system"),
        raw_message([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "data:"}},
                     {"type": "input_text", "text": "at this"}]),
        raw_message(None, "assistant", tool_calls=[call]),
        raw_message("{}", "tool", tool_call_id="call_1"),
    )  # fmt: skip
    assert [m.text for m in conversation.messages] == [
        "Be kind.",
        "Look:\nat this",
        "",
        "{}",
    ]
    kept = conversation.as_json()["messages"]
    assert kept[2]["tool_calls"] == [call]
    assert kept[3]["tool_call_id"] == "call_1"


@pytest.mark.parametrize(
    "part",
    [
        {"type": []},
        {"type": {"text": 1}},
        {"text": "no type"},
        {"type": "text"},
    ],
)
def test_a_content_part_of_an_unknown_shape_has_no_words(
    part: dict[str, Any],
) -> None:
    assert a_message([part]).text == ""


def test_names_may_be_written_in_snake_case() -> None:
    assert (
        parse_conversation(
            {"conversation_id": "c", "messages": [raw_message()]}
        ).conversation_id
        == "c"
    )


def test_a_conversation_is_placed_where_it_names_no_other_memory() -> None:
    unplaced = parse_conversation(
        {"conversationId": "c", "messages": [raw_message()]}
    )
    assert unplaced.in_scope(Scope("acme", "support")).scope == Scope(
        "acme", "support"
    )
    with pytest.raises(Rejected, match="workspaceId: is missing"):
        _ = unplaced.scope
    for other, field in (
        (Scope("rival", "support"), "workspaceId"),
        (Scope("acme", "sales"), "agentId"),
    ):
        with pytest.raises(Rejected, match=f"{field}: is .* belongs to"):
            a_conversation().in_scope(other)


RAW_MESSAGES = st.lists(
    st.builds(
        raw_message,
        st.sampled_from(["ok", "thanks", "I moved to Lisbon.", ""]),
        st.sampled_from(["user", "assistant"]),
    ),
    min_size=1,
    max_size=8,
)


def ids(conversation: Conversation) -> list[str | None]:
    return [message.id for message in conversation.messages]


@given(
    RAW_MESSAGES,
    st.lists(st.builds(raw_message, st.text(max_size=5)), max_size=4),
)
def test_message_ids_do_not_change_when_the_conversation_grows(
    said: list[dict[str, Any]], more: list[dict[str, Any]]
) -> None:
    short, grown = (
        ids(a_conversation(*said)),
        ids(a_conversation(*said, *more)),
    )
    assert grown[: len(short)] == short
    assert len(set(grown)) == len(grown)


@given(RAW_MESSAGES)
def test_message_ids_come_from_what_was_said_and_not_from_when_or_for_whom_it_arrived(
    said: list[dict[str, Any]],
) -> None:
    first = a_conversation(*said, startedAt="2026-03-02T09:15:00Z")
    later = a_conversation(
        *said,
        startedAt="2027-01-01T00:00:00Z",
        workspaceId="other",
        userId="u-7",
    )
    assert ids(first) == ids(later)
    assert (
        ids(first)
        == ids(parse_conversation(first))
        == ids(parse_conversation(first.as_json()))
    )


def test_invariant_2_messages_that_differ_in_anything_said_have_different_ids() -> (
    None
):
    alike = [
        raw_message("ok"),
        raw_message("OK"),
        raw_message("ok", "assistant"),
        raw_message("ok", name="Dana"),
        raw_message("ok", timestamp="2026-03-02T09:15:00Z"),
        raw_message("ok", timestamp="2026-03-03T09:15:00Z"),
    ]
    assert len({a_message(**message).id for message in alike}) == len(alike)
    assert (
        a_message("ok").id
        != a_conversation("ok", conversationId="c-2").messages[0].id
    )


def test_one_moment_in_two_notations_gives_one_id() -> None:
    assert (
        a_message(timestamp="2026-03-02T09:15:00Z").id
        == a_message(timestamp="2026-03-02T10:15:00+01:00").id
    )


def test_equal_messages_are_told_apart_by_their_place_among_equals() -> None:
    one, two = a_conversation("ok", "ok").messages
    assert one.id != two.id
    assert str(one.id)[:-1] == str(two.id)[:-1]


def test_a_given_id_is_kept() -> None:
    assert a_message(id="auth0|m:1").id == "auth0|m:1"
