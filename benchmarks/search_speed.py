"""How long a warm search takes in process beside the least it must do: `python -m benchmarks.search_speed`.

Conversations of invented words are held as columns, and the same questions are ranked as `search` ranks them,
without the question's embedding and without storage. Beside it, on the same rows: one product of matrix and
vector with the ten best taken from it, and bm25s over the contents. All on one thread of BLAS.
"""

import argparse
import os
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import bm25s
import numpy as np
import Stemmer

from varve.domain.calendar import Grain
from varve.domain.columns import Columns, columns_of
from varve.domain.query import Filter
from varve.domain.question import read_question
from varve.domain.ranking import Lane, rank, records_of
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.signals import Sought
from varve.domain.strategies import BALANCED

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DIMENSIONS, QUESTIONS, MESSAGES = 256, 60, 30
SYLLABLES = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "il", "or", "un", "ant")]


def rows(count: int, luck: random.Random) -> list[EmbeddedRecord]:
    """Turns of some thirty messages a conversation, in words as rare as words are."""
    vocabulary = ["".join(luck.choices(SYLLABLES, k=luck.randint(2, 4))) for _ in range(max(2_000, count))]
    weights = [1 / (rank + 5) for rank in range(len(vocabulary))]
    vectors = np.random.default_rng(1).normal(size=(count, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = []
    for i in range(count):
        said = " ".join(luck.choices(vocabulary, weights, k=luck.randint(5, 40)))
        at = NOW - timedelta(minutes=10 * (count - i))
        speaker = ("Dana", "Lee")[i % 2]
        record = Record(
            f"turn-{i:07}", MemoryType.TURN, f"{speaker}: {said}", "2026-03-02", at, at, (f"m{i}",),
            conversation_id=f"c-{i // MESSAGES}", about=speaker, position=i % MESSAGES,
        )  # fmt: skip
        made.append(EmbeddedRecord(record, vectors[i]))
    return made


def timed(runs: Sequence[Callable[[], object]]) -> float:
    """The median milliseconds of the runs."""
    times = []
    for run in runs:
        started = perf_counter()
        run()
        times.append(1_000 * (perf_counter() - started))
    return median(times)


def by_varve(columns: Columns, asked: Sought) -> Callable[[], object]:
    """One ranking, with the ten records it shows."""
    lane = Lane(Grain.WORKING, columns)
    return lambda: records_of(rank(asked, [lane], Filter(), NOW, BALANCED, 10)[:10])


def measured(count: int) -> tuple[float, float, float]:
    """Milliseconds of the ranking, of the matrix product and of bm25s."""
    luck = random.Random(count)
    embedded = rows(count, luck)
    columns = columns_of(embedded)
    known = np.random.default_rng(2).normal(size=(50_000, DIMENSIONS)).astype(np.float32)

    def embed_words(words: Sequence[str]) -> np.ndarray:
        vectors = known[[hash(word) % len(known) for word in words]]
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    asked = []
    for one in luck.sample(embedded, QUESTIONS):
        text = f"what did Dana say of {' '.join(one.record.content.split()[1:6])}?"
        asked.append(Sought(read_question(text), one.vector, one.vector, embed_words))
    by_varve(columns, asked[0])()  # the index is made once for each version of a store
    stem = Stemmer.Stemmer("english")
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(
        bm25s.tokenize(list(columns.contents), stopwords="en", stemmer=stem, show_progress=False),
        show_progress=False,
    )

    def product(vector: np.ndarray) -> object:
        scores = columns.vectors @ vector
        return np.argpartition(-scores, 10)[:10]

    def words(text: str) -> object:
        tokens = bm25s.tokenize([text], stopwords="en", stemmer=stem, show_progress=False)
        return index.retrieve(tokens, k=10, show_progress=False)

    return (
        timed([by_varve(columns, one) for one in asked]),
        timed([lambda v=one.whole: product(v) for one in asked]),
        timed([lambda t=one.question.text: words(t) for one in asked]),
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 50_000])
    print("| rows | ranking, ms | matrix product, ms | bm25s, ms | ratio |\n|---:|---:|---:|---:|---:|")
    for size in parser.parse_args().sizes:
        ours, product, words = measured(size)
        print(f"| {size:,} | {ours:.2f} | {product:.2f} | {words:.2f} | {ours / (product + words):.1f} |")


if __name__ == "__main__":
    main()
