"""Metadata: on conversations and messages, carried by records, filtered on by `where`."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import AsyncMemory, Memory, Rejected
from varve.cli import main
from varve.domain.metadata import (
    decode_metadata,
    encode_metadata,
    share_metadata,
)
from varve.domain.record import MemoryType, Record

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def said(id_: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "role": "user",
        "name": "Dana",
        "content": content,
        "timestamp": "2026-03-02T09:15:00Z",
        **more,
    }


def fill(memory: Memory) -> None:
    memory.ingest(
        [
            {
                "conversationId": "c-1",
                "userId": "u-1",
                "metadata": {"channel": "email", "ticket": 42},
                "messages": [
                    said("m1", "The printer in Faro is broken."),
                    said(
                        "m2",
                        "The scanner in Faro works.",
                        metadata={"ticket": 43},
                    ),
                ],
            },
            {
                "conversationId": "c-2",
                "userId": "u-1",
                "metadata": {"channel": "chat", "urgent": True},
                "messages": [said("m3", "The printer in Porto is broken.")],
            },
            {
                "conversationId": "c-3",
                "userId": "u-2",
                "messages": [said("m4", "The printer in Lisbon is broken.")],
            },
        ]
    )


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory.open(
        tmp_path_factory.mktemp("store"), now=NOW, environment={}
    )
    fill(memory)
    memory.summarize(grain="daily")
    return memory


def sources(memory: Memory, **arguments: Any) -> set[str]:
    found = memory.search(**arguments).results
    return {id_ for result in found for id_ in result.source_ids}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"channel": "email"}, {"m1", "m2"}),
        ({"ticket": 42}, {"m1"}),
        ({"ticket": 43, "channel": "email"}, {"m2"}),
        ({"ticket": "42"}, set()),
        ({"urgent": True}, {"m3"}),
        ({"urgent": 1}, set()),
        ({"color": "red"}, set()),
    ],
)
def test_where_filters_before_ranking_and_by_time(
    memory: Memory, where: dict[str, Any], expected: set[str]
) -> None:
    asked = "Which printer is broken?"
    ranked = memory.search(asked, where=where, max_results=1)
    assert {
        id_ for one in ranked.results for id_ in one.source_ids
    } <= expected
    assert bool(ranked.results) == bool(expected)
    assert sources(memory, where=where) == expected
    listed = memory.list(where=where).records
    assert {id_ for one in listed for id_ in one.source_ids} == expected
    assert ranked.results or ranked.hint


def test_records_carry_the_metadata_and_summaries_have_none(
    memory: Memory,
) -> None:
    by_source = {
        one.source_ids: one
        for one in memory.list(memory_types=["turn"]).records
    }
    assert by_source[("m1",)].metadata == {"channel": "email", "ticket": 42}
    assert by_source[("m2",)].metadata == {"channel": "email", "ticket": 43}
    assert by_source[("m4",)].metadata == {}
    facts = memory.list(
        memory_types=["fact"], where={"channel": "email"}
    ).records
    assert all(one.metadata["channel"] == "email" for one in facts)
    days = memory.list(period="2026-03-02").records
    assert days
    assert {json.dumps(one.metadata) for one in days} == {"{}"}
    shown = memory.show(by_source[("m1",)].id, depth=0)
    assert shown["metadata"] == {"channel": "email", "ticket": 42}


def test_a_fact_of_several_messages_has_what_all_of_them_have() -> None:
    every = [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 1}]
    assert share_metadata(every) == {"a": 1}
    assert share_metadata([{"a": 1}, {"a": True}]) == {}


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (["a"], "must be an object"),
        ({"a": {"b": 1}}, "must be a text, a number"),
        ({"a": None}, "must be a text, a number"),
        ({"a": "x" * 257}, "is longer than 256 characters"),
        ({"a b": 1}, "has a name that is not"),
        ({"a": float("inf")}, "is not a finite number"),
        ({f"k{number}": 1 for number in range(17)}, "the limit is 16"),
    ],
)
def test_metadata_over_its_limits_is_refused_by_its_field(
    tmp_path: Path, metadata: Any, reason: str
) -> None:
    memory = Memory.open(tmp_path, now=NOW, environment={})
    for field, given in (
        (
            "metadata",
            {"metadata": metadata, "messages": [said("m1", "Hello there.")]},
        ),
        (
            "messages[0].metadata",
            {"messages": [said("m1", "Hello there.", metadata=metadata)]},
        ),
    ):
        with pytest.raises(Rejected, match=reason) as refused:
            memory.ingest({"conversationId": "c-1", **given})
        assert refused.value.field == field
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_metadata_reads_and_keeps_its_fingerprints() -> None:
    record = Record(
        id="turn-1",
        memory_type=MemoryType.TURN,
        content="Dana: I live in Porto.",
        period="2026-03-02",
        event_time=NOW,
        created_at=NOW,
        source_ids=("m1",),
    )
    assert record.metadata == {}
    # A row written before metadata existed; another hash would rewrite every store.
    assert record.fingerprint == "ef269cf1ea23e9b83d2b055a4d70755e"
    assert decode_metadata(encode_metadata({"b": 1, "a": "é"})) == {
        "a": "é",
        "b": 1,
    }


def test_export_and_import_carry_metadata_and_erasure_takes_it(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path / "one", now=NOW, environment={})
    fill(memory)
    memory.export(tmp_path / "exported")
    twin = Memory.open(tmp_path / "two", agent="twin", now=NOW, environment={})
    twin.import_(tmp_path / "exported")
    assert sources(twin, where={"ticket": 43}) == {"m2"}

    planned = twin.delete(where={"channel": "email"}, dry_run=True)
    assert planned["messages"] == 2
    receipt = twin.delete(where={"channel": "email"}, verify=True)
    assert receipt["verification"]["proved"]
    assert receipt["receipt"]
    assert sources(twin, where={"channel": "email"}) == set()
    assert sources(twin) >= {"m3", "m4"}
    with pytest.raises(Rejected, match="no fact or turn passes"):
        twin.delete(where={"channel": "email"})
    twin.delete(user_id="u-2")
    assert "m4" not in sources(twin)
    for wrong in ({}, {"ids": ["x"], "user_id": "u-1"}):
        with pytest.raises(Rejected):
            twin.delete(**wrong)


def test_secrets_in_metadata_do_not_reach_the_store(tmp_path: Path) -> None:
    environment = {"VARVE_PRIVACY_MODE": "redact"}
    memory = Memory.open(tmp_path, now=NOW, environment=environment)
    message = said(
        "m1", "I moved.", metadata={"from": "dana@example.org", "n": 1}
    )
    memory.ingest({"conversationId": "c-1", "messages": [message]})
    (turn,) = memory.list(memory_types=["turn"]).records
    assert "@" not in turn.metadata["from"]
    assert turn.metadata["n"] == 1


def test_the_command_line_and_the_awaited_memory_filter_too(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    store = memory.sessions.settings.store
    options = ["--store", store, "--now", "2026-03-04T12:00:00Z", "--json"]
    assert main(["search", "printer", "--where", "ticket=42", *options]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert {id_ for one in found for id_ in one["sourceIds"]} == {"m1"}
    assert main(["search", "printer", "--where", 'ticket="42"', *options]) == 0
    assert json.loads(capsys.readouterr().out)["results"] == []

    async def ask() -> int:
        async with await AsyncMemory.open(
            store, now=NOW, environment={}
        ) as awaited:
            page = await awaited.list(
                where={"urgent": True}, memory_types=["turn"]
            )
            return len(page.records)

    assert asyncio.run(ask()) == 1
