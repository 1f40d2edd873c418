"""How long a warm search takes in process beside the least it must do: `python -m benchmarks.search_speed`.

Conversations of invented words are held as columns, and the same questions are ranked as `search` ranks them,
without embedding and without storage; then asked of `Memory` on a directory, whose embedder is replaced by
one that knows all answers beforehand. Beside it, on the same rows: one product of matrix and vector with the
ten best taken from it, and bm25s over the contents. On one thread of BLAS. `in a row`: each way is given all
questions before the next one is, so that the processor's caches hold what it needs. `in turns`: each question
is given to all ways before the next one is, so that they hold what the others left, as in a process that has
other things to do. Of the rounds the least counts, where other work bore least, and of the questions the
median. `new words`: the question's words were not asked for since the store changed; `again`: they were.
The second table has BM25 as others call it, in a row: rank_bm25 over words between spaces, and bm25s unasked
to be silent, its bars of progress written to nowhere. The store was written some seconds before: until then
each search reads the names of its manifests. The last table
has the processor's time of a whole search, all threads: a store's first, the first after a commit of one row
(the least and the median of many), and that after a commit which compacted.
"""

import argparse
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import accumulate
from statistics import median
from time import perf_counter, process_time, sleep

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import bm25s
import numpy as np
import Stemmer
from rank_bm25 import BM25Okapi

from tests.support.drivers import driver_of, open_driver
from varve import Memory
from varve.adapters.lance.upkeep import Upkeep
from varve.adapters.lance_cache.version_watch import COARSEST_SECONDS
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.search.columns import columns_of
from varve.domain.search.query import Filter
from varve.domain.search.question import read_question
from varve.domain.search.ranking import Lane, rank
from varve.domain.search.signals import EmbeddedQuestion
from varve.domain.search.strategies import BALANCED

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DIMENSIONS, QUESTIONS, MESSAGES, ROUNDS = 256, 60, 30, 9
BM25S = ("rank_bm25", "bm25s unasked", "bm25s")
SYLLABLES = [
    a + b for a in "bdfgklmnprst" for b in ("a", "e", "il", "or", "un", "ant")
]


