"""Whether memory answers with what was told last: `python -m benchmarks.updates`.

Each case of `benchmarks/updates` (see `updates_cases.py`) is a store of its own: one
statement and what changes it, or a look-alike that changes nothing, among chatter and
the assistant's echoes. With `--together`, eight cases of other categories share a store
and a user; with `--answered`, the assistant replies at length, as models do. No model is
configured. With `--phrases` search is asked in phrases, as agents do ("user's current
rent"), and the context with the question. The chatter is of a hand whose lines no fit and
no choice has seen; with `--chatter` it is that of the fits or of the choices. Printed for
each part, beside BM25 over the same words and BM25's best five, newest first:

- first right: the first result is the message that holds;
- stale first: the first result says a superseded value and not the one that holds;
- unmarked: among the first five one says a superseded value, without a mark;
- context right, stale: the block has the value; it has a superseded one without a mark;
- look-alikes: the first result is the message that holds;
- falsely marked: among the first five, the message that holds is marked as superseded;
- past: of the questions about the past, the first result is a superseded message;
- echoes: of the first three places, those of the assistant.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bm25s
import Stemmer

from benchmarks.updates_cases import (
    BEGINNING,
    CHOSEN,
    FITTED,
    OTHER,
    Case,
    Line,
    build_conversations,
    build_together,
    group_cases,
    read_answered_cases,
    read_cases,
    read_phrased_cases,
)
from tests.support.drivers import open_memory
from varve import Memory
from varve.domain.identity import Scope

PARTS = (
    "fitted", "second", "third", "fourth", "fifth", "sixth", "seventh",
    "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
    "fourteenth", "fifteenth", "held-out", "unseen", "apart", "kept",
    "others", "things", "final", "last", "untried", "untouched",
    "fresh",
)  # fmt: skip
ANSWERED_PARTS = ("final", "untouched")
PHRASED_PARTS = ("final", "apart", "kept")
SCOPE = Scope("default", "default")
NOW = BEGINNING + timedelta(days=200)
WAYS = ("varve", "BM25", "BM25, five newest")
HEADINGS = (
    "first right", "stale first", "unmarked", "context right", "context stale",
    "look-alikes", "falsely marked", "past", "echoes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    """One result: its words, its messages, and whether it is marked as superseded."""

    text: str
    messages: tuple[str, ...]
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Answers:
    """What one way answers to a case's questions; a block is "" where it has none."""

    present: list[Shown]
    past: list[Shown]
    block: str = ""


@dataclass(slots=True)
class Tally:
    """The counts of one way, and how many questions each is out of."""

    counts: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, *, holds: bool) -> None:
        """Count one question."""
        self.counts[name] += holds
        self.totals[name] += 1

    def row(self, way: str) -> str:
        """Return the row of the table."""
        cells = [
            f"{self.counts[name]} of {self.totals[name]}" for name in HEADINGS
        ]
        return f"| {way} | {' | '.join(cells)} |"


