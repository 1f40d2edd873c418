"""Conversations taken in at once share commits, and none counts as taken in before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import MORNING, raw_conversation, raw_message
from varve.api.memory import Memory
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.record import EmbeddedRecord
from varve.domain.search.query import Filter
from varve.ports.queues import Delivery
from varve.usecases.together import MOST, Together


class Handler:
    """Keeps what it is handed, and fails where it is told to."""

    def __init__(self) -> None:
        self.handed: list[list[str]] = []
        self.fails = False

    def __call__(self, deliveries: Sequence[Delivery]) -> None:
        self.handed.append([delivery.body for delivery in deliveries])
        if self.fails:
            raise Retryable("busy")


def send(queue: Together, *bodies: str) -> None:
    for body in bodies:
        queue.send(body, group="g", deduplication_id=body)


def test_messages_are_handed_on_in_their_order_and_then_what_waits_is_done() -> None:
    handler, done = Handler(), []
    queue = Together(handler)
    send(queue, "a", "b")
    queue.afterwards(lambda: done.append(len(handler.handed)))
    assert (handler.handed, done) == ([], [])
    queue.flush()
    queue.flush()
    assert (handler.handed, done) == ([["a", "b"]], [1])


def test_a_subject_begun_again_finds_what_waited_for_its_first_time() -> None:
    handler, done = Handler(), []
    queue = Together(handler)
    for subject in ("c-1", "c-2", "c-1"):
        queue.begin(subject)
        send(queue, subject)
        queue.afterwards(lambda: done.append(subject))  # noqa: B023 - each is done before it changes
    assert handler.handed == [["c-1", "c-2"]]
    assert len(done) == 2


def test_no_more_is_held_than_memory_has_room_for() -> None:
    handler = Handler()
    queue = Together(handler)
    for number in range(2 * MOST + 1):
        queue.begin(number)
        send(queue, str(number))
    assert [len(handed) for handed in handler.handed] == [MOST, MOST]


def test_invariant_2_what_could_not_be_handed_on_is_neither_noted_nor_kept() -> None:
    handler, done = Handler(), []
    queue = Together(handler)
    send(queue, "a")
    queue.afterwards(lambda: done.append("a"))
    handler.fails = True
    with pytest.raises(Retryable):
        queue.flush()
    handler.fails = False
    queue.flush()
    assert (handler.handed, done) == ([["a"]], [])


SAID = [
    raw_conversation(
        raw_message(f"My name is Dana. I moved to Lisbon in year {number}."),
        raw_message(f"Since then I like tea number {number}."),
        conversationId=f"c-{number}", userId="u-1",
    )
    for number in range(6)
]  # fmt: skip


def opened(folder: Path) -> Memory:
    return Memory.open(
        folder, workspace="acme", agent="support", now=MORNING, environment={}
    )


def held(memory: Memory) -> Any:
    records = memory.parts.records.browse(
        memory.scope, Grain.WORKING, where=Filter(), limit=1_000
    )
    triples = memory.parts.graph.triples(memory.scope)
    profile = memory.profile(user_id="u-1")
    return sorted(records, key=lambda record: record.id), triples, profile


def commits(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records each commit to the working memory brings, as they happen."""
    made: list[int] = []
    upsert = memory.parts.records.upsert

    def counted(
        scope: Any, grain: Any, records: Sequence[EmbeddedRecord], model: str
    ) -> Any:
        made.append(len(records))
        return upsert(scope, grain, records, model)

    monkeypatch.setattr(memory.parts.records, "upsert", counted)
    return made


def test_conversations_taken_in_at_once_are_one_commit_and_the_same_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_by_one, together = opened(tmp_path / "one"), opened(tmp_path / "all")
    made = commits(together, monkeypatch)
    for one in SAID:
        one_by_one.ingest(one)
    outcome = together.ingest(SAID).to_dict()
    assert held(together) == held(one_by_one)
    assert made == [outcome["stored"]["turns"] + outcome["stored"]["facts"]]
    assert outcome["stored"]["messages"] == 12


def test_invariant_2_conversations_whose_commit_failed_are_taken_in_by_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, whole = opened(tmp_path / "failing"), opened(tmp_path / "whole")
    whole.ingest(SAID)

    def busy(*_: Any) -> Any:
        raise Retryable("store: busy")

    with monkeypatch.context() as failing:
        failing.setattr(memory.parts.records, "upsert", busy)
        with pytest.raises(Retryable):
            memory.ingest(SAID)
    assert memory.search("tea").results == []
    assert memory.ingest(SAID).to_dict()["stored"]["messages"] == 12
    assert held(memory) == held(whole)


def test_invariant_1_words_before_the_one_that_fails_are_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(tmp_path)
    send, failed = memory.parts.objects.put, []

    def fails_at_the_last(key: str, data: bytes) -> None:
        if "/c-5/" in key and not failed:
            failed.append(key)
            raise Retryable("objects: busy")
        send(key, data)

    monkeypatch.setattr(memory.parts.objects, "put", fails_at_the_last)
    with pytest.raises(Retryable):
        memory.ingest(SAID)
    assert {
        result.conversation_id
        for result in memory.search("tea", max_results=50).results
    } == {f"c-{number}" for number in range(5)}
    assert memory.ingest(SAID).to_dict()["stored"]["messages"] == 2
