"""Single statements and corrections: `remember` and `correct`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from varve import Memory
from varve.cli import main
from varve.domain.errors import Rejected
from varve.integrations.mcp_tools import Tools
from varve.messages.told import read_told

NOW = datetime(2026, 3, 9, 10, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


def said(text: str) -> dict[str, Any]:
    message = {
        "id": "m1",
        "role": "user",
        "name": "Dana",
        "content": text,
        "timestamp": "2026-03-02T09:00:00Z",
    }
    return {"conversationId": "c1", "userId": "u-42", "messages": [message]}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = Memory.open(tmp_path / "memory", now=NOW)
    opened.ingest(said("I live in Lisbon."))
    return opened


def first(memory: Memory, question: str) -> str:
    return (
        memory.search(question, user_id="u-42", now=LATER).results[0].content
    )


def find_turn(memory: Memory) -> str:
    results = memory.search(
        "where does Dana live?", memory_types=["turn"]
    ).results
    return next(result.id for result in results if "Lisbon" in result.content)


def test_a_remembered_statement_is_found(memory: Memory) -> None:
    memory.remember("my flight is LH1173", user_id="u-42")
    assert "LH1173" in first(memory, "which flight do I have?")


def test_a_user_is_remembered_under_the_name_of_their_messages(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path / "other", now=NOW)
    message = {
        "id": "m1",
        "role": "user",
        "name": "Dora",
        "content": "My bike lock code is 5522.",
        "timestamp": "2026-01-02T09:00:00Z",
    }
    memory.ingest(
        {"conversationId": "c-1", "userId": "u-1", "messages": [message]}
    )
    memory.remember("My bike lock code is 7744.", user_id="u-1")
    question = "What is my bike lock code?"
    new, old = memory.search(question, user_id="u-1").results
    assert new.content == "Dora: My bike lock code is 7744."
    assert not old.current


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-05-01", "at: must be a date and time with a time"),
        (NOW.replace(tzinfo=None), "at: must be a datetime with a time"),
    ],
)
def test_the_time_of_a_statement_needs_a_time_zone(
    memory: Memory, at: Any, told: str
) -> None:
    with pytest.raises(Rejected, match=told):
        memory.remember("I like jazz.", at=at)


def test_a_statement_remembered_twice_on_a_day_is_one(memory: Memory) -> None:
    memory.remember("my flight is LH1173", user_id="u-42")
    again = memory.remember("my flight is LH1173", user_id="u-42")
    assert again.stored is not None
    assert again.stored.messages == 0


def test_an_empty_statement_is_refused(memory: Memory) -> None:
    with pytest.raises(Rejected, match="text"):
        memory.remember("  ")


def test_a_correction_answers_and_marks_what_it_corrects(
    memory: Memory,
) -> None:
    memory.correct(find_turn(memory), "Dana lives in Porto")
    results = memory.search(
        "where does Dana live?", include_superseded=True, now=LATER
    ).results
    assert "Porto" in results[0].content
    stale = [result for result in results if "Lisbon" in result.content]
    assert stale
    assert not any(result.current for result in stale)
    assert {result.superseded_by for result in stale} == {results[0].id}


def test_a_corrected_statement_leaves_an_answer_about_the_present(
    memory: Memory,
) -> None:
    memory.correct(find_turn(memory), "Dana lives in Porto")
    results = memory.search("where does Dana live?", now=LATER).results
    assert "Porto" in results[0].content
    assert not any("Lisbon" in result.content for result in results)


def test_a_corrected_fact_leaves_context_profile_and_graph(
    memory: Memory,
) -> None:
    memory.correct(find_turn(memory), "Dana lives in Porto")
    block = memory.context("Where do I live?", user_id="u-42", now=LATER).text
    assert "Porto" in block
    assert "Lisbon" not in block
    attributes = memory.profile(user_id="u-42", now=LATER)["attributes"]
    assert "Lisbon" not in [one["value"] for one in attributes]
    held = memory.graph.entity("Dana", as_of=LATER)["facts"]
    assert "Lisbon" not in json.dumps(held)


def test_correcting_again_in_the_same_words_changes_nothing(
    memory: Memory,
) -> None:
    turn = find_turn(memory)
    memory.correct(turn, "Dana lives in Porto")
    before = memory.search("where does Dana live?", now=LATER).to_dict()[
        "results"
    ]
    again = memory.correct(turn, "Dana lives in Porto", now=LATER)
    assert again.stored is not None
    assert again.stored.messages == 0
    after = memory.search("where does Dana live?", now=LATER).to_dict()[
        "results"
    ]
    assert after == before


def test_history_keeps_what_was_corrected(memory: Memory) -> None:
    turn = find_turn(memory)
    memory.correct(turn, "Dana lives in Porto")
    results = memory.search("where did Dana live before?", now=LATER).results
    assert any("Lisbon" in result.content for result in results)
    assert memory.show(turn)["content"] == "Dana: I live in Lisbon."


def test_an_unknown_record_cannot_be_corrected(memory: Memory) -> None:
    with pytest.raises(Rejected, match="there is no record 'turn-0'"):
        memory.correct("turn-0", "Dana lives in Porto")


def test_the_id_of_a_profile_line_a_triple_or_a_summary_is_told_to_be_no_statements(
    memory: Memory,
) -> None:
    block = memory.context("Where do I live?", user_id="u-42", now=LATER)
    (line,) = [id_ for id_ in block.ids if id_.startswith("profile-")]
    told = {
        line: "search for the statement",
        "triple-0": "search for the statement",
        "summary-0": "say what holds with: remember TEXT",
    }
    for id_, message in told.items():
        with pytest.raises(Rejected, match=message):
            memory.correct(id_, "Dana lives in Porto")
        answer = Tools(memory, "u-42").answer(
            "correct", {"id": id_, "text": "Dana lives in Porto"}
        )
        assert message in str(answer["error"])


def test_forgetting_a_correction_restores_what_it_corrected(
    memory: Memory,
) -> None:
    memory.correct(find_turn(memory), "Dana lives in Porto")
    (correction,) = [
        result.conversation_id
        for result in memory.search(
            "Porto", memory_types=["turn"], now=LATER
        ).results
        if "Porto" in result.content
    ]
    memory.forget(conversation=correction)
    results = memory.search("where does Dana live?", now=LATER).results
    assert "Lisbon" in results[0].content
    assert results[0].current


def test_a_change_of_the_graph_reaches_search_and_context(
    memory: Memory,
) -> None:
    home = {"source_id": "Dana", "label": "lives_in", "target_id": "Porto"}
    with memory.graph as graph:
        graph.update_facts([home])
    results = memory.search("where does Dana live?", now=LATER).results
    assert "Porto" in results[0].content
    assert not any(one.current for one in results if "Lisbon" in one.content)
    block = memory.context(
        "Where does Dana live?", user_id="u-42", now=LATER
    ).text
    assert "Porto" in block
    assert "Lisbon" not in block


def test_a_change_of_the_profile_reaches_search_and_context(
    memory: Memory,
) -> None:
    memory.set_profile("location", "Porto", user_id="u-42")
    results = memory.search("where does Dana live?", now=LATER).results
    assert "Porto" in results[0].content
    assert not any(one.current for one in results if "Lisbon" in one.content)
    block = memory.context("Where do I live?", user_id="u-42", now=LATER).text
    assert "Porto" in block
    assert "Lisbon" not in block


def test_the_command_line_remembers_and_corrects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "cli"), "--json"]
    assert main(["remember", "I live in Lisbon", "--user", "u-1", *store]) == 0
    stored = json.loads(capsys.readouterr().out)["stored"]
    assert stored["turns"] == 1
    assert main(["search", "where do I live?", *store]) == 0
    (*_, found) = json.loads(capsys.readouterr().out)["results"]
    assert main(["correct", found["id"], "I live in Porto", *store]) == 0
    capsys.readouterr()
    assert main(["search", "where do I live?", *store]) == 0
    best = json.loads(capsys.readouterr().out)["results"][0]
    assert "Porto" in best["content"]
    assert main(["correct", "turn-0", "I live in Porto", *store]) == 2


def test_the_mcp_tool_corrects_only_its_users_records(memory: Memory) -> None:
    turn = find_turn(memory)
    wanted = {"id": turn, "text": "Dana lives in Porto"}
    other = Tools(memory, "u-1").answer("correct", wanted)
    assert other["error"]["field"] == "id"
    own = Tools(memory, "u-42").answer("correct", wanted)
    assert own["stored"]["messages"] == 1


def tell(memory: Memory, **event: Any) -> int:
    """Send an event to IngestFunction's use case; return how many messages are new."""
    given = {"workspaceId": "default", "agentId": "default", **event}
    [conversation] = read_told(given, LATER)
    stored = memory.ingest(conversation).stored
    assert stored is not None
    return stored.messages


