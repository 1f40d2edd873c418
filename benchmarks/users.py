"""What a night costs an agent with many users of whom few spoke: `python benchmarks/users.py [--quick]`.

All users spoke on Monday, and their day and week are summarized. Then `SPOKE` of them add a message to
Monday, so the day and the week are stale. The pass over each is counted: calls of the summarizer, summaries,
requests to S3, objects below `ledger/`. A further pass with nothing new follows. S3 is the counting one, the
summarizer a stand-in that counts, and each message is longer than is kept without a call.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from counting_s3 import BUCKET, CountingS3, Counts

from varve.domain.calendar import Grain, Period
from varve.domain.identity import Scope
from varve.domain.record import (
    EmbeddedRecord,
    MemoryType,
    Record,
    Vector,
    turn_id,
)
from varve.domain.summary import Summary, SummaryTask
from varve.messages.write import WriteRecords, send_records
from varve.usecases.session import Session
from varve.usecases.summaries.summarize import MAX_CALLS, summarize
from varve.wiring.sessions import Sessions

SCOPE = Scope("acme", "support")
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 10, tzinfo=UTC)
DAY, WEEK = Period(Grain.DAILY, "2026-03-02"), Period(Grain.WEEKLY, "2026-W10")
SPOKE = 100
CHUNK = 500
WORDS = (
    "The boiler in the cellar makes a noise at night and nobody knows why. "
    * 13
)
DIMENSIONS = 256


@dataclass
class CountingSummarizer:
    """A Summarizer that keeps the first words of its sources and counts its calls."""

    name: str = "counting"
    calls: int = 0
    mixed: int = 0

    def summarize(self, task: SummaryTask) -> Summary:
        self.calls += 1
        self.mixed += len({source.user_id for source in task.sources}) > 1
        return Summary(" ".join(one.text for one in task.sources)[:900])


class RandomEmbedder:
    """An Embedder without a model: a vector of each text's hash."""

    model = f"random:{DIMENSIONS}"

    def embed(self, texts: list[str]) -> list[Vector]:
        return [_vector(hash(text) & 0xFFFF_FFFF) for text in texts]


@dataclass
class GivenModels:
    """The models of a session, with these two in the place of its own."""

    inner: Any
    given: CountingSummarizer = field(default_factory=CountingSummarizer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def summarizer(self, *_: object) -> CountingSummarizer:
        return self.given

    def embedder(self, _config: object) -> RandomEmbedder:
        return RandomEmbedder()


def _vector(seed: int) -> Vector:
    vector = (
        np.random.default_rng(seed)
        .standard_normal(DIMENSIONS)
        .astype(np.float32)
    )
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


def _turn(user: int, text: str, minute: int) -> Record:
    name = f"u-{user:05}"
    at = MONDAY + timedelta(minutes=minute)
    return Record(
        id=turn_id(f"c-{name}", f"m{minute}"),
        memory_type=MemoryType.TURN,
        content=f"{name}: {text}",
        period=DAY.label,
        event_time=at,
        created_at=at,
        source_ids=(f"m{minute}",),
        conversation_id=f"c-{name}",
        user_id=name,
        about=name,
    )


def tell(session: Session, records: list[Record]) -> None:
    """Write turns in commits of `CHUNK`."""
    for first in range(0, len(records), CHUNK):
        chunk = records[first : first + CHUNK]
        vectors = RandomEmbedder().embed([one.content for one in chunk])
        pairs = zip(chunk, vectors, strict=True)
        embedded = tuple(
            EmbeddedRecord(record, vector) for record, vector in pairs
        )
        message = WriteRecords(
            SCOPE, Grain.WORKING, RandomEmbedder.model, embedded
        )
        send_records(
            message, queue=session.queues.write, objects=session.objects
        )
        session.queues.flush()


def run_period(
    session: Session, period: Period, most_calls: int
) -> tuple[int, int]:
    """Summarize a period in parts; return the summaries built and the parts."""
    built = 0
    parts = 0
    part = None
    while True:
        done = summarize(session, period, part, most_calls)
        session.queues.flush()
        built += done.built
        parts += 1
        part = done.rest
        if part is None:
            return built, parts


def measured(
    s3: CountingS3,
    session: Session,
    summarizer: CountingSummarizer,
    period: Period,
) -> list[object]:
    """Return a row of the table: one period's pass."""
    calls = summarizer.calls
    s3.reset()
    built, parts = run_period(session, period, MAX_CALLS)
    counts: Counts = s3.counts()
    ledger = sum(
        number
        for name, number in counts.by_prefix.items()
        if name.startswith("ledger")
    )
    return [
        summarizer.calls - calls,
        built,
        parts,
        counts.requests,
        ledger,
        s3.usage("memory/ledger/").objects,
        round(counts.bytes_out / 1e6, 1),
    ]


def rows(s3: CountingS3, users: int) -> Iterator[tuple[str, list[object]]]:
    """Yield the table's rows."""
    sessions = Sessions.from_environment(
        f"s3://{BUCKET}/memory",
        NOW,
        {"VARVE_LLM": "offline", **s3.environment()},
    )
    with sessions.open(SCOPE) as opened:
        models = GivenModels(opened.models)
        session = replace(opened, models=models)
        summarizer = models.given
        tell(session, [_turn(user, WORDS, 0) for user in range(users)])
        for period in (DAY, WEEK):
            run_period(session, period, CHUNK)
        assert summarizer.calls == 2 * users
        step = users // SPOKE
        tell(
            session,
            [_turn(user * step, "It stopped.", 1) for user in range(SPOKE)],
        )
        measure = partial(measured, s3, session, summarizer)
        yield "day", measure(DAY)
        yield "week", measure(WEEK)
        yield "day again", measure(DAY)
        assert summarizer.mixed == 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--users", type=int, nargs="*", default=[SPOKE, 1_000, 10_000]
    )
    sizes = parser.parse_args().users
    print(
        "| users | pass | calls | summaries | parts | S3 requests | of the ledger |",
        end="",
    )
    print(" ledger objects after | MB read |")
    print("|" + "---|" * 9)
    for users in sizes:
        with CountingS3() as s3, s3.as_aws():
            for name, values in rows(s3, users):
                cells = " | ".join(
                    str(value) for value in (users, name, *values)
                )
                print(f"| {cells} |", flush=True)


if __name__ == "__main__":
    main()
