"""How many round trips, one after the other, searches and writes take: counted at a server of S3's kind.

Each request takes a quarter of a second there, so that those that start together overlap. The count is the
largest set of requests of which no two overlap, so whatever holds a thread up can only add to it: where there
is other work on the machine, the least of three counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from zoneinfo import ZoneInfo

import pytest

from benchmarks.counting_s3 import CountingS3, Counts
from benchmarks.traffic import BATCH, Deployment
from tests.support.builders import a_record
from tests.support.drivers import Driver
from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.calendar import Grain, Period
from varve.domain.context import parse_context_request
from varve.domain.conversation import parse_conversation
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key, failed_key
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.query import parse_search_request
from varve.messages.write import WriteRecords, send_records
from varve.usecases.ledger import Ledger

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
SCOPE, OTHER = Scope("w", "a"), Scope("w", "b")
DELAY = 0.25
MOST_FOR_A_WRITE, MOST_FOR_A_COLD_WRITE = 9, 14
MOST_FOR_A_SEARCH_AFTER_A_COMMIT, MOST_FOR_A_COLD_SEARCH = 2, 2
OFTEN = Upkeep(max_fragments=4)
EMBEDDER = WordLlamaEmbedder()


@pytest.fixture(scope="module")
def s3() -> Iterator[CountingS3]:
    with CountingS3() as server, server.as_aws():
        yield server


class Agent:
    """One agent's memory on the counting server, and the processes that read and write it."""

    def __init__(self, s3: CountingS3, name: str) -> None:
        self.s3, self.deployment = s3, Deployment(lambda: NOW, name)
        self.numbers = count(1)
        self.restart()

    def restart(self, upkeep: Upkeep | None = None) -> None:
        """New processes, that have asked once whether the endpoint takes conditional puts."""
        self.deployment.restart(upkeep or Upkeep())
        self.say(1, scope=OTHER)
        self.deployment.write()

    def counted(self, run: Callable[[], object]) -> Counts:
        return self.s3.counted(run, DELAY)

    def least(
        self, run: Callable[[], object], first: Callable[[], object], most: int
    ) -> Counts:
        """What a run asks for; once or twice more, with what comes first, where it took more round trips."""
        for _ in range(3):
            first()
            counts = self.counted(run)
            if counts.depth <= most:
                break
        return counts

    def say(self, messages: int = BATCH, *, scope: Scope = SCOPE) -> None:
        """A turn each, every one on a day of its own, in one batch."""
        numbers = [next(self.numbers) for _ in range(messages)]
        self.send(
            [
                WriteRecords(
                    scope, Grain.WORKING, EMBEDDER.model, embedded(turn(n))
                )
                for n in numbers
            ]
        )

    def summarize(self, days: int, first: int = 1) -> None:
        """A summary each for so many days, one batch, each settling the marks that called for it."""
        periods = [
            Period.of(NOW, Grain.DAILY, UTC_ZONE).shifted(-n)
            for n in range(first, first + days)
        ]
        ledger = Ledger(self.deployment.writing.objects)
        messages = []
        for period in periods:
            settles = (*ledger.marks(SCOPE, period), failed_key(SCOPE, period))
            changes = LedgerChanges(
                settles, (expiry_key(NOW, SCOPE, Grain.DAILY),)
            )
            messages.append(
                WriteRecords(
                    SCOPE,
                    Grain.DAILY,
                    EMBEDDER.model,
                    embedded(summary(period)),
                    changes,
                )
            )
        self.send(messages)

    def send(self, messages: Sequence[WriteRecords]) -> None:
        queue, objects = (
            self.deployment.queues["write"],
            self.deployment.writing.objects,
        )
        for message in messages:
            send_records(message, queue=queue, objects=objects)

    def search(self, **asked: object) -> None:
        request = parse_search_request(
            {"query_text": "which firm sent the invoice?", **asked}
        )
        assert self.deployment.reading.search(SCOPE, request).results


def embedded(record: Record) -> tuple[EmbeddedRecord, ...]:
    (vector,) = EMBEDDER.embed([record.content])
    return (EmbeddedRecord(record, vector),)


def turn(number: int) -> Record:
    at = NOW - timedelta(days=number)
    text = f"Dana: the firm sent the invoice {number}."
    return a_record(
        text, at=at, id=f"turn-{number}", memory_type=MemoryType.TURN
    )


def summary(period: Period) -> Record:
    text = f"On {period.label} a firm sent an invoice."
    id_ = f"summary-{period.label}"
    return a_record(
        text, at=period.start(UTC_ZONE), id=id_, memory_type=MemoryType.SUMMARY
    )


def test_a_batch_of_ten_messages_takes_nine_round_trips_and_a_cold_one_fourteen(
    s3: CountingS3,
) -> None:
    """The first of a store and the second, one by a cold process and one by a warm one.

    Each has records of ten periods.
    """
    agents = (Agent(s3, f"batches-{number}") for number in count())

    def new() -> None:
        nonlocal agent
        agent = next(agents)
        agent.say()

    def made() -> None:
        new()
        agent.deployment.write()
        agent.say()

    def cold() -> None:
        agent.restart()
        agent.say()

    agent = next(agents)

    def write() -> None:
        agent.deployment.write()

    for first, most in (
        (new, MOST_FOR_A_COLD_WRITE),
        (made, MOST_FOR_A_WRITE),
        (cold, MOST_FOR_A_COLD_WRITE),
        (agent.say, MOST_FOR_A_WRITE),
    ):
        assert agent.least(write, first, most).depth <= most


