"""The values of a rule's match: those that contradict the rule, and the changes they fill in."""

from collections.abc import Mapping
from datetime import date

from varve.domain.language.dates import Span
from varve.domain.language.statements import Lean
from varve.domain.names import normalized
from varve.domain.predicates import is_single_valued
from varve.domain.rules.rule import Change, Rule, Values
from varve.domain.rules.values import listed
from varve.domain.statements.texts.cues import read_cues
from varve.domain.triple import Op

LISTS = {
    "{things}",
    "{each_substance}",
    "{allergens}",
    "{languages}",
    "{languages_otherwise}",
}
_OWN_NAME = ("name", "full_name", "two_names", "person")


class TemplateParts(dict[str, str]):
    """The values for a template; a missing one is empty."""

    def __missing__(self, key: str) -> str:
        return ""


def lacks_day(parts: Values, when: Span | None) -> bool:
    """Return whether a date or a birthday of the clause has no day."""
    if "date" in parts and when is None:
        return True
    return "birthdate" in parts and "birthday" not in parts


def names_speaker(parts: Values, who: str) -> bool:
    """Return whether a name in the clause is the speaker's known name."""
    names = {normalized(parts.get(slot, "")) for slot in _OWN_NAME}
    return normalized(who) in names


def contradicts(when: Span, lean: Lean, said: date) -> bool:
    """Return whether the time contradicts the tense: then the clause means something else."""
    if lean is Lean.PAST:
        return when.first > said
    return when.last < said


def fill_change(change: Change, parts: Mapping[str, str]) -> list[Change]:
    """Return the change with its templates filled in, one for each member of a list."""
    whole = change.object.format_map(parts)
    if change.object and not whole:
        return []
    predicate = change.predicate.format_map(parts)
    op = change.op
    is_list = change.object in LISTS
    if op is Op.DELETE and not is_single_valued(predicate):
        # "I don't like tea or coffee any more" ends two values that were told apart.
        is_list = True
    members = listed(whole) if is_list else [whole]
    if op is Op.ADD and is_single_valued(predicate):
        op = Op.UPDATE
    subject = change.subject.format_map(parts)
    replaces = change.replaces.format_map(parts)
    return [
        Change(op, predicate, value, subject, replaces, change.if_known)
        for value in members
    ]


def list_changes(
    rule: Rule, filled: TemplateParts, clause: str
) -> list[Change]:
    """Return a rule's changes; "I also work at Initech" ends no value, and so makes none."""
    changes: list[Change] = []
    for change in rule.changes:
        changes += fill_change(change, filled)
    if read_cues(clause).adds:
        return [one for one in changes if not _replaces(one)]
    return changes


def _replaces(change: Change) -> bool:
    """Return whether a change ends other values."""
    return change.op is Op.DELETE or is_single_valued(change.predicate)


def add_note(fact: str, note: str) -> str:
    """Return the fact with a note in brackets before its final mark."""
    body = fact[:-1]
    mark = fact[-1]
    return f"{body} ({note}){mark}"
