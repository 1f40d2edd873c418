"""Ended values rank behind their successors, only for questions about the present."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import Memory

NOW = datetime(2026, 3, 5, 10, tzinfo=UTC)
FIRST = "Hi, I'm Dana Whitfield. I work as a nurse at Brightline and I live in Porto."


def said(name: str, day: str, *texts: str) -> dict[str, Any]:
    messages = [
        {
            "id": f"m{n}",
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": f"{day}T09:{n:02}:00Z",
        }
        for n, text in enumerate(texts)
    ]
    return {"conversationId": name, "userId": "u-42", "messages": messages}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = Memory.open(tmp_path / "memory", now=NOW)
    opened.ingest(
        said(
            "c1",
            "2026-01-10",
            FIRST,
            "I like sushi. My sister Ana lives in Madrid.",
        )
    )
    opened.ingest(
        said(
            "c2",
            "2026-03-02",
            "I moved to Lisbon last week. I don't like sushi any more.",
        )
    )
    return opened


def asked(memory: Memory, text: str, **arguments: Any) -> list[str]:
    return [
        result.content
        for result in memory.search(
            text, include_superseded=True, **arguments
        ).results
    ]


def test_the_current_home_is_the_one_moved_to_last(memory: Memory) -> None:
    found = asked(memory, "where does Dana live?")
    assert "Lisbon" in found[0]
    assert found.index(f"Dana: {FIRST}") > 0


def test_a_turn_still_answers_for_its_part_that_holds(memory: Memory) -> None:
    assert "Brightline" in asked(memory, "where does Dana work?")[0]


def test_with_as_of_the_value_that_held_then_ranks_first(
    memory: Memory,
) -> None:
    assert (
        "Porto"
        in asked(memory, "where does Dana live?", as_of="2026-02-01")[0]
    )


def test_a_question_about_the_past_finds_an_ended_value(
    memory: Memory,
) -> None:
    assert any(
        "Porto" in content
        for content in asked(memory, "where did Dana live before Lisbon?")[:3]
    )


def test_a_demoted_record_is_explained_and_still_returned(
    memory: Memory,
) -> None:
    results = memory.search(
        "where does Dana live?", include_superseded=True, explain=True
    ).results
    lowered = [r for r in results if r.why.parts and "ended" in r.why.parts]
    assert [r.content for r in lowered] == [f"Dana: {FIRST}"]
    assert lowered[0].why.parts["ended"] < 0


def test_a_single_result_is_the_value_that_holds(memory: Memory) -> None:
    assert "Lisbon" in asked(memory, "where does Dana live?", max_results=1)[0]


def test_a_value_stated_again_after_it_ended_ranks_first(
    memory: Memory,
) -> None:
    memory.ingest(
        said("c3", "2026-03-04", "I moved back to Porto. I live in Porto.")
    )
    assert "Porto" in asked(memory, "where does Dana live?")[0]


def test_a_statement_that_a_value_ended_is_not_demoted(memory: Memory) -> None:
    first = asked(memory, "does Dana like sushi now?")[0]
    assert (
        "like sushi any more" in first
        or first == "Dana no longer likes sushi."
    )


def test_a_context_about_the_past_has_what_held_beside_what_holds(
    memory: Memory,
) -> None:
    block = memory.context(
        "Plan a dinner for Dana, who used to live in Porto", user_id="u-42"
    ).text
    assert "I live in Porto" in block
    assert "location: Lisbon" in block
    assert "I don't like sushi any more" in block
    assert "Brightline. (held" not in block


def test_a_value_that_starts_in_the_future_has_not_ended(
    memory: Memory,
) -> None:
    memory.ingest(said("c3", "2026-03-04", "I'm moving to Leeds on June 1st."))
    told = {"conversationId": "c3", "messageIds": ["m0"], "userId": "u-42"}
    home = {
        "source_id": "Dana Whitfield",
        "label": "lives_in",
        "target_id": "Leeds",
        "properties": told,
    }
    with memory.graph as graph:
        graph.update_facts(
            [{**home, "valid_at": datetime(2026, 6, 1, tzinfo=UTC)}]
        )
    results = memory.search(
        "where does Dana live?", include_superseded=True, explain=True
    ).results
    assert not any(
        "ended" in (r.why.parts or {}) for r in results if "Leeds" in r.content
    )
    assert "Lisbon" in results[0].content
    block = memory.context("Plan Dana's moving to Leeds", user_id="u-42").text
    assert "Leeds (2026-06-01).\n" in block
    in_june = datetime(2026, 6, 2, tzinfo=UTC)
    lowered = memory.search(
        "where does Dana live?",
        include_superseded=True,
        explain=True,
        now=in_june,
    ).results
    assert any(
        "ended" in (r.why.parts or {})
        for r in lowered
        if "Lisbon" in r.content
    )


def test_a_triple_of_another_user_ends_no_value_of_this_user(
    memory: Memory,
) -> None:
    with memory.graph as graph:
        graph.update_facts(
            [{"source_id": "Dana Whitfield", "label": "lives_in", "target_id": "Leeds",
              "properties": {"conversationId": "c9", "messageIds": ["m0"], "userId": "u-7"}}]
        )  # fmt: skip

    def lowered(**arguments: Any) -> bool:
        results = memory.search(
            "where does Dana live?",
            include_superseded=True,
            explain=True,
            **arguments,
        ).results
        return any(
            "ended" in (r.why.parts or {})
            for r in results
            if "Lisbon" in r.content
        )

    assert not lowered()
    assert not lowered(user_id="u-42")
