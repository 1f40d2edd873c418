"""Whether a memory of everyday statements answers rightly: `python -m benchmarks.everyday`.

Each memory of `benchmarks/everyday` (see `everyday_cases.py`) is one person's: 14 to 20
statements on different days, a third of which change what was said before, and questions
about the present. Those of `diaries` tell what was done, which stays so, and the questions ask
for that. Those of `plain` are of a first try: 5 to 8 short statements, of which one or two change,
beside others of nearly the same kind; those of `few` have two to five. No model is configured.
Printed for each hand that wrote them:

- first right: the first result is a statement that answers;
- stale first: the first result is one that answered before;
- unmarked: among the first five one answered before, and has no mark;
- falsely marked: among the first five one that nothing changed is marked as superseded;
- context right, stale: the block has the statement; it has one that answered before
  without a mark;
- all told: the block has every statement that answers, and none of them with a mark;
- answer marked: among the first five one that answers is marked as superseded;
- nothing: of the questions that nothing answers, the block tells no statement.

Those of `talks` are natural chats, with the assistant's replies. With `--expired` the words
have expired on plan free, a week after the last statement, and summaries answer: a result is
of all statements whose sentences it tells, each with a mark of its own.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.everyday_cases import (
    HANDS,
    NOW,
    USER,
    Asked,
    Told,
    fill,
    fill_expired,
    find_expiry,
    read,
)
from benchmarks.updates import is_marked
from varve import Memory
from varve.domain.record import MemoryType
from varve.domain.search.answer import Result
from varve.domain.statements.answers.summary_sentences import read_sentences

HEADINGS = (
    "first right", "stale first", "unmarked", "falsely marked",
    "context right", "context stale", "all told", "answer marked", "nothing",
)  # fmt: skip
WORDS_COMPARED = 25
"""So many characters of a statement tell that a line of a block says it."""

Marks = list[tuple[set[str], bool]]
"""The ids of statements that are told, and whether they are said to hold."""


def main() -> None:
    """Print a row for each hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand", choices=HANDS, action="append")
    parser.add_argument(
        "--memories", type=int, help="only so many memories of each hand"
    )
    parser.add_argument(
        "--expired", action="store_true", help="let the words expire first"
    )
    parser.add_argument(
        "--stores", type=Path, help="keep the stores in this folder"
    )
    arguments = parser.parse_args()
    print(f"| hand | {' | '.join(HEADINGS)} |")
    print(f"| --- |{' ---: |' * len(HEADINGS)}")
    for hand in arguments.hand or HANDS:
        with TemporaryDirectory() as temporary:
            folder = (arguments.stores or Path(temporary)) / hand
            memories = read(hand)[: arguments.memories]
            counted = measure(memories, folder, expired=arguments.expired)
            cells = [counted.get(name, "0 of 0") for name in HEADINGS]
            print(f"| {hand} | {' | '.join(cells)} |")


def measure(
    memories: Sequence[Told], folder: Path, *, expired: bool
) -> dict[str, str]:
    """Return the cells of a row by their headings."""
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for told in memories:
        fill_memory = fill_expired if expired else fill
        memory = fill_memory(told, folder / told.name)
        now = find_expiry(told) if expired else NOW
        for asked in told.questions:
            for name, holds in judge(memory, told, asked, now):
                counts[name] += holds
                totals[name] += 1
    return {name: f"{counts[name]} of {totals[name]}" for name in totals}


def judge(
    memory: Memory, told: Told, asked: Asked, now: datetime
) -> Iterator[tuple[str, bool]]:
    """Yield what holds of the answers to a question."""
    block = memory.context(asked.text, user_id=USER, now=now)
    if not asked.answers:
        yield "nothing", not block.text
        return
    found = memory.search(
        asked.text, user_id=USER, max_results=5, now=now
    ).results
    told_by = [_list_marks(one, told) for one in found]
    marks = list(chain.from_iterable(told_by))
    first = set().union(*(ids for ids, _ in told_by[0])) if told_by else set()
    is_right = bool(first & asked.answers)
    lines = (block.text or block.head).lower().splitlines()
    unmarked = [line for line in lines if not is_marked(line)]
    yield "first right", is_right
    yield "stale first", bool(first & asked.stale) and not is_right
    yield "unmarked", any(ids & asked.stale and holds for ids, holds in marks)
    yield (
        "falsely marked",
        any(not (ids & told.superseded or holds) for ids, holds in marks),
    )
    right = asked.answers - asked.stale
    yield (
        "answer marked",
        any(ids & right and not holds for ids, holds in marks),
    )
    yield "context right", _tells(lines, told, asked.answers)
    yield "context stale", _tells(unmarked, told, asked.stale)
    every = (frozenset({one}) for one in asked.answers)
    yield "all told", all(_tells(unmarked, told, one) for one in every)


def _list_marks(found: Result, told: Told) -> Marks:
    """Return the statements that a result tells, a summary those of its sentences."""
    if found.memory_type != MemoryType.SUMMARY:
        return [(set(found.source_ids), found.current)]
    marks: Marks = []
    for one in read_sentences(found.content):
        ids = told.find_saying(one.wording)
        holds = found.current and one.wording not in found.outdated
        if ids:
            marks.append((ids, holds))
    return marks


def _tells(lines: list[str], told: Told, ids: frozenset[str]) -> bool:
    texts = [told.statements[id_][:WORDS_COMPARED].lower() for id_ in ids]
    return any(text in line for text in texts for line in lines)


if __name__ == "__main__":
    main()
