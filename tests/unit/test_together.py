"""Conversations taken in at once share commits, and none counts as taken in before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ACME, MORNING, raw_conversation, raw_message
from tests.support.drivers import driver_of, open_memory
from varve.api.memory import Memory
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, StoreName
from varve.domain.search.query import Filter
from varve.usecases.ingest.extract import MAX_PENDING

SAID = [
    raw_conversation(
        raw_message(f"My name is Dana. I moved to Lisbon in year {number}."),
        raw_message(f"Since then I like tea number {number}."),
        conversationId=f"c-{number}", userId="u-1",
    )
    for number in range(6)
]  # fmt: skip


class Commits:
    """Record stores that note how many records each commit brings; `fails` is raised instead."""

    def __init__(self, records: Any) -> None:
        self._records = records
        self.made: list[int] = []
        self.fails: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)

    def upsert(
        self,
        scope: Scope,
        grain: StoreName,
        records: Sequence[EmbeddedRecord],
        *given: Any,
    ) -> Any:
        if self.fails:
            raise self.fails
        self.made.append(len(records))
        return self._records.upsert(scope, grain, records, *given)


class FailingOnce:
    """Objects of which one put, of a key that has this in it, fails once."""

    def __init__(self, objects: Any, part: str) -> None:
        self._objects, self._part = objects, part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        if self._part and self._part in key:
            self._part = ""
            raise Retryable("objects: busy")
        done: bool = self._objects.put_if(key, data, etag)
        return done


def opened(folder: Path, **ports: Any) -> Memory:
    return open_memory(ACME, folder, MORNING, **ports)


def held(memory: Memory) -> Any:
    ports = driver_of(memory)
    records = ports.records.browse(
        memory.scope, Grain.WORKING, where=Filter(), limit=1_000
    )
    triples = ports.graph.triples(memory.scope)
    profile = memory.profile(user_id="u-1")
    return sorted(records, key=lambda record: record.id), triples, profile


def test_conversations_taken_in_at_once_are_one_commit_and_the_same_memory(
    tmp_path: Path,
) -> None:
    one_by_one = opened(tmp_path / "one")
    together = opened(tmp_path / "all", wrap_records=Commits)
    made = driver_of(together).records.made
    for one in SAID:
        one_by_one.ingest(one)
    outcome = together.ingest(SAID).to_dict()
    assert held(together) == held(one_by_one)
    assert made == [outcome["stored"]["turns"] + outcome["stored"]["facts"]]
    assert outcome["stored"]["messages"] == 12


def test_a_conversation_that_comes_twice_in_one_call_finds_what_came_first(
    tmp_path: Path,
) -> None:
    begun = {**SAID[0], "messages": SAID[0]["messages"][:1]}
    given = [begun, SAID[1], SAID[0]]
    one_by_one = opened(tmp_path / "one", wrap_records=Commits)
    together = opened(tmp_path / "all", wrap_records=Commits)
    for one in given:
        one_by_one.ingest(one)
    assert together.ingest(given).to_dict()["stored"]["messages"] == 4
    assert held(together) == held(one_by_one)
    first, second, third = driver_of(one_by_one).records.made
    assert driver_of(together).records.made == [first + second, third]


def test_a_call_with_many_conversations_shares_commits_among_many(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path, wrap_records=Commits)
    asked = [
        raw_conversation(f"Is it {number} yet?", conversationId=f"c-{number}")
        for number in range(2 * MAX_PENDING + 1)
    ]
    memory.ingest(asked)
    assert driver_of(memory).records.made == [MAX_PENDING, MAX_PENDING, 1]


def test_invariant_2_conversations_whose_commit_failed_are_taken_in_by_the_next_try(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path / "failing", wrap_records=Commits)
    whole = opened(tmp_path / "whole")
    whole.ingest(SAID)
    records = driver_of(memory).records
    records.fails = Retryable("store: busy")
    with pytest.raises(Retryable):
        memory.ingest(SAID)
    records.fails = None
    assert memory.search("tea").results == []
    assert memory.ingest(SAID).to_dict()["stored"]["messages"] == 12
    assert held(memory) == held(whole)


def test_invariant_1_words_before_the_one_that_fails_are_in_memory(
    tmp_path: Path,
) -> None:
    memory = opened(
        tmp_path, wrap_objects=lambda objects: FailingOnce(objects, "/c-5/")
    )
    with pytest.raises(Retryable):
        memory.ingest(SAID)
    assert {
        result.conversation_id
        for result in memory.search("tea", max_results=50).results
    } == {f"c-{number}" for number in range(5)}
    assert memory.ingest(SAID).to_dict()["stored"]["messages"] == 2