def main() -> None:
    """Print a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--together", action="store_true")
    parser.add_argument(
        "--answered",
        action="store_true",
        help="with written replies of the assistant: final and untouched",
    )
    parser.add_argument(
        "--phrases",
        action="store_true",
        help="search for phrases: final, apart and kept",
    )
    parser.add_argument(
        "--chatter",
        choices=(FITTED, CHOSEN, OTHER),
        default=OTHER,
        help="the chatter of the fits, of the choices, or of neither",
    )
    parser.add_argument("--failures", action="store_true")
    parser.add_argument(
        "--stores", type=Path, help="keep the stores in this folder"
    )
    arguments = parser.parse_args()
    parts, read = _choose_cases(arguments)
    for part in arguments.part or parts:
        cases = read(f"{part}.txt")
        groups = [[case] for case in cases]
        if arguments.together:
            groups = group_cases(cases)
        count = sum(map(len, groups))
        print(f"\n{part}: {count} cases in {len(groups)} stores\n")
        print(f"| way | {' | '.join(HEADINGS)} |")
        print(f"| --- |{' ---: |' * len(HEADINGS)}")
        report = print if arguments.failures else _keep_quiet
        with TemporaryDirectory() as temporary:
            folder = arguments.stores or Path(temporary)
            name = f"{part}-answered" if arguments.answered else part
            tallies = measure(
                groups,
                folder / f"{name}-{arguments.chatter}",
                report,
                arguments.chatter,
            )
        for way, tally in tallies.items():
            print(tally.row(way))


def _choose_cases(
    arguments: argparse.Namespace,
) -> tuple[Sequence[str], Callable[[str], list[Case]]]:
    """Return the parts that are measured, and how their cases are read."""
    if arguments.answered:
        return ANSWERED_PARTS, read_answered_cases
    if arguments.phrases:
        return PHRASED_PARTS, read_phrased_cases
    return PARTS, read_cases


def measure(
    groups: Sequence[Sequence[Case]],
    folder: Path,
    report: Callable[[str], object],
    chatter: str,
) -> dict[str, Tally]:
    """Return the counts of each way; `report` gets failures of Varve.

    Each group of cases shares a store, among the chatter of this purpose.
    """
    tallies = {way: Tally() for way in WAYS}
    for group in groups:
        memory, conversations = fill_store(group, folder, chatter)
        for case in group:
            own = ask_memory(memory, case, conversations)
            every = {"varve": own, **ask_bm25(case, conversations)}
            for way, answers in every.items():
                judge(case, answers, tallies[way])
            failure = describe_failure(case, own)
            if failure:
                report(failure)
    return tallies


def fill_store(
    group: Sequence[Case], folder: Path, chatter: str
) -> tuple[Memory, list[dict[str, Any]]]:
    """Return a memory with the conversations of a group of cases, and these.

    Around them stands the chatter of this purpose (`updates_cases.py`).
    """
    is_alone = len(group) == 1
    conversations = (
        build_conversations(group[0], chatter)
        if is_alone
        else build_together(group, chatter)
    )
    numbers = [str(case.number) for case in group]
    place = folder / "-".join(numbers)
    memory = open_memory(SCOPE, place, now=lambda: NOW)
    memory.ingest(conversations)
    return memory, conversations


def ask_memory(
    memory: Memory, case: Case, conversations: Sequence[dict[str, Any]]
) -> Answers:
    """Ask Varve all of a case's questions."""
    user = conversations[0].get("userId")

    def search(question: str) -> list[Shown]:
        found = memory.search(
            question, user_id=user, max_results=5, now=NOW
        ).results
        return [_shown(result) for result in found]

    block = memory.context(case.question, user_id=user, now=NOW)
    past = search(case.past) if case.past else []
    # The block escapes what would end it, as "&".
    told = unescape(block.text or block.head)
    return Answers(search(case.searched), past, told)


def _shown(result: Any) -> Shown:
    is_marked = getattr(result, "current", True) is False
    return Shown(result.content, tuple(result.source_ids), is_marked)


def ask_bm25(
    case: Case, conversations: Sequence[dict[str, Any]]
) -> dict[str, Answers]:
    """Ask BM25 over the same messages all of a case's questions, in both orders."""
    messages = []
    for conversation in conversations:
        messages += conversation["messages"]
    stemmer = Stemmer.Stemmer(
        "spanish" if case.language == "es" else "english"
    )
    texts = [message["content"] for message in messages]
    index = bm25s.BM25()
    tokens = bm25s.tokenize(
        texts, stopwords=case.language, stemmer=stemmer, show_progress=False
    )
    index.index(tokens, show_progress=False)

    def find(question: str) -> list[int]:
        asked = bm25s.tokenize(
            question,
            stopwords=case.language,
            stemmer=stemmer,
            show_progress=False,
        )
        if not question or not asked.vocab:
            return []
        numbers, scores = index.retrieve(asked, k=5, show_progress=False)
        pairs = zip(numbers[0].tolist(), scores[0].tolist(), strict=True)
        return [number for number, score in pairs if score > 0]

    def shown(numbers: Sequence[int]) -> list[Shown]:
        return [Shown(texts[at], (messages[at]["id"],)) for at in numbers]

    present = find(case.searched)
    past = find(case.past)
    newest = Answers(
        shown(sorted(present, reverse=True)), shown(sorted(past, reverse=True))
    )
    return {WAYS[1]: Answers(shown(present), shown(past)), WAYS[2]: newest}