def test_a_cold_batch_of_summaries_takes_fourteen_round_trips_and_settles_its_marks(
    s3: CountingS3,
) -> None:
    agent = Agent(s3, "summaries")
    days = count(2)

    def cold() -> None:
        agent.restart()
        agent.summarize(2, first=next(days))

    agent.say()
    agent.deployment.write()
    assert (
        agent.least(agent.deployment.write, cold, MOST_FOR_A_COLD_WRITE).depth
        <= MOST_FOR_A_COLD_WRITE
    )
    ledger = Ledger(agent.deployment.writing.objects)
    settled = {
        Period.of(NOW, Grain.DAILY, UTC_ZONE).shifted(-n) for n in (2, 3)
    }
    assert not ledger.pending(SCOPE) & settled
    assert {period.parent() for period in settled} <= ledger.pending(SCOPE)


def test_a_search_takes_four_round_trips_cold_two_after_a_commit_one_warm_none_if_stale(
    s3: CountingS3,
) -> None:
    agent = Agent(s3, "searches")
    agent.say()
    agent.deployment.write()
    agent.summarize(3)
    agent.deployment.write()

    def another_writes() -> None:
        agent.say(1)
        agent.deployment.write()

    cold = agent.least(agent.search, agent.restart, MOST_FOR_A_COLD_SEARCH)
    assert cold.depth <= MOST_FOR_A_COLD_SEARCH
    assert agent.least(agent.search, agent.search, 1).depth == 1
    most = MOST_FOR_A_SEARCH_AFTER_A_COMMIT
    assert agent.least(agent.search, another_writes, most).depth == most
    agent.deployment.reading.allow_staleness(timedelta(seconds=60))
    agent.search()
    assert agent.counted(agent.search).requests == 0


def test_a_search_over_a_shared_agent_takes_one_round_trip_more_and_reads_one_grant(
    s3: CountingS3,
) -> None:
    agent = Agent(s3, "shared")
    agent.say()
    agent.deployment.write()
    shares = agent.deployment.reading.memory(OTHER).share
    shares.grant(SCOPE.agent, types=["turn"])

    def both() -> None:
        agent.search(agents=[OTHER.agent, "unknown"])

    alone = agent.least(agent.search, agent.search, 1)
    shared = agent.least(both, both, 2)
    assert (alone.depth, shared.depth) == (1, 2)
    assert alone.by_prefix.get("grants", 0) == 0
    assert shared.by_prefix["grants"] == 2
    # The other agent's stores are looked up as the own ones are.
    assert shared.by_prefix["vectordb"] == 2 * alone.by_prefix["vectordb"]
    shares.grant(SCOPE.agent, types=["lesson"])
    unread = agent.least(both, both, 1)
    assert (
        unread.depth == 1
    )  # no store is read for a type that is not asked for
    assert unread.by_prefix["vectordb"] == alone.by_prefix["vectordb"]


CONTEXT = parse_context_request({"prompt": "Which firm sent the invoice?"})
EPISODES = parse_search_request(
    {"query_text": "an invoice", "memory_types": ["episode"]}
)


@pytest.mark.parametrize(
    "ask",
    [
        lambda app: app.context(SCOPE, CONTEXT),
        lambda app: app.recall(SCOPE, "an invoice"),
        lambda app: app.search(SCOPE, EPISODES),
    ],
    ids=["context", "recall", "search"],
)
def test_what_needs_experience_as_well_takes_four_round_trips_cold_and_one_warm(
    s3: CountingS3,
    ask: Callable[[Driver], object],
    request: pytest.FixtureRequest,
) -> None:
    agent = Agent(s3, f"experience-{request.node.callspec.id}")
    agent.say()
    agent.deployment.write()
    worked = {
        "id": "m",
        "role": "user",
        "content": "The invoice is overdue.",
        "state": "billing",
    }
    told = {
        "conversationId": "c-1",
        "workspaceId": "w",
        "agentId": "a",
        "messages": [worked],
    }
    agent.deployment.ingest([parse_conversation(told)])

    def asked() -> None:
        assert ask(agent.deployment.reading)

    cold = agent.least(asked, agent.restart, MOST_FOR_A_COLD_SEARCH)
    assert cold.depth <= MOST_FOR_A_COLD_SEARCH
    assert agent.least(asked, asked, 1).depth == 1


def test_a_cold_search_after_a_compaction_takes_two_round_trips(
    s3: CountingS3,
) -> None:
    """The files that the compaction replaced are still listed, and come with the others."""
    agent = Agent(s3, "compacted")
    agent.restart(OFTEN)
    for _ in range(OFTEN.max_fragments + 1):
        agent.say()
        agent.deployment.write()

    assert agent.least(agent.search, agent.restart, 2).depth == 2


def test_a_search_over_120_periods_asks_for_no_more_than_one_over_a_single_period(
    s3: CountingS3,
) -> None:
    asked = []
    for days in (1, 120):
        agent = Agent(s3, f"periods-{days}")
        made = (
            summary(Period.of(NOW, Grain.DAILY, UTC_ZONE).shifted(-1 - n))
            for n in range(days)
        )
        rows = [one for record in made for one in embedded(record)]
        records = agent.deployment.writing.records
        records.upsert(SCOPE, Grain.DAILY, rows, EMBEDDER.model)
        searches = [
            agent.counted(lambda agent=agent: agent.search(grain="daily"))
            for _ in range(2)
        ]
        asked.append([search.by_kind for search in searches])
    assert asked[0] == asked[1]
