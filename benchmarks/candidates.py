"""What ranking a store from candidates finds of what ranking all of it finds.

`python benchmarks/candidates.py --locomo FILE [--filler N]`. The conversations of the file (LoCoMo's shape;
its data is not part of this project) are ingested into one memory, with generated turns beside them so that
it is large, and it gets the indices of a large store. Every third question is asked of all rows held in
memory, and then from so many candidates of each lane with what was said around them: recall@10 of the
messages that hold the answer, and how many of the first ten results are the same.
"""

import argparse
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from large_stores import BLOCK
from retrieval import Question, locomo
from round_trips import EMBEDDER, turns
from traffic import machine, markdown

from tests.support.drivers import driver_of
from tests.support.internals import gather_candidates, hold_rows
from varve import Memory
from varve.adapters.lance.upkeep import Upkeep, compact
from varve.domain.calendar import Grain

AMOUNTS = (50, 100, 200)
EVERY = 3


def filled(
    path: Path, folder: str, filler: int
) -> tuple[Memory, list[Question]]:
    """One memory of all the file's conversations and the generated turns, and the questions about them."""
    memory, questions = opened(folder), []
    for sample in locomo(path, None):
        given = [
            {
                **one,
                "messages": [
                    {**m, "id": f"{sample.name}:{m['id']}"}
                    for m in one["messages"]
                ],
            }
            for one in sample.conversations
        ]
        memory.ingest(given)
        for asked in sample.questions:
            evidence = frozenset(
                f"{sample.name}:{id_}" for id_ in asked.evidence
            )
            questions.append(Question(asked.text, evidence, asked.category))
    for start in range(0, filler, BLOCK):
        rows = list(turns(range(start, min(filler, start + BLOCK)), days=300))
        driver_of(memory).records.upsert(
            memory.scope, Grain.WORKING, rows, EMBEDDER.model
        )
    table: Any = driver_of(memory).records.open_newest(
        memory.scope, Grain.WORKING
    )
    compact(table, Upkeep(index_rows=0), timedelta(days=7))
    return memory, questions[::EVERY]


def opened(folder: str) -> Memory:
    """The memory anew, with nothing of it held."""
    return Memory.open(
        Path(folder), workspace="default", agent="default", environment={}
    )


def asked(
    memory: Memory, questions: Sequence[Question]
) -> tuple[float, list[list[str]]]:
    """The recall@10 of all questions in percent, and each one's first ten results by id."""
    recalls, shown = [], []
    for question in questions:
        results = memory.search(question.text, max_results=10).results
        sources = list(
            dict.fromkeys(
                id_ for result in results for id_ in result.source_ids
            )
        )[:10]
        recalls.append(
            len(question.evidence.intersection(sources))
            / len(question.evidence)
        )
        shown.append([result.id for result in results])
    return 100 * mean(recalls), shown


def main() -> None:
    """Read the options, run, print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument(
        "--filler", type=int, default=20_000, help="generated turns"
    )
    options = parser.parse_args()
    print(machine(), flush=True)
    with TemporaryDirectory() as folder:
        _, questions = filled(options.locomo, folder, options.filler)
        hold_rows(None, 10**9)
        recall, exact = asked(opened(folder), questions)
        rows: list[list[object]] = [["all rows", f"{recall:.1f}", ""]]
        hold_rows(None, 0)
        for amount in AMOUNTS:
            gather_candidates(None, amount)
            recall, found = asked(opened(folder), questions)
            same = mean(
                len({*a} & {*b}) / len(a)
                for a, b in zip(exact, found, strict=True)
                if a
            )
            rows.append(
                [
                    f"{amount} of each lane",
                    f"{recall:.1f}",
                    f"{100 * same:.0f}",
                ]
            )
    print(
        f"\n{len(questions)} questions\n\n{markdown(['ranked', 'recall@10', 'of the same ten, %'], rows)}"
    )


if __name__ == "__main__":
    main()
