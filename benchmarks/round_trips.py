"""What searches and writes ask of S3, by size and state of a store.

`python benchmarks/round_trips.py [--quick]`. Counts are from the counting S3 with 250 ms added to every
request; `depth` is the largest set of requests of which no two overlap, a measured stand-in for sequential
round trips. `cold` is a new Application, `warm` one that has searched before, `changed` one that searched
before the newest commit, `stale` one that may answer from what it saw a minute ago. The working store is
`fresh` (one commit), `fragmented` (nearly as many commits since its compaction as the policy allows) or
`compacted`; the other five grains hold what the starter plan keeps, each summary in a commit of its own.
Commits here follow each other in seconds, so versions are pruned at any age, as they would be after hours.
`--sizes` changes the amounts, `--only sizes|periods|contexts|large` runs one part, and `--only writes` a
short one.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from statistics import mean
from time import perf_counter, process_time
from zoneinfo import ZoneInfo

import numpy as np
from counting_s3 import BUCKET, KINDS, CountingS3, Counts
from traffic import BATCH, Deployment, conversation, machine, markdown

from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance_cache import columns as lance_columns
from varve.adapters.lance_cache.cache_directory import Caching
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.adapters.objects.store import lance_options, s3_objects
from varve.domain.calendar import Grain, Period
from varve.domain.context import parse_context_request
from varve.domain.experience.rows import LessonVersion, lesson_record
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Store
from varve.domain.search.query import Filter, parse_search_request
from varve.domain.search.strategies import BALANCED
from varve.messages.write import WriteRecords, send_records
from varve.usecases.search.find import CANDIDATES

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ZONE = ZoneInfo("UTC")
DELAY = 0.25
"""Longer than it takes here to start a hundred requests: else those of one round trip look like several."""
WITHIN_AWS = 0.03
BATCHES = 64
DAYS = 10
SCOPE, OTHER = Scope("w", "a"), Scope("w", "b")
EMBEDDER = WordLlamaEmbedder()
SUMMARIES = {
    Grain.DAILY: 60,
    Grain.WEEKLY: 12,
    Grain.MONTHLY: 12,
    Grain.QUARTERLY: 8,
    Grain.YEARLY: 4,
}
"""What the starter plan keeps, each in a commit of its own, as summaries are written."""
SYLLABLES = [
    a + b for a in "bdfgklmnprst" for b in ("a", "e", "il", "or", "un")
]
MOST_WORDS = 30
QUESTION = {"query_text": "which firm sent the invoice?"}
PRUNING_AT_ONCE = Upkeep(keep_for=timedelta(milliseconds=1))
# List prices of Amazon S3 Standard, us-east-1, per request.
PRICES = {
    "GET": 0.0004 / 1e3,
    "HEAD": 0.0004 / 1e3,
    "LIST": 0.005 / 1e3,
    "PUT": 0.005 / 1e3,
    "DELETE": 0.0,
}
HEADINGS = ["requests", *KINDS, "depth", "KB in", "KB out", "$ per 1,000"]
Row = list[object]


def _cells(counts: Sequence[Counts]) -> Row:
    """The mean of several, the greatest depth."""
    kinds = [mean(c.kind(kind) for c in counts) for kind in KINDS]
    price = 1e3 * sum(
        PRICES[kind] * number
        for kind, number in zip(KINDS, kinds, strict=True)
    )
    sizes = [
        mean(c.bytes_in for c in counts) / 1e3,
        mean(c.bytes_out for c in counts) / 1e3,
    ]
    depth = max(c.depth for c in counts)
    return [
        _short(sum(kinds)),
        *map(_short, kinds),
        depth,
        *sizes,
        f"{price:.4f}",
    ]


def _short(number: float) -> object:
    return int(number) if number == int(number) else round(number, 1)


@dataclass(slots=True)
class Bench:
    """One agent's stores on the counting server, and what is asked of it."""

    s3: CountingS3
    deployment: Deployment
    numbers: Iterator[int]

    @classmethod
    def of(cls, s3: CountingS3, name: str) -> "Bench":
        bench = cls(s3, Deployment(lambda: NOW, name), count(1))
        bench.restart()
        return bench

    def counted(self, run: Callable[[], object]) -> Counts:
        return self.s3.counted(run, DELAY)

    def fill(self, size: int) -> None:
        """The working records in one commit, more than a million numbers away from the batches'."""
        records = self.deployment.writing.records
        records.upsert(
            SCOPE, Grain.WORKING, list(turns(range(size))), EMBEDDER.model
        )

    def summarize(self) -> None:
        records = self.deployment.writing.records
        for grain, amount in SUMMARIES.items():
            for steps in range(amount):
                summary = _summary(
                    Period.of(NOW, grain, ZONE).shifted(-1 - steps)
                )
                records.upsert(SCOPE, grain, [summary], EMBEDDER.model)

    def write(
        self, messages: int = BATCH, scope: Scope = SCOPE, days: int = 1
    ) -> None:
        """So many messages for one store, as one invocation of the writing function gets them."""
        queue, objects = (
            self.deployment.queues["write"],
            self.deployment.writing.objects,
        )
        for _ in range(messages):
            number = 1_000_000 + next(self.numbers)
            record = tuple(turns([number], days))
            send_records(
                WriteRecords(scope, Grain.WORKING, EMBEDDER.model, record),
                queue=queue,
                objects=objects,
            )
        self.deployment.write()

    def search(self, **more: object) -> None:
        request = parse_search_request({**QUESTION, **more})
        assert self.deployment.reading.search(SCOPE, request).results

    def until_compacted(self) -> list[Counts]:
        """Write batches until one has compacted; what each asked for."""
        done = [self.counted(self.write)]
        while done[-1].kind("DELETE") == 0:
            self.search()
            done.append(self.counted(self.write))
        return done

    def searches(self) -> Iterator[tuple[str, Counts]]:
        """A cold search, a warm one, one after another's commit, and one that may be stale."""
        self.restart()
        yield "cold", self.counted(self.search)
        yield "warm", self.counted(self.search)
        self.write(1)
        yield "changed", self.counted(self.search)
        self.deployment.reading.allow_staleness(timedelta(seconds=60))
        self.search()
        self.write(1)
        yield "stale", self.counted(self.search)
        self.deployment.reading.allow_staleness(timedelta(0))

    def restart(self) -> None:
        """New processes, that have met another agent: the probe of a foreign endpoint is behind them."""
        self.deployment.restart(PRUNING_AT_ONCE)
        self.write(1, OTHER)