def judge(case: Case, answers: Answers, tally: Tally) -> None:
    """Count a way's answers to one case."""
    first = answers.present[:1]
    is_right = any(_is_of(shown, "new", case) for shown in first)
    is_false = any(
        one.is_marked and _is_of(one, "new", case) for one in answers.present
    )
    tally.add("falsely marked", holds=is_false)
    if case.is_lookalike:
        tally.add("look-alikes", holds=is_right)
    else:
        tally.add("first right", holds=is_right)
        tally.add(
            "stale first", holds=any(_is_stale(one, case) for one in first)
        )
        tally.add("unmarked", holds=any(_unmarked(answers.present, case)))
        tally.add(
            "context right", holds=case.right.lower() in answers.block.lower()
        )
        tally.add(
            "context stale", holds=any(_stale_lines(answers.block, case))
        )
        if case.past:
            past = any(
                _is_of(shown, "old", case) for shown in answers.past[:1]
            )
            tally.add("past", holds=past)
    for shown in answers.present[:3]:
        tally.add("echoes", holds=_is_of(shown, "reply", case))


def _is_of(shown: Shown, mark: str, case: Case) -> bool:
    """Return whether a result is a message with this mark of this case.

    Only where cases share a store are their numbers in the messages' ids.
    """
    for id_ in shown.messages:
        found, *numbers = id_.split("-")
        is_own = len(numbers) < 3 or numbers[0] == str(case.number)
        if found == mark and is_own:
            return True
    return False


def _is_stale(shown: Shown, case: Case) -> bool:
    text = shown.text.lower()
    says_right = case.right.lower() in text or _is_of(shown, "new", case)
    return not says_right and any(
        value.lower() in text for value in case.stale
    )


def _unmarked(shown: Sequence[Shown], case: Case) -> Iterator[bool]:
    return (_is_stale(one, case) and not one.is_marked for one in shown)


def _stale_lines(block: str, case: Case) -> Iterator[bool]:
    """Tell for each line of a block whether it says a superseded value as current."""
    for line in block.splitlines():
        yield not is_marked(line) and _is_stale(Shown(line, ()), case)


def is_marked(line: str) -> bool:
    """Return whether a line of a block says that it no longer holds."""
    return "no longer" in line or "held until" in line


def describe_failure(case: Case, answers: Answers) -> str:
    """Return what went wrong with a case; "" if nothing did."""
    first = answers.present[:1]
    wrong = []
    if not any(_is_of(shown, "new", case) for shown in first):
        wrong.append("first")
    if not case.is_lookalike and any(_unmarked(answers.present, case)):
        wrong.append("unmarked")
    if case.past and not any(
        _is_of(one, "old", case) for one in answers.past[:1]
    ):
        wrong.append("past")
    if not case.is_lookalike and any(_stale_lines(answers.block, case)):
        wrong.append("context stale")
    if (
        not case.is_lookalike
        and case.right.lower() not in answers.block.lower()
    ):
        wrong.append("context right")
    if not wrong:
        return ""
    lines = [_tell(line) for line in case.lines]
    results = [
        f"    {'x' if one.is_marked else ' '} {one.text}"
        for one in answers.present
    ]
    head = f"#{case.number} {case.category} {case.question} FAILS {', '.join(wrong)}"
    tail = []
    if "past" in wrong:
        tail = [f"  < {case.past}"] + [
            f"    {one.text}" for one in answers.past[:3]
        ]
    return "\n".join([head, *lines, *results, *tail])


def _tell(line: Line) -> str:
    return f"  {line.mark} {line.text}"


def _keep_quiet(_: str) -> None:
    """Report nothing: the default."""


if __name__ == "__main__":
    main()
