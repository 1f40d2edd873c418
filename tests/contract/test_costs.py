"""Costs on S3: what is counted for the agents is what the server was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.counting_s3 import CountingS3, Counts
from benchmarks.traffic import Deployment
from tests.support.builders import raw_conversation
from tests.support.drivers import open_driver, open_memory
from varve.api.memory import Memory
from varve.domain.conversation import parse_conversation
from varve.domain.costs import Costs
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.usage import Item

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ACME, OTHER, ELSEWHERE = (
    Scope("acme", "a"),
    Scope("acme", "b"),
    Scope("globex", "a"),
)
KINDS = {
    "GET": Item.GETS,
    "PUT": Item.PUTS,
    "LIST": Item.LISTS,
    "DELETE": Item.DELETES,
}


@pytest.fixture(scope="module")
def s3() -> Iterator[CountingS3]:
    with CountingS3() as server, server.as_aws():
        yield server


def open_on(store: str, scope: Scope) -> Memory:
    return open_memory(scope, f"s3://bench/{store}", NOW)


def said(scope: Scope, *words: str) -> dict[str, object]:
    return raw_conversation(
        *words, workspaceId=scope.workspace, agentId=scope.agent
    )


def asked(counts: Counts) -> dict[str, int]:
    return {kind: counts.kind(kind) for kind in KINDS}


def counted(costs: Costs) -> dict[str, int]:
    return {
        kind: sum(row.count(item) for row in costs.rows)
        for kind, item in KINDS.items()
    }


def live(memory: Memory) -> None:
    memory.ingest(
        said(memory.scope, "I moved to Lisbon.", "My dog is called Rufo.")
    )
    memory.search("where does Dana live?")
    memory.context("Plan Dana's trip")
    memory.summarize(now=NOW + timedelta(days=2))
    memory.status()
    memory.forget(ids=[memory.search().results[0].id])
    memory.close()


def test_the_sum_over_the_agents_is_what_the_server_was_asked_for(
    s3: CountingS3,
) -> None:
    s3.reset()
    live(open_on("sums", ACME))
    for scope in (OTHER, ELSEWHERE):
        memory = open_on("sums", scope)
        memory.ingest(said(scope, "I moved to Lisbon."))
        memory.close()
    told = asked(s3.counts())
    # The summaries were asked for as of two days later, and count for that day.
    later = open_memory(ACME, "s3://bench/sums", NOW + timedelta(days=2))
    costs = later.costs(everyone=True)
    # The erasure asks whether the bucket keeps versions: S3 bills that as a GET.
    told["LIST"] -= 1
    told["GET"] += 1
    assert counted(costs) == told
    assert {(row.workspace, row.agent) for row in costs.rows if row.agent} == {
        ("acme", "a"),
        ("acme", "b"),
        ("globex", "a"),
    }
    verbs = {row.verb for row in costs.rows}
    assert {"ingest", "write", "search", "context", "forget"} <= verbs
    own = open_on("sums", ACME).costs()
    assert {row.workspace for row in own.rows} == {"acme"}
    assert 0 < own.dollars < costs.dollars


def test_the_bytes_are_those_that_went_over_the_wire(s3: CountingS3) -> None:
    open_on("bytes", ACME).ingest(said(ACME, "I moved to Lisbon."))
    reading = open_on("bytes", ACME)
    s3.reset()
    reading.search("where?")
    used, told = reading.sessions.meter.total, s3.counts()
    assert 0 < used[Item.BYTES_READ] <= told.bytes_out  # the rest is listings
    assert used[Item.BYTES_WRITTEN] == told.bytes_in == 0


def test_counting_adds_no_request_to_a_search(s3: CountingS3) -> None:
    memory = open_on("quiet", ACME)
    memory.ingest(said(ACME, "I moved to Lisbon."))
    memory.close()
    s3.reset()
    memory.search("where does Dana live?")
    assert "costs" not in s3.counts().by_prefix


def test_a_fold_is_one_read_and_one_write_of_one_small_object(
    s3: CountingS3,
) -> None:
    memory = open_on("small", ACME)
    memory.ingest(said(ACME, "I moved to Lisbon."))
    memory.close()
    memory.search("where?")
    s3.reset()
    memory.close()
    told = s3.counts()
    assert told.by_prefix["costs"] == 2
    assert s3.usage("small/costs/").objects <= 2  # and what is no agent's
    assert s3.usage("small/costs/acme/").bytes < 2_000


def test_processes_that_fold_at_the_same_time_lose_no_count(
    s3: CountingS3,
) -> None:
    memories = [open_on("race", ACME) for _ in range(6)]
    for memory in memories:
        memory.sessions.meter.add_model("m", None)
        with memory.sessions.meter.serve(ACME, "extract", NOW):
            memory.sessions.meter.add_model("m", None)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(Memory.close, memories))
    costs = open_on("race", ACME).costs()
    assert sum(row.count(Item.MODEL_CALLS) for row in costs.rows) == 6


def test_the_writers_of_a_queue_count_for_the_agent_of_each_group(
    s3: CountingS3,
) -> None:
    deployment = Deployment(lambda: NOW, "queue")
    s3.reset()
    for scope in (ACME, OTHER):
        deployment.ingest(
            [parse_conversation(said(scope, "I moved to Lisbon."))]
        )
    for process in (deployment.reading, deployment.writing):
        process.memory(ACME).close()
    told = s3.counts()
    costs = deployment.reading.memory(ACME).costs(everyone=True)
    assert counted(costs) == asked(told)
    writers = Counter(row.agent for row in costs.rows if row.verb == "write")
    assert writers == {"a": 1, "b": 1}


def test_what_cannot_be_folded_waits_for_the_next_fold(s3: CountingS3) -> None:
    driver = open_driver(store="s3://bench/waits", now=NOW)
    memory = driver.memory(ACME)
    memory.ingest(said(ACME, "I moved to Lisbon."))
    before = memory.sessions.meter.total[Item.PUTS]
    put_if = driver.objects.put_if

    def fail(key: str, *_: object) -> bool:
        raise Retryable(f"no answer at {key}")

    driver.objects.put_if = fail
    with pytest.raises(Retryable):
        memory.close()
    driver.objects.put_if = put_if
    costs = memory.costs(everyone=True)
    assert sum(row.count(Item.PUTS) for row in costs.rows) >= before
