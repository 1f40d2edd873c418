"""A rule: a pattern over one clause, the fact that it states, and its changes of triples."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from string import digits

from varve.domain.language.statements import Expressions, Lean
from varve.domain.names import ALSO_KNOWN_AS
from varve.domain.predicates import is_single_valued
from varve.domain.rules.opening import find_opening
from varve.domain.triple import Op

Values = dict[str, str]


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a pattern: its form, a test of its value, and values derived from that."""

    pattern: str
    accept: Callable[[str], bool] = bool
    derive: Callable[[str], Mapping[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """An operation on triples. Its texts are templates; `{things}` makes one change for each thing.

    `if_known`: it counts only if the graph has the value that it ends or returns to.
    """

    op: Op
    predicate: str
    object: str
    subject: str = "{who}"
    replaces: str = ""
    if_known: bool = False


@dataclass(frozen=True)
class Rule:
    """A row of a language's table, with its slots filled in.

    `opening` is the part of `words` before all slots. `anywhere`: the rule may begin within
    its clause. `has_number`: it matches no text without a digit.
    """

    words: str
    opening: str
    fact: str
    changes: tuple[Change, ...]
    importance: float
    confidence: float
    lean: Lean
    anywhere: bool
    has_number: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The whole pattern.

        Few texts need it: the patterns of all rules take most of a second to compile.
        """
        return _compile(self.words)

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match of the text's beginning."""
        if self._begins.match(text) is None:
            return None
        return self.pattern.match(text)

    def find_all(self, text: str) -> Iterator[re.Match[str]]:
        """Return the matches within the text, in order."""
        if self._begins.search(text) is None:
            return iter(())
        return self.pattern.finditer(text)

    @cached_property
    def _begins(self) -> re.Pattern[str]:
        return _compile(self.opening)


def _compile(words: str) -> re.Pattern[str]:
    return re.compile(f"(?i:{words})")


@dataclass(frozen=True)
class LanguageRules:
    """The rules and patterns of a language; the methods of `Reader` show how each is used.

    `inversions` turn a folded question into the words of a statement: "where do I live" is
    "where I live". `shared_subjects` find two states with one subject: "I'm vegan and allergic to nuts".
    """

    code: str
    rules: tuple[Rule, ...]
    slots: Mapping[str, Slot]
    dates: Expressions
    common: re.Pattern[str]
    hint: re.Pattern[str]
    opening: re.Pattern[str]
    clause: re.Pattern[str]
    together: re.Pattern[str]
    shared_subjects: tuple[re.Pattern[str], ...]
    asking: re.Pattern[str]
    doubt: re.Pattern[str]
    fiction: re.Pattern[str]
    remember: re.Pattern[str]
    forget: re.Pattern[str]
    correction: re.Pattern[str]
    beside: re.Pattern[str]
    it: re.Pattern[str]
    gone: re.Pattern[str]
    called: re.Pattern[str]
    since: re.Pattern[str]
    unreal: re.Pattern[str]
    forgettable: Mapping[str, str]
    inversions: tuple[tuple[re.Pattern[str], str], ...]
    own_topic: str
    joins: re.Pattern[str]
    dangling: re.Pattern[str]
    third_person: Callable[[str, str], str | None]
    first_person: Callable[[str, str], str]
    asked: str
    corrected: str
    own_thing: str
    and_: str
    said_on: str
    since_when: str
    within: str
    week_of: str
    months: tuple[str, ...]
    day_name: str

    @cached_property
    def clause_rules(self) -> tuple[Rule, ...]:
        """The rules that fit a clause from its beginning."""
        return tuple(rule for rule in self.rules if not rule.anywhere)

    @cached_property
    def mention_rules(self) -> tuple[Rule, ...]:
        """The rules that fit anywhere."""
        return tuple(rule for rule in self.rules if rule.anywhere)

    def find_forgettable(self, body: str) -> list[str]:
        """Return the predicates that a request names; none unless it names only such."""
        found: dict[str, None] = {}
        for topic in self.joins.split(body.lower()):
            own = self.own_topic.format(topic)
            predicate = self.forgettable.get(topic, self.forgettable.get(own))
            if predicate is None:
                return []
            found[predicate] = None
        return list(found)


def sets(
    predicate: str, value: str, subject: str = "{who}", replaces: str = ""
) -> Change:
    """Return the change to a new value; of a single-valued predicate it supersedes the others."""
    op = Op.UPDATE if is_single_valued(predicate) else Op.ADD
    return Change(op, predicate, value, subject, replaces)


def ends(predicate: str, value: str = "", subject: str = "{who}") -> Change:
    """Return the change that ends a value; without a value, all values of the predicate."""
    return Change(Op.DELETE, predicate, value, subject)


def ends_if_known(
    predicate: str, value: str = "", subject: str = "{who}"
) -> Change:
    """Return the same for words that tell of the value only if the graph has it."""
    return Change(Op.DELETE, predicate, value, subject, if_known=True)


def returns_if_known(predicate: str, value: str) -> Change:
    """Return the change to a value that counts only if the graph has it, ended or not."""
    return replace(sets(predicate, value), if_known=True)


OTHER_ALLERGY = (
    ends("allergic_to", "{each_substance}"),
    sets("allergic_to", "{allergens}"),
)
"""The changes of an allergy that is another than was told: "not to nuts, only to peanuts"."""


def known_as(full: str, other: str) -> Change:
    """Return the change that makes `other` a name of `full`, under which both are kept."""
    return Change(Op.ADD, ALSO_KNOWN_AS, other, full)


def gives_name(name: str) -> tuple[Change, Change]:
    """Return the changes that give the speaker a name."""
    return known_as(name, "{who}"), sets("name", name)


@dataclass(frozen=True, slots=True)
class Row:
    """A row as written: words with slots in braces. They match in any case."""

    words: str
    fact: str
    changes: tuple[Change, ...] | Change = ()
    importance: float = 0.6
    confidence: float = 0.85
    lean: Lean = Lean.NONE
    anywhere: bool = False


def build_rules(
    rows: Iterable[Row], slots: Mapping[str, Slot]
) -> tuple[Rule, ...]:
    """Return the rules of a language's rows, in their order."""
    return tuple(build_rule(row, slots) for row in rows)


def build_rule(row: Row, slots: Mapping[str, Slot]) -> Rule:
    """Return the rule of a row, with its slots filled in."""
    changes = row.changes
    if isinstance(changes, Change):
        changes = (changes,)
    return Rule(
        words=expand(row.words, slots),
        opening=find_opening(row.words),
        fact=row.fact,
        changes=changes,
        importance=row.importance,
        confidence=row.confidence,
        lean=row.lean,
        anywhere=row.anywhere,
        has_number=_NUMBERED.search(row.words) is not None,
    )


_NUMBERED = re.compile(r"\{(?:any_)?code\}|\{number\}")
_NAMELESS = ("end", "labels")
_SLOT = re.compile(r"\{([a-z_]+?)(\d?)\}")


def expand(words: str, slots: Mapping[str, Slot]) -> str:
    """Return the words with a named group for each `{slot}` (or `{slot2}`).

    `{end}` and `{labels}` become groups without a name.
    """
    return _SLOT.sub(lambda found: _group(found, slots), words)


def _group(found: re.Match[str], slots: Mapping[str, Slot]) -> str:
    slot = found[1]
    number = found[2]
    pattern = slots[slot].pattern
    if slot in _NAMELESS:
        return f"(?:{pattern})"
    return f"(?P<{slot}{number}>{pattern})"


def values(match: re.Match[str], slots: Mapping[str, Slot]) -> Values | None:
    """Return the slots' values and those derived from them; None: a slot refuses its value."""
    result: Values = {}
    for name, value in match.groupdict().items():
        if value is None:
            continue
        slot = slots.get(name.rstrip(digits), _PLAIN)
        if not slot.accept(value):
            return None
        result[name] = value
        if slot.derive is not None:
            result.update(slot.derive(value))
    return result


_PLAIN = Slot("")