def rows(count: int, luck: random.Random) -> list[EmbeddedRecord]:
    """Turns of some thirty messages a conversation, in words as rare as words are."""
    vocabulary = [
        "".join(luck.choices(SYLLABLES, k=luck.randint(2, 4)))
        for _ in range(max(2_000, count))
    ]
    weights = list(
        accumulate(1 / (rank + 5) for rank in range(len(vocabulary)))
    )
    vectors = (
        np.random.default_rng(1)
        .normal(size=(count, DIMENSIONS))
        .astype(np.float32)
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = []
    for i in range(count):
        said = " ".join(
            luck.choices(
                vocabulary, cum_weights=weights, k=luck.randint(5, 40)
            )
        )
        at = NOW - timedelta(minutes=10 * (count - i))
        speaker = ("Dana", "Lee")[i % 2]
        record = Record(
            f"turn-{i:07}", MemoryType.TURN, f"{speaker}: {said}", "2026-03-02", at, at, (f"m{i}",),
            conversation_id=f"c-{i // MESSAGES}", about=speaker, position=i % MESSAGES,
        )  # fmt: skip
        made.append(EmbeddedRecord(record, vectors[i]))
    return made


class Known:
    """An embedder that was asked everything before: what is left of it is a look into a dictionary."""

    model = f"known:{DIMENSIONS}"

    def __init__(self) -> None:
        self._of: dict[str, np.ndarray] = {}
        self._luck = np.random.default_rng(2)

    def embed(self, texts: Sequence[str]) -> list[np.ndarray]:
        """A vector for each text, always the same."""
        for text in texts:
            if text not in self._of:
                drawn = self._luck.normal(size=DIMENSIONS).astype(np.float32)
                self._of[text] = drawn / np.linalg.norm(drawn)
        return [self._of[text] for text in texts]

    def embed_words(self, words: Sequence[str]) -> np.ndarray:
        """A row for each word."""
        return np.array(self.embed(words))


KNOWN = Known()
"""The embedder of every memory here."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a text, with its vector, and as the ranking is given it."""

    text: str
    vector: np.ndarray
    sought: EmbeddedQuestion


Way = Callable[[Asked], object]


def medians(
    ways: Mapping[str, Way],
    asked: Sequence[Asked],
    *,
    turns: bool,
    start: Callable[[], object] = list,
) -> dict[str, float]:
    """The median over questions of the least milliseconds that a way took for it in any round."""
    by_way = [(name, one) for name in ways for one in asked]
    by_question = [(name, one) for one in asked for name in ways]
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(ROUNDS):
        start()
        for name, one in by_question if turns else by_way:
            started = perf_counter()
            ways[name](one)
            times[name, one.text].append(1_000 * (perf_counter() - started))
    return {
        name: median(min(times[name, one.text]) for one in asked)
        for name in ways
    }


def the_least(embedded: Sequence[EmbeddedRecord]) -> dict[str, Way]:
    """One product of matrix and vector, and BM25 by two packages, over the same rows."""
    vectors = np.array([one.vector for one in embedded])
    stem = Stemmer.Stemmer("english")
    index = bm25s.BM25(k1=0.9, b=0.4)
    contents = [one.record.content for one in embedded]
    tokens = bm25s.tokenize(
        contents, stopwords="en", stemmer=stem, show_progress=False
    )
    index.index(tokens, show_progress=False)

    def product(one: Asked) -> object:
        return np.argpartition(-(vectors @ one.vector), 10)[:10]

    def quiet(one: Asked) -> object:
        tokens = bm25s.tokenize(
            [one.text], stopwords="en", stemmer=stem, show_progress=False
        )
        return index.retrieve(tokens, k=10, show_progress=False)

    def unasked(one: Asked) -> object:
        with redirect_stderr(StringIO()):
            return index.retrieve(
                bm25s.tokenize([one.text], stopwords="en", stemmer=stem), k=10
            )

    okapi = BM25Okapi([content.lower().split() for content in contents])

    def plain(one: Asked) -> object:
        return okapi.get_top_n(one.text.lower().split(), contents, n=10)

    return {
        "product": product,
        "bm25s": quiet,
        "bm25s unasked": unasked,
        "rank_bm25": plain,
    }


def memory_of(folder: str, seconds: int = 0) -> Memory:
    """A memory in a directory, searched within a staleness of so many seconds."""
    environment = {"VARVE_MAX_STALENESS_SECONDS": str(seconds)}
    return open_driver(environment, folder, embedder=KNOWN).memory(
        Scope("default", "default")
    )


def growing(count: int, folder: str) -> list[float]:
    """Milliseconds of the processor for a store's first search, the first after a row more (the least and the
    median of many) and the first after a row more and a compaction."""
    commits = Upkeep().max_fragments
    embedded, known = rows(count + commits, random.Random(count)), KNOWN
    memory = memory_of(f"{folder}/growing-{count}")
    taken: list[float] = []
    compacted, before = [], 0
    for last in range(count, count + commits + 1):
        fresh = embedded[last - 1 : last] if taken else embedded[:count]
        written = driver_of(memory).records.upsert(
            memory.scope, Grain.WORKING, fresh, known.model
        )
        started = process_time()
        memory.search(embedded[0].record.content, now=NOW)
        one = 1_000 * (process_time() - started)
        (
            compacted if taken and written.version > before + 1 else taken
        ).append(one)
        before = written.version
    return [taken[0], min(taken[1:]), median(taken[1:]), *compacted]


def measured(count: int, folder: str) -> list[dict[str, float]]:
    """Milliseconds of each way for a store of so many rows, in a row and in turns; others' in a row alone."""
    luck = random.Random(count)
    embedded, known = rows(count, luck), KNOWN
    asked = []
    for one in luck.sample(embedded, QUESTIONS + 1):
        text = f"what did Dana say of {' '.join(one.record.content.split()[1:6])}?"
        question = read_question(text)
        known.embed([text, *question.forms])
        asked.append(
            Asked(
                text,
                one.vector,
                EmbeddedQuestion(
                    question, one.vector, one.vector, known.embed_words
                ),
            )
        )
    lanes = [Lane(Grain.WORKING, columns_of(embedded))]

    def ranking(one: Asked) -> object:
        return rank(one.sought, lanes, Filter(), NOW, BALANCED, 10)[:10]

    def memory(seconds: int) -> Way:
        opened = memory_of(f"{folder}/{count}", seconds)
        if not seconds:
            driver_of(opened).records.upsert(
                opened.scope, Grain.WORKING, embedded, known.model
            )
        return lambda one: opened.search(one.text, now=NOW)

    others = the_least(embedded)
    least = {name: others.pop(name) for name in ("product", "bm25s")}
    ranking(asked[0])  # the index is made once for each version of a store

    def forget_words() -> None:
        columns = lanes[0].columns
        columns.occurrences_by_reach.clear()
        columns.lexical.terms.clear()
        columns.occurrences(BALANCED.reach)

    anew: dict[str, Way] = {"new words": ranking, **least}
    ways = {
        "again": ranking,
        "Memory.search": memory(0),
        "within staleness": memory(600),
        **least,
    }
    for way in [*ways.values(), *others.values()]:
        for question_asked in asked:
            way(question_asked)
    sleep(COARSEST_SECONDS)
    found = []
    for turns in (False, True):
        known_words = medians(ways, asked[1:], turns=turns)
        found.append(
            known_words
            | medians(anew, asked[1:], turns=turns, start=forget_words)
            | known_words
        )
    return [found[0] | medians(others, asked[1:], turns=False), found[1]]


def beside_others(taken: Mapping[str, float]) -> str:
    """A line's cells: a whole search, the product, and each BM25 with the ratio to product and it."""
    whole, product = taken["Memory.search"], taken["product"]
    cells = (
        f"{taken[name]:.2f} | {whole / (product + taken[name]):.1f}"
        for name in BM25S
    )
    return f"{whole:.2f} | {product:.2f} | {' | '.join(cells)}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[1_000, 10_000, 50_000]
    )
    parser.add_argument(
        "--growing", type=int, nargs="*", default=[1_000, 10_000, 99_000]
    )
    shown = ("new words", "again", "Memory.search", "within staleness")
    given = parser.parse_args()
    print(
        "| rows | measured | product + bm25s, ms |",
        " | ".join(f"{n}, ms | ratio" for n in shown),
        "|",
    )
    print("|---:|---|---:", "|---:" * (2 * len(shown)), "|", sep="")
    by_others = []
    with tempfile.TemporaryDirectory() as folder:
        for size in given.sizes:
            for how, taken in zip(
                ("in a row", "in turns"), measured(size, folder), strict=True
            ):
                least = taken["product"] + taken["bm25s"]
                cells = " | ".join(
                    f"{taken[name]:.2f} | {taken[name] / least:.1f}"
                    for name in shown
                )
                print(
                    f"| {size:,} | {how} | {taken['product']:.2f} + {taken['bm25s']:.2f} | {cells} |"
                )
                if how == "in a row":
                    by_others.append(f"| {size:,} | {beside_others(taken)} |")
        print(
            "\n| rows | Memory.search, ms | product, ms |",
            " | ".join(f"{n}, ms | ratio" for n in BM25S),
            "|",
        )
        print("|---:|---:|---:", "|---:" * (2 * len(BM25S)), "|", sep="")
        print("\n".join(by_others))
        print(
            "\n| rows | the first search, ms | after a row more, ms | the median | after a compaction, ms |"
        )
        print("|---:|---:|---:|---:|---:|")
        for size in given.growing:
            print(
                f"| {size:,} |",
                " | ".join(f"{taken:.0f}" for taken in growing(size, folder)),
                "|",
            )


if __name__ == "__main__":
    main()