def test_4_events_of_ingest_remember_and_correct_once(memory: Memory) -> None:
    remembered = {
        "type": "remember",
        "text": "my flight is LH1173",
        "userId": "u-42",
    }
    assert [tell(memory, **remembered) for _ in range(2)] == [1, 0]
    assert "LH1173" in first(memory, "which flight do I have?")
    corrected = {
        "type": "correct",
        "id": find_turn(memory),
        "text": "I live in Porto.",
        "userId": "u-42",
        "name": "Dana",
    }
    assert [tell(memory, **corrected) for _ in range(2)] == [1, 0]
    assert "Porto" in first(memory, "where does Dana live?")
    block = memory.context("Where do I live?", user_id="u-42", now=LATER).text
    assert "Porto" in block
    assert "Lisbon" not in block
    assert "Porto" in str(memory.profile(user_id="u-42", now=LATER))


def tell_standup(memory: Memory, turn: str, *told: tuple[str, int]) -> int:
    """Send corrections of a standup's time as events, each at an hour.

    Return how many of them memory took in.
    """
    taken_in = 0
    for time, hour in told:
        at = NOW + timedelta(hours=hour)
        event = {
            "type": "correct",
            "workspaceId": "default",
            "agentId": "default",
            "id": turn,
            "text": f"Our standup is at {time}.",
            "userId": "u-42",
            "name": "Dana",
        }
        stored = memory.ingest(read_told(event, at), now=at).stored
        assert stored is not None
        taken_in += stored.messages
    return taken_in


