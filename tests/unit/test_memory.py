"""The Python face: what is given by mistake is refused by name, what people naturally hand over is taken."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from varve import Memory, Misconfigured, Rejected
from varve.domain.search.query import parse_search_request

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
A_FACT = {"source_id": "Dana", "label": "knows", "target_id": "Marco"}
NAIVE = datetime(2026, 3, 3, 12)  # noqa: DTZ001 - the mistake that is looked for


def a_message(**fields: Any) -> dict[str, Any]:
    return {
        "role": "user",
        "name": "Dana",
        "content": "I live in Porto.",
        **fields,
    }


def a_conversation(name: str = "c-1", **fields: Any) -> dict[str, Any]:
    return {"conversationId": name, "messages": [a_message(**fields)]}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, now=NOW, environment={})


WRONG: list[tuple[str, Callable[[Memory], object]]] = [
    ("userID", lambda memory: memory.ingest({**a_conversation(), "userID": "u-1"})),
    ("messages[0].Timestamp", lambda memory: memory.ingest(a_conversation(Timestamp="2026-03-02"))),
    ("user_id", lambda memory: memory.search("Porto", user_id="")),
    ("user_id", lambda memory: memory.list(user_id="")),
    ("user_id", lambda memory: memory.load_context(user_id="")),
    ("user_id", lambda memory: memory.delete(user_id="", where={"a": 1})),
    ("user_id", lambda memory: memory.review(user_id="")),
    ("user_id", lambda memory: memory.periods(user_id="")),
    ("conversation_id", lambda memory: memory.search("Porto", conversation_id="")),
    ("record_id", lambda memory: memory.get(None)),  # type: ignore[arg-type]
    ("record_id", lambda memory: memory.correct(None, "x")),  # type: ignore[arg-type]
    ("text", lambda memory: memory.remember(None)),  # type: ignore[arg-type]
    ("depth", lambda memory: memory.show("fact-1", depth=-1)),
    ("query", lambda memory: memory.propose_forget(None)),  # type: ignore[arg-type]
    ("query", lambda memory: memory.forget(query=5)),  # type: ignore[arg-type]
    ("query", lambda memory: memory.sql(None)),  # type: ignore[arg-type]
    ("limit", lambda memory: memory.recall_experience("x", limit="3")),  # type: ignore[arg-type]
    ("key", lambda memory: memory.set_profile(None, "x")),  # type: ignore[arg-type]
    ("month", lambda memory: memory.report(None)),  # type: ignore[arg-type]
    ("since", lambda memory: memory.costs(since="2026-03-01")),  # type: ignore[arg-type]
    ("DIR", lambda memory: memory.export("")),
    ("directory", lambda memory: memory.import_(None)),  # type: ignore[arg-type]
    ("target", lambda memory: memory.publish(None)),  # type: ignore[arg-type]
    ("conversation", lambda memory: memory.ingest("I live in Porto.")),
    ("conversation", lambda memory: memory.ingest(None)),
    ("[0].conversationId", lambda memory: memory.ingest([a_message()])),
    ("[1].messages[0].role", lambda memory: memory.ingest([a_conversation(), a_conversation(role="ai")])),
    ("[1].agentId", lambda memory: memory.ingest([a_conversation(), {**a_conversation(), "agentId": "x"}])),
    ("messages[0].timestamp", lambda memory: memory.ingest(a_conversation(timestamp=NAIVE))),
    ("now", lambda memory: memory.ingest(a_conversation(), now=NAIVE)),
    ("now", lambda memory: memory.search("Porto", now=NAIVE)),
    ("now", lambda memory: memory.context("Porto", now=NAIVE)),
    ("now", lambda memory: memory.profile(now=NAIVE)),
    ("now", lambda memory: memory.summarize(now=NAIVE)),
    ("now", lambda memory: memory.cleanup(now="2026-03-03")),
    ("now", lambda _: Memory.open("nowhere", now=NAIVE)),
    ("now", lambda _: Memory.open("nowhere", now=datetime.now, environment={}).summarize()),
    ("workspace", lambda _: Memory.open("nowhere", workspace=None)),
    ("documents", lambda memory: memory.context("Porto", documents="one")),
    ("value", lambda memory: memory.set_profile("name", 5)),
    ("user", lambda memory: memory.forget(user=5)),
    ("ids", lambda memory: memory.forget(ids="fact-1")),
    ("value", lambda memory: memory.configure("plan", 5)),
    ("at", lambda memory: memory.record_outcome("c-1", "SUCCESS", at=NAIVE)),
    ("used", lambda memory: memory.record_outcome("c-1", "SUCCESS", used="episode-1")),
    ("decision", lambda memory: memory.record_outcome("c-1", "SUCCESS", decision="\ud800")),
    ("situation", lambda memory: memory.recall_experience("\ud800")),
    ("name", lambda memory: memory.graph.neighbours("\ud800")),
    ("b", lambda memory: memory.graph.paths("Dana", "\ud800")),
    ("limit", lambda memory: memory.recall_experience("it times out", limit=0)),
    ("now", lambda memory: memory.experience.forget_unread(now=NAIVE)),
    ("as_of", lambda memory: memory.graph.entity("Dana", as_of=NAIVE)),
    ("facts", lambda memory: memory.graph.insert_facts("Dana")),
    ("facts[0]", lambda memory: memory.graph.insert_facts(["Dana"])),
    ("facts[0].valid_at", lambda memory: memory.graph.insert_facts([{**A_FACT, "valid_at": NAIVE}])),
]  # fmt: skip


@pytest.mark.parametrize(("field", "call"), WRONG)
def test_what_is_given_by_mistake_is_refused_by_name_and_changes_nothing(
    memory: Memory,
    tmp_path: Path,
    field: str,
    call: Callable[[Memory], object],
) -> None:
    with pytest.raises(Rejected) as refused:
        call(memory)
    assert refused.value.field == field
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_argument_is_an_error_at_run_time(memory: Memory) -> None:
    with pytest.raises(TypeError, match="limit"):
        memory.search("Porto", limit=5)  # type: ignore[call-arg]


def test_an_unknown_argument_of_the_tool_is_told_the_names_as_its_caller_spells_them(
    memory: Memory,
) -> None:
    with pytest.raises(
        Rejected, match=r"there are query_text, grain, .*max_results"
    ):
        parse_search_request({"query_text": "Porto", "limit": 5})


def test_times_may_be_datetimes_with_a_zone_and_conversations_any_iterable(
    memory: Memory,
) -> None:
    said = datetime(2026, 3, 2, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    done = memory.ingest(
        a_conversation(name, timestamp=said) for name in ("c-1", "c-2")
    )
    assert (
        done.accepted.conversations,
        done.stored and done.stored.messages,
    ) == (2, 2)
    assert {r.event_time for r in memory.search(None).results} == {
        "2026-03-01T23:30:00Z"
    }
    again = memory.ingest(a_conversation(timestamp="2026-03-01T23:30:00Z"))
    assert again.stored is not None
    assert again.stored.messages == 0


def test_an_empty_store_is_refused_and_names_the_argument() -> None:
    with pytest.raises(Misconfigured, match="store: is empty"):
        Memory.open("", environment={})


def test_fields_in_snake_case_are_read(memory: Memory) -> None:
    told = a_conversation(user_id="u-2") | {"user_id": "u-1", "userTier": "x"}
    memory.ingest(told)
    assert {one.user_id for one in memory.list().records} == {"u-2"}
