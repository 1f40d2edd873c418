"""The importers: every format with its odd cases, in fixtures written by hand."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.errors import Rejected
from varve.importers.formats import FORMATS, find_format, recognize_format
from varve.importers.items import (
    Faulty,
    FoundConversation,
    FoundFact,
    ImportOptions,
    Item,
    Skipped,
)
from varve.importers.json_reader import JsonReader
from varve.importers.names import AUTO, NAMES
from varve.importers.streams import read_members, read_objects

AT = datetime(2026, 3, 2, tzinfo=UTC)


def source_of(value: Any) -> io.BytesIO:
    """Return a file: of bytes, of text, of JSON."""
    if isinstance(value, bytes):
        return io.BytesIO(value)
    text = value if isinstance(value, str) else json.dumps(value)
    return io.BytesIO(text.encode())


def read(format_: str, value: Any, **options: Any) -> list[Item]:
    """Return the items of a file; the format must also be recognized."""
    source = source_of(value)
    assert recognize_format(source).name == format_
    given_options = ImportOptions(**{"name": "export", **options})
    return list(find_format(format_, source).read(source, given_options))


def conversations(items: list[Item]) -> list[Any]:
    return [
        item.value for item in items if isinstance(item, FoundConversation)
    ]


def reasons(items: list[Item]) -> list[str]:
    return [
        item.reason for item in items if isinstance(item, Skipped | Faulty)
    ]


def said(conversation: Any) -> list[tuple[str, str]]:
    return [(one["role"], one["content"]) for one in conversation["messages"]]


# ---- ChatGPT


def a_node(
    id_: str, parent: str | None, role: str | None = None, **message: Any
) -> tuple[str, dict[str, Any]]:
    node: dict[str, Any] = {"id": id_, "parent": parent, "children": ["x"]}
    if role is None:
        return id_, node | {"message": None}
    content = {"content_type": "text", "parts": [f"words of {id_}"]}
    given_message = {"id": id_, "author": {"role": role}, "content": content}
    return id_, node | {
        "message": {**given_message, "create_time": 1772442900.5, **message}
    }


def a_chat(
    *nodes: tuple[str, dict[str, Any]], **fields: Any
) -> dict[str, Any]:
    last = nodes[-1][0] if nodes else None
    chat = {"id": "c-1", "title": "A trip", "create_time": 1772442000.0}
    return {**chat, "current_node": last, "mapping": dict(nodes), **fields}


def test_chatgpt_follows_the_branch_of_the_current_node() -> None:
    chat = a_chat(
        a_node("leaf2", "ask", "assistant"),
        a_node("root", None),
        a_node("ask", "root", "user"),
        a_node("leaf1", "ask", "assistant"),
    )
    (found,) = conversations(read("chatgpt", [chat]))
    assert found["conversationId"] == "chatgpt-c-1"
    assert said(found) == [
        ("user", "words of ask"),
        ("assistant", "words of leaf1"),
    ]
    assert found["messages"][0]["timestamp"] == "2026-03-02T09:15:00.500000Z"


def test_chatgpt_without_times_takes_the_conversations() -> None:
    chat = a_chat(a_node("ask", None, "user", create_time=None))
    (found,) = conversations(read("chatgpt", [chat]))
    assert found["messages"][0]["timestamp"] == "2026-03-02T09:00:00Z"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"is_do_not_remember": True}, "marked as not to be remembered"),
        ({"memory_scope": "project_v2"}, "private memory scope 'project_v2'"),
    ],
)
def test_chatgpt_leaves_out_what_its_owner_kept_from_memory(
    fields: dict[str, Any], reason: str
) -> None:
    items = read("chatgpt", [a_chat(a_node("ask", None, "user"), **fields)])
    assert conversations(items) == []
    assert reasons(items) == [reason]


@pytest.mark.parametrize(
    "message",
    [
        {"content": {"content_type": "thoughts", "thoughts": []}},
        {"content": {"content_type": "code", "text": "x = 1"}},
        {
            "content": {
                "content_type": "user_editable_context",
                "user_profile": "x",
            }
        },
        {"recipient": "python", "author": {"role": "assistant"}},
        {"metadata": {"is_visually_hidden_from_conversation": True}},
        {"weight": 0.0},
        {"author": {"role": "tool"}},
        {"author": {"role": "system"}},
    ],
)
def test_chatgpt_leaves_out_tools_thinking_and_hidden_messages(
    message: dict[str, Any],
) -> None:
    chat = a_chat(
        a_node("ask", None, "user"), a_node("odd", "ask", "user", **message)
    )
    (found,) = conversations(read("chatgpt", [chat]))
    assert said(found) == [("user", "words of ask")]


def test_chatgpt_takes_the_words_beside_pictures_and_of_recordings() -> None:
    parts = [
        "Look at this",
        {"content_type": "image_asset_pointer", "asset_pointer": "x"},
        {"content_type": "audio_transcription", "text": "and listen"},
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    chat = a_chat(a_node("ask", None, "user", content=content))
    (found,) = conversations(read("chatgpt", [chat]))
    assert said(found) == [("user", "Look at this\nand listen")]


def test_chatgpt_with_a_circle_of_parents_ends() -> None:
    chat = a_chat(a_node("a", "b", "user"), a_node("b", "a", "assistant"))
    (found,) = conversations(read("chatgpt", [chat]))
    assert len(found["messages"]) == 2


# ---- Claude


def a_claude_message(id_: str, sender: str, **fields: Any) -> dict[str, Any]:
    message = {"uuid": id_, "sender": sender, "text": f"text of {id_}"}
    return {**message, "created_at": "2026-03-02T10:15:00+01:00", **fields}


def a_claude_chat(*messages: dict[str, Any]) -> dict[str, Any]:
    chat = {
        "uuid": "u-1",
        "name": "A trip",
        "created_at": "2026-03-02T09:00:00Z",
    }
    return {**chat, "chat_messages": list(messages)}


def test_claude_prefers_text_blocks_and_leaves_out_thinking() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Porto."},
        {"type": "tool_use", "name": "search"},
    ]
    chat = a_claude_chat(
        a_claude_message("m1", "human"),
        a_claude_message(
            "m2", "assistant", content=blocks, text="placeholder"
        ),
    )
    items = read("claude", [chat])
    (found,) = conversations(items)
    assert said(found) == [("user", "text of m1"), ("assistant", "Porto.")]
    assert found["messages"][0]["timestamp"] == "2026-03-02T09:15:00Z"
    assert reasons(items) == [
        "content of type thinking",
        "content of type tool_use",
    ]


def test_claude_takes_the_newest_of_several_branches() -> None:
    chat = a_claude_chat(
        a_claude_message("m1", "human"),
        a_claude_message("m2", "assistant", parent_message_uuid="m1"),
        a_claude_message("m3", "assistant", parent_message_uuid="m1"),
    )
    (found,) = conversations(read("claude", [chat]))
    assert [one["id"] for one in found["messages"]] == ["m1", "m3"]


# ---- Claude Code


def an_event(id_: str, type_: str, content: Any, **fields: Any) -> str:
    event = {"uuid": id_, "type": type_, "sessionId": "s-1"}
    message = {"role": type_, "content": content}
    timed = {
        **event,
        "timestamp": "2026-03-02T09:15:00.123Z",
        "message": message,
    }
    return json.dumps({**timed, **fields})


def test_claude_code_reads_sessions_without_tools_and_side_chains() -> None:
    result = [{"type": "tool_result", "content": "42"}]
    lines = [
        json.dumps({"type": "summary", "summary": "x", "leafUuid": "u"}),
        an_event("a", "user", "Fix the test"),
        an_event("b", "assistant", [{"type": "text", "text": "Done."}]),
        an_event("b", "assistant", [{"type": "text", "text": "Done."}]),
        an_event("c", "user", result),
        an_event("d", "user", "side", isSidechain=True),
        an_event("e", "user", "other", sessionId="s-2"),
    ]
    items = read("claude-code", "\n".join(lines))
    first, second = conversations(items)
    assert said(first) == [("user", "Fix the test"), ("assistant", "Done.")]
    assert second["conversationId"] == "claude-code-s-2"
    assert "content of type tool_result" in reasons(items)


# ---- chats


def test_jsonl_needs_a_time_and_leaves_out_tools() -> None:
    line = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {"role": "assistant", "content": "Hi", "tool_calls": []},
        ]
    }
    lines = "\n".join([json.dumps(line)] * 2)
    untimed = "messages without a time: give one with --at"
    told = sorted(reasons(read("jsonl", lines)))
    assert told == [untimed] * 4 + ["role system"] * 2
    first, again = conversations(read("jsonl", lines, at=AT))
    assert first == again
    assert said(first) == [("user", "Hello"), ("assistant", "Hi")]


def test_openai_takes_a_list_of_messages() -> None:
    messages = [{"role": "user", "content": "Hello", "name": "Dana"}]
    (found,) = conversations(read("openai", messages, at=AT, user="u-1"))
    assert found["userId"] == "u-1"
    assert found["messages"][0]["name"] == "Dana"


def test_openai_takes_one_message_alone() -> None:
    message = {"role": "user", "content": "I live in Rome."}
    (found,) = conversations(read("openai", message, at=AT))
    assert said(found) == [("user", "I live in Rome.")]
    assert reasons(read("openai", message)) == [
        "messages without a time: give one with --at"
    ]


# ---- mem0, Letta, AgentCore


def test_mem0_memories_become_messages_of_their_users() -> None:
    memory = {
        "id": "7",
        "memory": "Lives in Porto",
        "user_id": "u-1",
        "created_at": "2026-03-02T01:15:00-08:00",
        "metadata": None,
    }
    dated = {**memory, "id": "8", "metadata": {"event_date": "2025-01-02"}}
    faulty = {"id": "9", "user_id": "u-1"}
    items = read("mem0", {"results": [memory, dated, faulty]})
    (found,) = conversations(items)
    assert found["userId"] == "u-1"
    times = [one["timestamp"] for one in found["messages"]]
    assert times == ["2026-03-02T09:15:00Z", "2025-01-02T00:00:00Z"]
    assert reasons(items) == ["has no text under 'memory'"]


def test_letta_messages_are_read_and_blocks_are_counted() -> None:
    message = {
        "id": "m1",
        "role": "user",
        "content": "Hello",
        "created_at": "2026-03-02",
    }
    system = {
        "id": "m0",
        "role": "system",
        "content": "x",
        "created_at": "2026-03-02",
    }
    agents = [
        {"name": "ezra", "messages": [system, message]},
        {"messages": None},
    ]
    items = read("letta", {"agents": agents, "blocks": [{"label": "human"}]})
    (found,) = conversations(items)
    assert found["conversationId"] == "letta-ezra"
    assert said(found) == [("user", "Hello")]
    assert "memory block: a note, not a message" in reasons(items)


def test_agentcore_events_become_sessions_in_their_order() -> None:
    def event(id_: str, at: Any, role: str, words: str) -> dict[str, Any]:
        conversational = {"role": role, "content": {"text": words}}
        own = {"actorId": "dana", "sessionId": "s1", "eventId": id_}
        payload = [{"conversational": conversational}, {"blob": "x"}]
        return {**own, "eventTimestamp": at, "payload": payload}

    events = [
        event("0002", 1772442960, "ASSISTANT", "Enjoy!"),
        event("0001", "2026-03-02T09:15:00Z", "USER", "I moved."),
    ]
    items = read("agentcore", {"events": events})
    (found,) = conversations(items)
    assert found["userId"] == "dana"
    assert said(found) == [("user", "I moved."), ("assistant", "Enjoy!")]
    assert reasons(items).count("payload that is no message") == 2


# ---- Graphiti


def test_graphiti_edges_become_facts_with_their_intervals() -> None:
    edge = {
        "uuid": "e1",
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
        "name": "LIVES_IN",
        "fact": "Dana lives in Lisbon",
        "episodes": ["p1"],
        "valid_at": "2025-01-01T00:00:00Z",
        "invalid_at": "2026-03-01T00:00:00Z",
    }
    graph = {
        "edges": [edge, {**edge, "target_node_uuid": "missing"}],
        "nodes": [
            {"uuid": "n1", "name": "Dana"},
            {"uuid": "n2", "name": "Lisbon"},
        ],
        "episodes": [
            {"uuid": "p1", "content": "I live in Lisbon", "valid_at": "2025"}
        ],
    }
    items = read("graphiti", graph, at=AT)
    began, ended = [item for item in items if isinstance(item, FoundFact)]
    assert (began.op, ended.op) == ("ADD", "DELETE")
    assert began.value["valid_at"] == "2025-01-01T00:00:00Z"
    assert ended.value["valid_at"] == "2026-03-01T00:00:00Z"
    assert began.value["properties"]["messageIds"] == ["p1"]
    assert reasons(items) == ["names a node that the file does not hold"]


# ---- texts


IOS = """\u200e[21/03/2026, 9:15:02\u202fPM] Dana: I moved to Lisbon
and I like it
[21/03/2026, 21:16:00] Dana: \u200eimage omitted
[21/03/2026, 21:17:00] Messages are end-to-end encrypted.
[22/03/2026, 08:00:00] Ana Ruiz: Good: very good
"""


def test_whatsapp_reads_days_speakers_and_lines_that_go_on() -> None:
    items = read("whatsapp", IOS)
    first, second = conversations(items)
    assert said(first) == [("user", "I moved to Lisbon\nand I like it")]
    assert first["messages"][0]["name"] == "Dana"
    assert first["messages"][0]["timestamp"] == "2026-03-21T21:15:02Z"
    assert said(second) == [("user", "Good: very good")]
    assert reasons(items) == ["notice of the program, or a file"] * 2


def test_whatsapp_knows_the_order_of_day_and_month_by_a_number_over_12() -> (
    None
):
    american = "3/2/26, 09:15 - Dana: One\n3/21/26, 09:15 - Dana: Two\n"
    times = [
        one["messages"][0]["timestamp"]
        for one in conversations(read("whatsapp", american))
    ]
    assert times == ["2026-03-02T09:15:00Z", "2026-03-21T09:15:00Z"]


def test_a_grown_whatsapp_chat_keeps_its_ids() -> None:
    def ids(text: str) -> set[str]:
        found = conversations(read("whatsapp", text))
        return {one["id"] for chat in found for one in chat["messages"]}

    assert ids(IOS) < ids(IOS + "[23/03/2026, 08:00:00] Dana: More\n")


def test_markdown_headings_hold_the_dates() -> None:
    journal = (
        "before\n\n# Log 2026-03-02\n\n**Dana:** I moved.\n\nA thought\nof two lines\n\n"
        "## 2026-03-03\nAssistant: Enjoy!\n"
    )
    items = read("markdown", journal)
    first, second = conversations(items)
    assert said(first) == [
        ("user", "I moved."),
        ("user", "A thought\nof two lines"),
    ]
    assert first["messages"][0]["name"] == "Dana"
    assert said(second) == [("assistant", "Enjoy!")]
    assert reasons(items) == ["words without a date"]


@pytest.mark.parametrize(
    "heading",
    [
        "6 January 2026",
        "Jan 6, 2026",
        "Jan. 6, 2026",
        "Tuesday, January 6th, 2026",
        "6 de enero de 2026",
        "Notes of 2026/01/06",
    ],
)
def test_markdown_headings_may_tell_the_day_in_words(heading: str) -> None:
    items = read("markdown", f"# {heading}\nI planted leeks.\n")
    (one,) = conversations(items)
    assert one["messages"][0]["timestamp"] == "2026-01-06T00:00:00Z"


@pytest.mark.parametrize(
    "heading", ["6 January", "January 2026", "30 February 2026", "Garden"]
)
def test_a_markdown_heading_without_a_full_date_is_a_message(
    heading: str,
) -> None:
    journal = f"# 2026-01-05\nI planted garlic.\n\n## {heading}\nIt rains.\n"
    (one,) = conversations(read("markdown", journal))
    assert said(one) == [
        ("user", "I planted garlic."),
        ("user", heading),
        ("user", "It rains."),
    ]


# ---- recognition and streams


def test_a_text_of_no_format_is_told_the_signs_of_each() -> None:
    with pytest.raises(Rejected) as refused:
        recognize_format(source_of("Dear diary,\n"))
    for one in FORMATS:
        assert one.name in refused.value.reason


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(
        Rejected, match=r"--format: 'slack' is not one of auto, varve"
    ):
        find_format("slack", source_of("x"))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.text(max_size=20), children, max_size=4)
    ),
    max_leaves=20,
)


class SmallReads(io.BytesIO):
    """A file that gives a few bytes at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(3, size) if size and size > 0 else 3)


