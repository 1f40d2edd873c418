"""Ingest to stored, beside a bare write of the same rows: `python benchmarks/throughput.py [--quick]`.

Conversations of generated messages go through `Application.ingest` without queues into a directory, in one
call, so that they share commits. Models are offline. Beside it LanceDB's `table.add` of the very rows, with
their vectors, in one commit. Times are the processor's, all threads; embedding is taken apart.
"""

import argparse
import cProfile
import pstats
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import lancedb
from traffic import conversation, machine, markdown

from tests.support.drivers import open_driver
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.identity import Scope
from varve.domain.record import Vector

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCOPE = Scope("w", "a")
Row = list[object]


@dataclass(slots=True)
class TimedEmbedder:
    """The embedded embedder, without its cache, and how long it took."""

    inner: WordLlamaEmbedder
    seconds: float = 0.0
    texts: int = 0

    @property
    def model(self) -> str:
        """The inner one's."""
        return self.inner.model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Ask the inner one."""
        started = process_time()
        vectors = self.inner.embed(texts)
        self.seconds += process_time() - started
        self.texts += len(texts)
        return vectors


def spoken(conversations: int, messages: int) -> list[Conversation]:
    """So many conversations of an agent, ten minutes apart."""
    made = []
    for number in range(conversations):
        given = conversation(SCOPE.agent, number, messages) | {
            "workspaceId": SCOPE.workspace
        }
        at = NOW - timedelta(minutes=10 * (conversations - number))
        made.append(parse_conversation({**given, "startedAt": at.isoformat()}))
    return made


def measured(name: str, given: list[Conversation], profiled: bool) -> Row:
    """What ingesting them took, and the same rows in one bare commit."""
    embedder = TimedEmbedder(WordLlamaEmbedder())
    embedder.embed(["to load the model"])
    with TemporaryDirectory() as folder:
        application = open_driver(store=folder, now=NOW, embedder=embedder)
        application.ingest(spoken(1, 2))
        embedder.seconds, embedder.texts = 0.0, 0
        profile = cProfile.Profile()
        started = process_time()
        if profiled:
            profile.enable()
        application.ingest(given)
        profile.disable()
        seconds = process_time() - started
        if profiled:
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        table: Any = application.records.open_newest(SCOPE, Grain.WORKING)
        rows = table.to_arrow()
        bare = lancedb.connect(str(Path(folder) / "bare")).create_table(
            "memories", schema=rows.schema
        )
        started = process_time()
        bare.add(rows)
        alone = process_time() - started
    facts = rows.column("memory_type").to_pylist().count("fact")
    own = seconds - embedder.seconds
    rates = [
        len(rows) / seconds,
        facts / seconds,
        len(rows) / own,
        len(rows) / alone,
    ]
    return [
        name,
        len(rows),
        facts,
        *(f"{rate:,.0f}" for rate in rates),
        f"{own / alone:.0f}",
    ]


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--profile", action="store_true", help="what takes the time"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth")
    options = parser.parse_args()
    size = 20 if options.quick else 200
    print(machine(), flush=True)
    rows = [
        measured(
            f"{size} conversations of 6 messages",
            spoken(size, 6),
            options.profile,
        ),
        measured(
            f"{size // 10} of 60", spoken(size // 10, 60), options.profile
        ),
        measured("one of all", spoken(1, 6 * size), options.profile),
    ]
    headings = [
        "ingested",
        "rows",
        "facts",
        "rows/s",
        "facts/s",
        "rows/s but for embedding",
    ]
    print(
        "",
        markdown([*headings, "rows/s, bare add", "ratio"], rows),
        sep="\n\n",
    )


if __name__ == "__main__":
    main()