def turns(
    numbers: Sequence[int], days: int = DAYS
) -> Iterator[EmbeddedRecord]:
    """Turns strewn over the last days; embedded in one go, which 100,000 need."""
    texts = [
        f"Dana: {conversation('a', n % 5_000, 2)['messages'][0]['content']}{_rare_words(n)}"
        for n in numbers
    ]
    for number, text, vector in zip(
        numbers, texts, EMBEDDER.embed(texts), strict=True
    ):
        at = NOW - timedelta(days=number % days)
        yield EmbeddedRecord(
            Record(
                id=f"turn-{number:032}",
                memory_type=MemoryType.TURN,
                content=text,
                period=at.date().isoformat(),
                event_time=at,
                created_at=NOW,
                source_ids=(f"m-{number}",),
                conversation_id=f"c-{number // 6}",
                user_id="u-dana",
            ),
            np.asarray(vector, dtype=np.float32),
        )


def _rare_words(number: int) -> str:
    """What makes texts and their lengths differ: of equal scores at its limit a search reads on to all."""
    words = random.Random(number)
    return "".join(
        " " + "".join(words.choices(SYLLABLES, k=2))
        for _ in range(words.randrange(MOST_WORDS))
    )


def _summary(period: Period) -> EmbeddedRecord:
    text = " ".join(
        m["content"]
        for m in conversation("a", hash(period.label) % 10_000, 24)["messages"]
    )
    record = Record(
        id=f"summary-{period.grain}-{period.label}",
        memory_type=MemoryType.SUMMARY,
        content=text,
        period=period.label,
        event_time=period.start(ZONE),
        created_at=NOW,
        source_ids=tuple(f"turn-{number:032}" for number in range(20)),
        source_fingerprints=tuple(f"{number:016}" for number in range(20)),
    )
    return EmbeddedRecord(record, EMBEDDER.embed([text])[0])


