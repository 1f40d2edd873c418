"""What lies at the edges: sizes, odd texts, clocks that jump, settings that change, memory that is small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import (
    ACME,
    DIMENSIONS,
    RecordingQueue,
    WordEmbedder,
    a_record,
    embedded,
)
from tests.support.clock import SetClock
from tests.support.drivers import open_memory
from tests.support.moto_process import PROJECT
from varve import Memory
from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.conversation import MAX_MESSAGE_BYTES, MAX_MESSAGES
from varve.domain.embedding import EmbeddingMismatch
from varve.domain.errors import Rejected
from varve.domain.record import EmbeddedRecord
from varve.domain.text import passages
from varve.messages.wire import MAX_BODY_BYTES
from varve.messages.write import (
    WriteRecords,
    read_write,
    records_in_bounds,
    send_records,
)

pytestmark = pytest.mark.e2e

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SQS_BYTES = 262_144
NIGHTLY = pytest.mark.skipif(
    "VARVE_NIGHTLY" not in os.environ, reason="takes a minute: VARVE_NIGHTLY=1"
)


@pytest.fixture
def clock() -> SetClock:
    return SetClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: SetClock) -> Memory:
    return open_memory(ACME, tmp_path, clock, embedder=WordEmbedder())


def conversation(
    *texts: Any, name: str = "c-1", at: datetime | None = NOON
) -> dict[str, Any]:
    time = {"timestamp": at.isoformat()} if at else {}
    said = [
        {"id": f"m{n}", "role": "user", "content": text, **time}
        for n, text in enumerate(texts)
    ]
    return {"conversationId": name, "userId": "u-42", "messages": said}


def turns(memory: Memory) -> list[str]:
    return [
        r.content
        for r in memory.search(max_results=100).results
        if r.memory_type == "turn"
    ]


@NIGHTLY
def test_ten_thousand_messages_are_taken_in_and_one_more_is_refused(
    memory: Memory,
) -> None:
    texts = [f"Line {n}." for n in range(MAX_MESSAGES)]
    assert (
        memory.ingest(conversation(*texts)).to_dict()["stored"]["turns"]
        == MAX_MESSAGES
    )
    assert memory.status()["grains"]["working"]["records"] >= MAX_MESSAGES
    with pytest.raises(Rejected) as refused:
        memory.ingest(conversation(*texts, "One more.", name="c-2"))
    assert refused.value.field == "messages"


def test_a_megabyte_of_text_is_taken_in_and_found_and_a_byte_more_is_refused(
    memory: Memory,
) -> None:
    text = ("Kestrel " * MAX_MESSAGE_BYTES)[:MAX_MESSAGE_BYTES]
    memory.ingest(conversation(text))
    assert memory.search("Kestrel").results
    with pytest.raises(Rejected) as refused:
        memory.ingest(conversation(text + "x", name="c-2"))
    assert refused.value.field == "messages[0].content"


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000\u200b", "\ufeff"])
def test_a_text_without_a_word_is_kept_and_nothing_is_made_of_it(
    text: str, memory: Memory
) -> None:
    assert (
        memory.ingest(conversation(text, "I live in Lisbon.")).to_dict()[
            "stored"
        ]["messages"]
        == 2
    )
    assert memory.search("Lisbon").results
    memory.summarize()


ODD = {
    "emoji": "😀😀😀 The kiln is hot 🔥",
    "families": "\U0001f469\u200d\U0001f467" * 200,
    "code": "for (;;) { x = a[i++] ^ 0xFF; }",
    "backslashes": "\\" * 1_000,
    "JSON": '{"a": [1, {"b": null}]}',
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_emoji_and_code_come_back_as_they_were_said(
    text: str, memory: Memory
) -> None:
    memory.ingest(conversation(text))
    assert any(text in turn for turn in turns(memory))
    assert memory.search(text[:50]).results
    assert str(memory.context(text[:50])) is not None
    memory.summarize()


ENDLESS = {
    "zeros": "0" * 5_000,
    "digits": "3141592653" * 500,
    "letters": "Aa" * 2_500,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_text_longer_than_a_turn_comes_back_in_passages_and_whole_where_it_is_shown(
    text: str, memory: Memory
) -> None:
    memory.ingest(conversation(text))
    found = memory.search(max_results=100).results
    shown = [r.content.removeprefix("u-42: ") for r in found]
    # One more turn tells the message in short.
    (short,) = set(shown) - set(passages(text))
    assert len(short) < 1_000
    assert sorted(shown) == sorted([*passages(text), short])
    assert len(found) > 2
    for turn in found:
        (message,) = memory.show(turn.id)["sources"]
        assert message["content"] == text


def test_no_message_is_larger_than_a_queue_takes_whatever_it_carries() -> None:
    queue, objects = RecordingQueue(), InMemoryObjects()
    records = embedded(*(a_record(f"{n} " + "é" * 4_000) for n in range(400)))
    whole = WriteRecords(
        ACME, Grain.WORKING, f"words:{DIMENSIONS}", tuple(records)
    )
    for piece in records_in_bounds(whole):
        send_records(piece, queue=queue, objects=objects)
    huge = embedded(a_record("ü" * 500_000))
    send_records(
        WriteRecords(ACME, Grain.WORKING, whole.model, tuple(huge)),
        queue=queue,
        objects=objects,
    )
    assert (
        max(len(d.body.encode()) for d in queue.sent)
        <= MAX_BODY_BYTES
        < SQS_BYTES
    )
    arrived = [
        r for d in queue.sent for r in read_write(d, objects=objects).records
    ]  # type: ignore[union-attr]
    assert [r.record for r in arrived] == [r.record for r in (*records, *huge)]


def test_a_clock_that_jumps_loses_and_doubles_nothing(
    memory: Memory, clock: SetClock
) -> None:
    for number, jump in enumerate([0, 40, -35, 3, -400, 400, 0]):
        clock.now = NOON + timedelta(days=jump)
        memory.ingest(
            conversation("I live in Lisbon.", name=f"c-{number}", at=None)
        )
        memory.summarize()
        memory.ingest(
            conversation("I live in Lisbon.", name=f"c-{number}", at=None)
        )
    clock.now = NOON + timedelta(days=500)
    memory.summarize()
    rows = memory.list(limit=100).records
    assert sum(r.memory_type == "turn" for r in rows) == 7
    assert len({r.id for r in rows}) == len(rows)
    (place,) = memory.search(max_results=100, grain="working").results
    assert sorted([place.id, *place.also_in]) == sorted(r.id for r in rows)
    again = memory.summarize()
    assert again["built"] == again["failed"] == 0


def test_a_workspace_that_moves_to_another_zone_keeps_what_it_has(
    memory: Memory, clock: SetClock
) -> None:
    late = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    memory.ingest(conversation("I live in Lisbon.", at=late))
    clock.now = NOON + timedelta(days=5)
    memory.summarize()
    for zone in (
        "Pacific/Kiritimati",
        "America/Los_Angeles",
        "Asia/Kathmandu",
        "UTC",
    ):
        memory.configure("timezone", zone)
        memory.ingest(conversation("I live in Lisbon.", at=late))
        assert memory.summarize()["failed"] == 0
        assert [
            r.content for r in memory.search("Lisbon", grain="working").results
        ]
    working = memory.search(grain="working", max_results=100).results
    assert len({r.id for r in working}) == len(working)
    assert (
        len(
            {
                r.period
                for r in memory.search(grain="daily", max_results=100).results
            }
        )
        == 1
    )


def test_a_smaller_plan_takes_what_has_expired_and_a_larger_one_brings_nothing_back(
    memory: Memory, clock: SetClock
) -> None:
    memory.configure("plan", "pro")
    memory.ingest(conversation("I live in Lisbon."))
    clock.now = NOON + timedelta(days=7)
    memory.summarize()
    assert (
        not memory.cleanup(dry_run=True)["grains"]
        or memory.search(grain="working").results
    )
    memory.configure("plan", "free")
    memory.cleanup()
    assert memory.search(grain="working").results == []
    memory.configure("plan", "pro")
    memory.cleanup()
    assert memory.search(grain="daily").results


def test_a_model_of_other_dimensions_is_refused_by_both_names(
    tmp_path: Path,
) -> None:
    records = LanceRecords(str(tmp_path), local_objects(tmp_path))
    records.upsert(
        ACME, Grain.WORKING, embedded(a_record()), f"words:{DIMENSIONS}"
    )
    wide = [EmbeddedRecord(a_record("x"), np.ones(8, np.float32))]
    with pytest.raises(EmbeddingMismatch, match=r"words:64.*other:8"):
        records.upsert(ACME, Grain.WORKING, wide, "other:8")
    with pytest.raises(EmbeddingMismatch, match=r"words:64.*other:8"):
        records.columns(ACME, Grain.WORKING, model="other:8")


@pytest.mark.parametrize("size", [0, 8, DIMENSIONS + 1])
def test_a_vector_of_other_dimensions_than_its_model_says_is_refused(
    size: int, tmp_path: Path
) -> None:
    records = LanceRecords(str(tmp_path), local_objects(tmp_path))
    odd = [EmbeddedRecord(a_record("x"), np.ones(size, np.float32))]
    for _ in range(2):
        with pytest.raises(Rejected, match="vector"):
            records.upsert(ACME, Grain.WORKING, odd, f"words:{DIMENSIONS}")
        records.upsert(
            ACME, Grain.WORKING, embedded(a_record()), f"words:{DIMENSIONS}"
        )


@NIGHTLY
def test_two_hundred_thousand_records_are_searched_and_written_in_a_gigabyte(
    tmp_path: Path,
) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.support.large_store",
        str(tmp_path),
    ]
    given = {**os.environ, "PYTHONPATH": f"{PROJECT}/shared:{PROJECT}"}
    made = subprocess.run(
        [*command, "make"],
        cwd=PROJECT,
        env=given,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    used = subprocess.run(
        [*command, "use"],
        cwd=PROJECT,
        env=given,
        capture_output=True,
        text=True,
    )
    assert used.returncode == 0, used.stderr
    told = json.loads(used.stdout)
    print(told)
    assert told["found"]
    assert told["records"] == 200_001
    assert told["megabytes"] < 1_024
