"""A program without rights on the data: Memory.connect over the deployed functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.deployment import Deployment
from tests.support.nightly import choose
from tests.support.stack_api import StackApi
from varve import Memory
from varve.api import ingest_calls
from varve.api.ingest_calls import CALL_BYTES

pytestmark = pytest.mark.e2e
SHARE = choose(by_day=10, by_night=1)
"""A call takes one part in so many of its real bytes, and what is said is as much shorter."""
PRINTED = "x" * (900_000 // SHARE)
"""What a tool printed."""


def test_what_a_connected_program_says_goes_through_the_queues_and_is_found(
    rehearsal: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = {
        name: pool.invoke for name, pool in rehearsal.functions.items()
    }
    with StackApi("varve", functions) as api:
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        memory = Memory.connect("varve", workspace="far", agent="app")
        words = "I moved to Lisbon last Friday."
        said = [{"role": "user", "content": words, "state": "moving"}]
        told = memory.save_context("c-1", said, user_id="dana")
        assert (told.accepted.messages, told.stored) == (1, None)
        memory.remember("The flight is LH1173.", user_id="dana")
        report = memory.record_outcome("c-1", "success", user="dana")
        rehearsal.run()
        found = memory.search("Who moved to Lisbon?", user_id="dana")
        assert "Lisbon" in found.results[0].content
        assert "LH1173" in memory.context("The flight's number?").text
        episodes = memory.search(memory_types=["episode"]).results
        assert report.target == "c-1"
        assert [one.conversation_id for one in episodes] == ["c-1"]
        assert not any("s3" in action for action, _ in api.seen)


def test_a_conversation_over_lambdas_limit_is_stored_as_an_open_memory_stores_it(
    rehearsal: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    functions = {
        name: pool.invoke for name, pool in rehearsal.functions.items()
    }
    given = tell_at_length()
    monkeypatch.setattr(ingest_calls, "CALL_BYTES", CALL_BYTES // SHARE)
    with StackApi("varve", functions) as api:
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        memory = Memory.connect("varve", workspace="far", agent="long")
        told = memory.ingest(given)
        rehearsal.run()
        found = memory.search("Where is the flat?", user_id="dana").to_dict()
        calls = [name for action, name in api.seen if "Ingest" in name]
        again = memory.ingest(given)
        rehearsal.run()
        assert (
            memory.search("Where is the flat?", user_id="dana").to_dict()[
                "searched"
            ]["records"]
            == found["searched"]["records"]
        )
    assert len(calls) == 3
    assert told.accepted == again.accepted
    assert told.accepted.messages == len(given["messages"])
    here = Memory.open(tmp_path, workspace="far", agent="long", environment={})
    here.ingest(given)
    expected = here.search("Where is the flat?", user_id="dana").to_dict()
    assert [one["content"] for one in found["results"]]
    assert list_stored(found) == list_stored(expected)


def tell_at_length() -> dict[str, Any]:
    """Return a conversation of more bytes than a call takes, most of it what a tool printed."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "name": "Dana", "content": "I rented a flat."}
    ]
    messages += [
        {"role": "tool", "content": f"{n} {PRINTED}"} for n in range(3)
    ]
    messages += [
        {"role": "user", "name": "Dana", "content": "It is in Graça."},
        {"role": "tool", "content": PRINTED},
        {"role": "assistant", "content": "The flat in Graça is noted."},
    ]
    messages += [
        {"role": "tool", "content": f"last {n} {PRINTED}"} for n in range(3)
    ]
    messages.append(
        {"role": "assistant", "content": "Graça is a hill of Lisbon."}
    )
    return {
        "conversationId": "c-long",
        "userId": "dana",
        "startedAt": "2026-03-02T09:00:00Z",
        "messages": messages,
    }


def list_stored(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return what a stored record says, whose it is, and when, by id."""
    names = ("id", "content", "userId", "eventTime", "sourceIds")
    rows = [
        tuple(str(one[name]) for name in names) for one in answer["results"]
    ]
    return sorted(rows)