@given(st.lists(JSON_VALUES, max_size=6), st.booleans())
def test_an_array_read_in_pieces_is_the_array(
    values: list[Any], indent: bool
) -> None:
    data = json.dumps(values, indent=2 if indent else None).encode()
    reader = JsonReader(SmallReads(data))
    assert list(reader.read_elements()) == values
    reader.require_end()


@given(
    st.dictionaries(
        st.text(max_size=20),
        st.lists(JSON_VALUES, min_size=1, max_size=4),
        max_size=4,
    )
)
def test_members_read_in_pieces_are_the_object(value: dict[str, Any]) -> None:
    found: dict[str, list[Any]] = {}
    for key, element in read_members(source_of(value)):
        found.setdefault(key, []).append(element)
    assert found == value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'[{"a": 1},\n {"b" 2}]', "line 2, column 6"),
        (b'[{"a": 1}', "Expecting ','"),
        (b"[1] x", "Extra data"),
        (b"[" * 100_000, "nested too deeply"),
        (b'["\xf3"]', "not valid UTF-8"),
    ],
)
def test_a_fault_is_named_with_its_place(data: bytes, reason: str) -> None:
    with pytest.raises(Rejected) as refused:
        list(read_objects(io.BytesIO(data)))
    assert reason in refused.value.reason