def sized(s3: CountingS3, size: int) -> tuple[list[Row], list[Row]]:
    """The rows of searches and of writes for one size."""
    bench = Bench.of(s3, f"size-{size}")
    first = bench.counted(bench.write)
    bench.fill(size)
    bench.summarize()
    found: list[Row] = []
    found += [
        [size, "fresh", name, *_cells([counts])]
        for name, counts in bench.searches()
    ]
    written = bench.until_compacted()
    for _ in range(Upkeep().max_fragments - 8):
        bench.write(1)
    found += [
        [size, "fragmented", name, *_cells([counts])]
        for name, counts in bench.searches()
    ]
    bench.until_compacted()
    found += [
        [
            size,
            "compacted",
            "changed by the compaction",
            *_cells([bench.counted(bench.search)]),
        ]
    ]
    found += [
        [size, "compacted", name, *_cells([counts])]
        for name, counts in bench.searches()
    ]
    ones = [bench.counted(lambda: bench.write(1)) for _ in range(5)]
    strewn = [bench.counted(lambda: bench.write(days=BATCH)) for _ in range(2)]
    bench.restart()
    cold = bench.counted(bench.write)
    period = bench.until_compacted()
    rows = [
        [size, "10 messages, first of the store", *_cells([first])],
        [size, "1 message, warm", *_cells(ones)],
        [size, "10 messages, cold", *_cells([cold])],
        [size, "10 messages, warm", *_cells(written[:-1])],
        [size, "10 messages of 10 days, warm", *_cells(strewn)],
        [size, "10 messages, the one that compacts", *_cells(written[-1:])],
        [
            size,
            f"mean of {len(period)} batches, compaction included",
            *_cells(period),
        ],
    ]
    return found, rows


def writes(s3: CountingS3, size: int) -> list[Row]:
    """Batches of ten: the store's first two, one by a cold process and one after it; the shallower of two."""
    counts: dict[str, list[Counts]] = {}
    for number in range(2):
        bench = Bench.of(s3, f"writes-{size}-{number}")
        for name in ("first of the store", "second"):
            counts.setdefault(name, []).append(bench.counted(bench.write))
        bench.fill(size)
        bench.restart()
        for name in ("cold", "warm"):
            counts.setdefault(name, []).append(bench.counted(bench.write))
    return [
        [size, name, *_cells([min(both, key=lambda one: one.depth)])]
        for name, both in counts.items()
    ]


def periods(s3: CountingS3) -> list[Row]:
    """A search over 120 daily periods beside one over a single one."""
    rows: list[Row] = []
    for amount in (1, 120):
        bench = Bench.of(s3, f"periods-{amount}")
        summaries = [
            _summary(Period.of(NOW, Grain.DAILY, ZONE).shifted(-1 - n))
            for n in range(amount)
        ]
        bench.deployment.writing.records.upsert(
            SCOPE, Grain.DAILY, summaries, EMBEDDER.model
        )
        for name in ("cold", "warm"):
            counts = bench.counted(partial(bench.search, grain="daily"))
            rows.append([amount, name, *_cells([counts])])
    return rows


def contexts(s3: CountingS3) -> list[Row]:
    """The block for a prompt and a recall, of an agent without lessons and of one with twenty."""
    rows: list[Row] = []
    prompt = QUESTION["query_text"]
    request = parse_context_request({"prompt": prompt})

    def context(bench: Bench) -> None:
        assert bench.deployment.reading.context(SCOPE, request, NOW).text

    def recall(bench: Bench) -> None:
        bench.deployment.reading.recall(SCOPE, prompt)

    for amount in (0, 20):
        bench = Bench.of(s3, f"lessons-{amount}")
        bench.fill(1_000)
        bench.summarize()
        records = bench.deployment.writing.records
        if amount:
            records.upsert(
                SCOPE, Store.EXPERIENCE, list(lessons(amount)), EMBEDDER.model
            )
        for name, step in (("context", context), ("recall", recall)):
            bench.restart()
            for state in ("cold", "warm"):
                rows.append(
                    [
                        amount,
                        f"{name}, {state}",
                        *_cells([bench.counted(partial(step, bench))]),
                    ]
                )
    return rows


def lessons(amount: int) -> Iterator[EmbeddedRecord]:
    """Lessons written by hand."""
    for number in range(amount):
        condition = f"an invoice of supplier {number} is overdue"
        version = LessonVersion(
            lesson_id=f"lesson-{number}",
            claim=f"When {condition}, call first.",
            condition=condition,
            action="call first",
            at=NOW,
            created_at=NOW,
        )
        record = lesson_record(version, "2026")
        yield EmbeddedRecord(record, EMBEDDER.embed([record.content])[0])


