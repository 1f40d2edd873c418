"""The assistant's lines that only repeat what a person has just said: "Noted, 340,000 euro"."""

from collections.abc import Iterable, Sequence

from varve.domain.language.stems import stem_all
from varve.domain.language.tokens import words
from varve.domain.source_lines import SourceLine
from varve.domain.statements.texts.particulars import (
    Particulars,
    TellingWord,
    collect_stems,
    read_particulars,
)
from varve.domain.statements.texts.persons import is_person

MAX_BEFORE = 8
"""So many lines of persons before an echo may have its words."""


def find_echoes(lines: Sequence[SourceLine]) -> frozenset[SourceLine]:
    """Return the assistant's lines that repeat words of persons of the same day.

    `lines` are in the order of a conversation.
    """
    echoes: set[SourceLine] = set()
    before: list[SourceLine] = []
    for line in lines:
        if before and before[-1].day != line.day:
            before = []
        if not line.speaker:
            continue
        if is_person(line.speaker):
            before.append(line)
        elif _repeats(line, before[-MAX_BEFORE:]):
            echoes.add(line)
    return frozenset(echoes)


def _repeats(line: SourceLine, before: Iterable[SourceLine]) -> bool:
    """Return whether most telling words of a line, and all its names and figures, were said."""
    told = read_particulars(line.sentence)
    said = [read_particulars(one.sentence) for one in before]
    if not _were_said(told, said):
        return False
    known = collect_stems(word for one in said for word in one.telling)
    added = [word for word in told.telling if not word.stems & known]
    if _name_any(added, line.sentence):
        return False
    repeated = len(told.telling) - len(added) + len(told.numbers)
    return repeated > len(added)


def _name_any(added: Sequence[TellingWord], sentence: str) -> bool:
    """Return whether one of the words is a name; the first word has a capital letter anyway."""
    first = stem_all(words(sentence)[:1])
    return any(word.named and not word.stems & first for word in added)


def _were_said(told: Particulars, said: Sequence[Particulars]) -> bool:
    """Return whether persons gave all figures and dates of a statement, and as many negations."""
    numbers = {number for one in said for number in one.numbers}
    dates = {date for one in said for date in one.dates}
    denials = max((one.denials for one in said), default=0)
    return (
        not told.asks
        and numbers.issuperset(told.numbers)
        and dates.issuperset(told.dates)
        and told.denials <= denials
    )