GOOD_LINES = {
    "varve": [
        {"conversationId": f"c-{n}", "messages": [{"role": "user"}]}
        for n in (1, 3)
    ],
    "jsonl": [
        {"messages": [{"role": "user", "content": words}]}
        for words in ("I moved.", "Me he mudado.")
    ],
    "claude-code": [
        {
            "sessionId": f"s-{n}",
            "type": "user",
            "uuid": f"u-{n}",
            "message": {"content": f"Words {n}"},
        }
        for n in (1, 3)
    ],
}


@pytest.mark.parametrize("format_", GOOD_LINES)
@pytest.mark.parametrize(
    ("faulty", "reason"),
    [
        (b'{"conversationId": ', "is not valid JSON (line 2, column 20"),
        (b'{"a": 1, "a": 2}', "is not valid JSON (line 2: "),
        (b'{"a": "Lisb\xf3n"}', "is not valid UTF-8 (at byte 11 of line 2)"),
    ],
)
def test_a_faulty_line_is_named_and_the_lines_after_it_are_read(
    format_: str, faulty: bytes, reason: str
) -> None:
    first, last = (json.dumps(one).encode() for one in GOOD_LINES[format_])
    items = read(format_, b"\n".join([first, faulty, last]), at=AT)
    assert len(conversations(items)) == 2
    (fault,) = reasons(items)
    assert fault.startswith(reason)


def test_an_array_is_read_one_element_at_a_time() -> None:
    """The reader asks for more of the file only when it needs it."""
    element = json.dumps({"text": "x" * 1_000})
    data = ("[" + ",".join([element] * 2_000) + "]").encode()
    source = io.BytesIO(data)
    elements = read_objects(source)
    next(elements)
    assert source.tell() < len(data) / 4


def test_the_names_shown_are_those_of_the_formats() -> None:
    assert (AUTO, *(one.name for one in FORMATS)) == NAMES