def list_standups(memory: Memory, *, is_current: bool) -> list[str]:
    results = memory.search(
        "When is our standup?",
        user_id="u-42",
        memory_types=["turn"],
        include_superseded=True,
        now=LATER,
    ).results
    return [
        one.content.partition(" at ")[2]
        for one in results
        if "standup" in one.content and one.current is is_current
    ]


@pytest.fixture
def standup(memory: Memory) -> str:
    """Return the id of a turn that tells the time of a standup."""
    told = said("Our standup is at 9:30.")
    memory.ingest(told | {"conversationId": "c2"})
    results = memory.search("standup", memory_types=["turn"]).results
    return next(one.id for one in results if "standup" in one.content)


def test_an_event_that_returns_to_earlier_words_corrects(
    memory: Memory, standup: str
) -> None:
    tell_standup(memory, standup, ("10:00", 1), ("9:30", 2), ("10:00", 3))
    assert list_standups(memory, is_current=True) == ["10:00."]
    tell_standup(memory, standup, ("9:30", 4))
    assert list_standups(memory, is_current=True) == ["9:30."]
    tell_standup(memory, standup, ("10:00", 5), ("9:30", 6), ("10:00", 7))
    assert list_standups(memory, is_current=True) == ["10:00."]


@pytest.mark.parametrize("again", [1, 2, 3])
def test_a_repeated_delivery_of_a_correction_changes_nothing(
    memory: Memory, standup: str, again: int
) -> None:
    events = [("10:00", 1), ("9:30", 2), ("10:00", 3)]
    tell_standup(memory, standup, *events)
    assert tell_standup(memory, standup, events[again - 1]) == 0
    assert list_standups(memory, is_current=True) == ["10:00."]


def test_an_event_in_the_words_of_the_last_correction_changes_nothing(
    memory: Memory, standup: str
) -> None:
    assert tell_standup(memory, standup, ("10:00", 1), ("9:30", 2)) == 2
    assert tell_standup(memory, standup, ("9:30", 3)) == 0
    assert list_standups(memory, is_current=True) == ["9:30."]


def test_events_with_a_time_are_kept_though_none_is_stored_before_the_next(
    memory: Memory, standup: str
) -> None:
    events = [
        {
            "type": "correct",
            "workspaceId": "default",
            "agentId": "default",
            "id": standup,
            "text": f"Our standup is at {time}.",
            "userId": "u-42",
            "name": "Dana",
            "at": (NOW + timedelta(hours=hour)).isoformat(),
        }
        for hour, time in enumerate(("10:00", "9:30", "10:00"), 1)
    ]
    sent = [read_told(one, LATER)[0] for one in events]
    memory.ingest(sent)
    assert list_standups(memory, is_current=True) == ["10:00."]
    assert len({one.conversation_id for one in sent}) == 3
    again = memory.ingest([read_told(one, LATER)[0] for one in events]).stored
    assert again is not None
    assert again.messages == 0


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({"type": "correct", "id": "summary-1", "text": "x"}, "id"),
        ({"type": "correct", "text": "x"}, "id"),
        ({"type": "remember", "text": " "}, "text"),
        ({"type": "remember", "text": "x", "when": "now"}, "when"),
    ],
)
def test_an_event_of_a_wrong_form_is_refused_by_name(
    event: dict[str, Any], field: str
) -> None:
    given = {"workspaceId": "default", "agentId": "default", **event}
    with pytest.raises(Rejected, match=field):
        read_told(given, NOW)
