"""Whether the rules understand a change of state: `python -m benchmarks.changes`.

Each case of `benchmarks/changes` is what a user says, in English or Spanish, and what the
rules should read in it without a model. Lines begin with a mark:

| mark | line |
|---|---|
| `==` | a case begins, in this language |
| `-` | the user says this before, in the same conversation |
| `+` | the user says this, on Wednesday 2026-03-04 |
| `=` | a change of triples: operation, predicate, object, `@` with the beginning of its day |
| `~` | the words that a fact must have |

A case without `=` and `~` is a look-alike: it states nothing. Precision is the share of the
items read that are expected, recall the share of the expected items that are read. A fact
counts as an item where the case has no `=`.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from varve.domain.extraction import Batch, Extraction, Utterance
from varve.domain.identity import Scope
from varve.domain.language.tokens import fold
from varve.domain.rules import RuleExtractor
from varve.domain.triple import TripleOperation

FOLDER = Path(__file__).parent / "changes"
PARTS = ("fitted", "held-out")
ZONE = ZoneInfo("Europe/Lisbon")
SAID_AT = datetime(2026, 3, 4, 10, tzinfo=UTC)
SPEAKER = "Dana"


@dataclass(slots=True)
class Sentence:
    """One case: what was said before it, its words, and what they state."""

    language: str
    before: list[str] = field(default_factory=list)
    text: str = ""
    changes: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules read in one case: expected items found and missed, and other items."""

    sentence: Sentence
    right: tuple[str, ...]
    missed: tuple[str, ...]
    wrong: tuple[str, ...]


def main() -> None:
    """Print precision and recall of both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--failures", action="store_true")
    arguments = parser.parse_args()
    print("| part | sentences | precision | recall |")
    print("| --- | ---: | ---: | ---: |")
    failed: list[Reading] = []
    for part in arguments.part or PARTS:
        readings = read_part(part)
        precision, recall = score(readings)
        print(f"| {part} | {len(readings)} | {precision} | {recall} |")
        failed += [one for one in readings if one.missed or one.wrong]
    if arguments.failures:
        for one in failed:
            print(one.sentence.text, "missed", one.missed, "wrong", one.wrong)


def score(readings: Sequence[Reading]) -> tuple[str, str]:
    """Return precision and recall as counts."""
    right = sum(len(one.right) for one in readings)
    wrong = sum(len(one.wrong) for one in readings)
    missed = sum(len(one.missed) for one in readings)
    return f"{right} of {right + wrong}", f"{right} of {right + missed}"


def read_part(part: str) -> list[Reading]:
    """Return what the rules read in each sentence of a part."""
    return [_judge(sentence) for sentence in read_sentences(part)]


def read_sentences(part: str) -> Iterator[Sentence]:
    """Yield the cases of a part."""
    current: Sentence | None = None
    for line in (FOLDER / f"{part}.txt").read_text("utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "==":
            if current is not None:
                yield current
            current = Sentence(rest)
        elif current is not None and mark in {"-", "+", "=", "~"}:
            _add_line(current, mark, rest)
    if current is not None:
        yield current


def _add_line(sentence: Sentence, mark: str, rest: str) -> None:
    if mark == "+":
        sentence.text = rest
        return
    lists = {
        "-": sentence.before,
        "=": sentence.changes,
        "~": sentence.facts,
    }
    lists[mark].append(rest)


def _judge(sentence: Sentence) -> Reading:
    found = _extract(sentence)
    if sentence.changes:
        items = _describe_changes(found.operations)
        return _compare(sentence, sentence.changes, items, _is_change)
    changes = _describe_changes(found.operations)
    items = [*changes, *(fact.content for fact in found.facts)]
    return _compare(sentence, sentence.facts, items, _has_words)


def _compare(
    sentence: Sentence,
    expected: list[str],
    items: list[str],
    fits: Callable[[str, str], bool],
) -> Reading:
    left = list(items)
    right: list[str] = []
    missed: list[str] = []
    for one in expected:
        match = next((item for item in left if fits(item, one)), None)
        if match is None:
            missed.append(one)
        else:
            right.append(one)
            left.remove(match)
    return Reading(sentence, tuple(right), tuple(missed), tuple(left))


def _is_change(item: str, expected: str) -> bool:
    """Return whether a described change is the expected one; its day may be longer."""
    said, _, day = expected.partition(" @")
    found, _, on = item.partition(" @")
    return found == said and on.startswith(day)


def _has_words(item: str, expected: str) -> bool:
    said = fold(item)
    return all(fold(word) in said for word in expected.split())


def _describe_changes(operations: Sequence[TripleOperation]) -> list[str]:
    """Return the changes with their earliest days; one said as of several times is one."""
    days: dict[str, str] = {}
    for operation in operations:
        said = f"{operation.op} {operation.predicate} {operation.object}"
        if operation.subject != SPEAKER:
            said = f"{operation.subject}: {said}"
        day = f"{operation.event_time.astimezone(ZONE):%Y-%m-%d}"
        said = said.strip()
        days[said] = min(day, days.get(said, day))
    return [f"{said} @{day}" for said, day in days.items()]


def _extract(sentence: Sentence) -> Extraction:
    spoken: list[Utterance] = []
    texts = [*sentence.before, sentence.text]
    for number, text in enumerate(texts):
        at = SAID_AT - timedelta(minutes=len(texts) - 1 - number)
        spoken.append(
            Utterance(f"m{number}", "user", SPEAKER, text, at, "u-1")
        )
    batch = Batch(
        scope=Scope("default", "default"),
        conversation_id="c-1",
        utterances=(spoken[-1],),
        context=tuple(spoken[:-1]),
        zone=ZONE,
        created_at=SAID_AT,
    )
    return RuleExtractor().extract(batch)


if __name__ == "__main__":
    main()
