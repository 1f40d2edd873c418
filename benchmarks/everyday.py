"""Whether a memory of everyday statements answers rightly: `python -m benchmarks.everyday`.

Each memory of `benchmarks/everyday` (see `everyday_cases.py`) is one person's: 14 to 20
statements on different days, a third of which change what was said before, and questions
about the present. Those of `diaries` tell what was done, which stays so, and the questions ask
for that. Those of `plain` are of a first try: 5 to 8 short statements, of which one or two change,
beside others of nearly the same kind. No model is configured. Printed for each hand that wrote them:

- first right: the first result is a statement that answers;
- stale first: the first result is one that answered before;
- unmarked: among the first five one answered before, and has no mark;
- falsely marked: among the first five one that nothing changed is marked as superseded;
- context right, stale: the block has the statement; it has one that answered before
  without a mark;
- all told: the block has every statement that answers, and none of them with a mark;
- nothing: of the questions that nothing answers, the block tells no statement.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.everyday_cases import HANDS, NOW, USER, Asked, Told, fill, read
from benchmarks.updates import is_marked
from varve import Memory

HEADINGS = (
    "first right", "stale first", "unmarked", "falsely marked",
    "context right", "context stale", "all told", "nothing",
)  # fmt: skip
WORDS_COMPARED = 25
"""So many characters of a statement tell that a line of a block says it."""


def main() -> None:
    """Print a row for each hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hand", choices=HANDS, action="append")
    parser.add_argument(
        "--stores", type=Path, help="keep the stores in this folder"
    )
    arguments = parser.parse_args()
    print(f"| hand | {' | '.join(HEADINGS)} |")
    print(f"| --- |{' ---: |' * len(HEADINGS)}")
    for hand in arguments.hand or HANDS:
        with TemporaryDirectory() as temporary:
            folder = arguments.stores or Path(temporary)
            print(measure(hand, folder / hand))


def measure(hand: str, folder: Path) -> str:
    """Return the row of a hand's memories."""
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for told in read(hand):
        memory = fill(told, folder / told.name)
        for asked in told.questions:
            for name, holds in judge(memory, told, asked):
                counts[name] += holds
                totals[name] += 1
    cells = [f"{counts[name]} of {totals[name]}" for name in HEADINGS]
    return f"| {hand} | {' | '.join(cells)} |"


def judge(
    memory: Memory, told: Told, asked: Asked
) -> Iterator[tuple[str, bool]]:
    """Yield what holds of the answers to a question."""
    block = memory.context(asked.text, user_id=USER, now=NOW)
    if not asked.answers:
        yield "nothing", not block.text
        return
    found = memory.search(
        asked.text, user_id=USER, max_results=5, now=NOW
    ).results
    marks = [(set(one.source_ids), one.current) for one in found]
    first = marks[0][0] if marks else set()
    is_right = bool(first & asked.answers)
    lines = (block.text or block.head).lower().splitlines()
    unmarked = [line for line in lines if not is_marked(line)]
    yield "first right", is_right
    yield "stale first", bool(first & asked.stale) and not is_right
    yield "unmarked", any(ids & asked.stale and now for ids, now in marks)
    yield (
        "falsely marked",
        any(not (ids & told.superseded or now) for ids, now in marks),
    )
    yield "context right", _tells(lines, told, asked.answers)
    yield "context stale", _tells(unmarked, told, asked.stale)
    every = (frozenset({one}) for one in asked.answers)
    yield "all told", all(_tells(unmarked, told, one) for one in every)


def _tells(lines: list[str], told: Told, ids: frozenset[str]) -> bool:
    texts = [told.statements[id_][:WORDS_COMPARED].lower() for id_ in ids]
    return any(text in line for text in texts for line in lines)


if __name__ == "__main__":
    main()