def large(s3: CountingS3, size: int) -> list[Row]:
    """The same reads and writes with a replica and left to LanceDB on S3."""
    rows: list[Row] = []
    lance_columns.MAX_ROWS = 0
    prefix = f"large-{size}"
    objects = s3_objects(BUCKET, prefix)
    batch = [
        list(turns(range(10**7 + 10 * n, 10**7 + 10 * n + 10)))
        for n in range(8)
    ]

    def opened(name: str) -> LanceRecords:
        caching = Caching(bytes=10**10 if name == "replica" else 0)
        return LanceRecords(
            f"s3://{BUCKET}/{prefix}",
            objects,
            lance_options(),
            caching=caching,
        )

    opened("replica").upsert(
        SCOPE, Grain.WORKING, list(turns(range(size))), EMBEDDER.model
    )
    (question,) = EMBEDDER.embed([QUESTION["query_text"]])
    bench = Bench.of(s3, "unused")

    def search(records: LanceRecords) -> None:
        view = records.at(SCOPE)
        view.columns(SCOPE, Grain.WORKING, model=EMBEDDER.model)
        view.candidates(
            SCOPE,
            Grain.WORKING,
            text=QUESTION["query_text"],
            vector=question,
            model=EMBEDDER.model,
            where=Filter(),
            limit=CANDIDATES,
            reach=BALANCED.reach,
        )

    def write(records: LanceRecords) -> None:
        records.upsert(SCOPE, Grain.WORKING, batch.pop(), EMBEDDER.model)

    for name in ("replica", "LanceDB on S3"):
        records = opened(name)
        rows.append(
            [
                size,
                name,
                "search, cold",
                *_cells([bench.counted(lambda r=records: search(r))]),
            ]
        )
        rows.append(
            [
                size,
                name,
                "search, warm",
                *_cells([bench.counted(lambda r=records: search(r))]),
            ]
        )
        for _ in range(2):
            written = bench.counted(lambda r=records: write(r))
        rows.append(
            [size, name, "write of 10 records, warm", *_cells([written])]
        )
    return rows


def throughput(s3: CountingS3, size: int) -> list[Row]:
    """Batches of a warm writer, one after the other, compactions included."""
    bench = Bench.of(s3, f"throughput-{size}")
    bench.fill(size)
    bench.write()
    s3.reset()
    s3.delay(WITHIN_AWS)
    started, busy = perf_counter(), process_time()
    for _ in range(BATCHES):
        bench.write()
    took, busy = perf_counter() - started, process_time() - busy
    s3.delay(0)
    dollars = float(str(_cells([s3.counts()])[-1])) / BATCHES
    return [
        [size, BATCHES * BATCH / took, 1e3 * busy / BATCHES, f"{dollars:.4f}"]
    ]


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--only",
        choices=(
            "sizes",
            "writes",
            "periods",
            "contexts",
            "large",
            "throughput",
        ),
    )
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument("--quick", action="store_true", help="a store of 100")
    options = parser.parse_args()
    sizes = (
        [100]
        if options.quick
        else [int(size) for size in options.sizes.split(",")]
    )
    print(machine(), flush=True)
    with CountingS3() as s3, s3.as_aws():
        if options.only in (None, "sizes"):
            tables = [sized(s3, size) for size in sizes]
            _show(
                "Searches",
                ["records", "state", "search"],
                [row for found, _ in tables for row in found],
            )
            _show(
                "Writes",
                ["records", "write"],
                [row for _, written in tables for row in written],
            )
        if options.only == "writes":
            rows = [row for size in sizes for row in writes(s3, size)]
            _show("Writes", ["records", "batch of ten"], rows)
        if options.only in (None, "periods"):
            _show("Daily periods", ["periods", "search"], periods(s3))
        if options.only in (None, "contexts"):
            _show("Context and recall", ["lessons", "step"], contexts(s3))
        if options.only in (None, "large"):
            rows = [
                row
                for size in sizes
                if size >= 10_000
                for row in large(s3, size)
            ]
            _show(
                "Replica or LanceDB on S3",
                ["records", "through", "step"],
                rows,
            )
        if options.only in (None, "throughput"):
            rows = [row for size in sizes for row in throughput(s3, size)]
            headings = [
                "records",
                "records a second",
                "ms of processor a batch",
            ]
            print(
                markdown([*headings, "$ per 1,000 batches"], rows), flush=True
            )


def _show(title: str, headings: list[str], rows: list[Row]) -> None:
    print(
        "",
        f"**{title}**",
        markdown([*headings, *HEADINGS], rows),
        sep="\n\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
