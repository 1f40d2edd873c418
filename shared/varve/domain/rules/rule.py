"""What a rule is: a pattern over one clause, the fact it amounts to, and what it changes in the triples."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from varve.domain.language.statements import Expressions, Lean
from varve.domain.names import ALSO_KNOWN_AS
from varve.domain.triple import SINGLE_VALUED, Op

Values = dict[str, str]


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a pattern: what it looks like, whether a value may stand, what else follows from it."""

    pattern: str
    accept: Callable[[str], bool] = bool
    derive: Callable[[str], Mapping[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """An operation on the triples, its texts still templates; `{things}` makes one for each thing."""

    op: Op
    predicate: str
    object: str
    subject: str = "{who}"
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of a language's table, compiled. `anywhere`: it need not begin its clause."""

    pattern: re.Pattern[str]
    fact: str
    changes: tuple[Change, ...]
    importance: float
    confidence: float
    lean: Lean
    anywhere: bool


@dataclass(frozen=True, slots=True)
class Language:
    """All that the reader needs to know of a language; the patterns' meanings stand in its module."""

    code: str
    rules: tuple[Rule, ...]
    slots: Mapping[str, Slot]
    dates: Expressions
    common: re.Pattern[str]
    hint: re.Pattern[str]
    opening: re.Pattern[str]
    clause: re.Pattern[str]
    asking: re.Pattern[str]
    doubt: re.Pattern[str]
    fiction: re.Pattern[str]
    remember: re.Pattern[str]
    forget: re.Pattern[str]
    correction: re.Pattern[str]
    unreal: re.Pattern[str]
    forgettable: Mapping[str, str]
    dangling: re.Pattern[str]
    third_person: Callable[[str, str], str | None]
    asked: str
    corrected: str
    said_on: str
    week_of: str
    months: tuple[str, ...]
    day_name: str


def sets(
    predicate: str, value: str, subject: str = "{who}", replaces: str = ""
) -> Change:
    """A new value: it supersedes the others where only one can hold."""
    op = Op.UPDATE if predicate in SINGLE_VALUED else Op.ADD
    return Change(op, predicate, value, subject, replaces)


def ends(predicate: str, value: str = "", subject: str = "{who}") -> Change:
    """The value no longer holds; without one, no value of the predicate does."""
    return Change(Op.DELETE, predicate, value, subject)


def known_as(full: str, other: str) -> Change:
    """Two names of one: under the first what is said of either is kept."""
    return Change(Op.ADD, ALSO_KNOWN_AS, other, full)


@dataclass(frozen=True, slots=True)
class Row:
    """A row as written: words with slots in braces. Lower-case words match in any case."""

    words: str
    fact: str
    changes: tuple[Change, ...] | Change = ()
    importance: float = 0.6
    confidence: float = 0.85
    lean: Lean = Lean.NONE
    anywhere: bool = False


def compiled(row: Row, slots: Mapping[str, Slot]) -> Rule:
    """The row with its slots filled in."""
    changes = row.changes if isinstance(row.changes, tuple) else (row.changes,)
    pattern = re.compile(f"(?i:{expand(row.words, slots)})")
    return Rule(
        pattern,
        row.fact,
        changes,
        row.importance,
        row.confidence,
        row.lean,
        row.anywhere,
    )


_SLOT = re.compile(r"\{([a-z_]+?)(\d?)\}")


def expand(words: str, slots: Mapping[str, Slot]) -> str:
    """The words with each `{slot}` (or `{slot2}`) made a group of that name; `{end}` is only a place."""
    return _SLOT.sub(lambda found: _group(found, slots), words)


def _group(found: re.Match[str], slots: Mapping[str, Slot]) -> str:
    name = "" if found[1] in {"end", "labels"} else f"P<{found[1]}{found[2]}>"
    return f"(?{name or ':'}{slots[found[1]].pattern})"


def values(match: re.Match[str], slots: Mapping[str, Slot]) -> Values | None:
    """The slots' values and what follows from them; None when one of them cannot stand."""
    result: Values = {}
    for name, value in match.groupdict().items():
        slot = slots.get(name.rstrip("0123456789"), _PLAIN)
        if value is None:
            continue
        if not slot.accept(value):
            return None
        result |= {name: value, **(slot.derive(value) if slot.derive else {})}
    return result


_PLAIN = Slot("")
