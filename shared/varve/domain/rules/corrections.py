"""Corrections ("Sorry, I meant Y", "not X but Y"): the earlier clause, read with Y in place of X."""

import re
from collections.abc import Sequence
from dataclasses import replace
from string import digits

from varve.domain.names import ALSO_KNOWN_AS, normalized
from varve.domain.rules.reader import Reader, StatedClause
from varve.domain.rules.rule import Change
from varve.domain.rules.sentences import Sentence
from varve.domain.triple import Op

_CORRECTABLE = (
    "any_code", "code", "number", "email", "phone", "place", "company", "name", "full_name", "job",
    "birthdate", "date", "age", "zone",
)  # fmt: skip

_ON = ("on ", "el ")
"""Words that stay when only the day after them is corrected."""


def read_correction(
    reader: Reader,
    sentence: Sentence,
    who: str,
    earlier: Sequence[StatedClause],
) -> list[StatedClause]:
    """Return what the correction makes of the statements before it; nothing if it is ambiguous."""
    found = reader.language.correction.match(sentence.text)
    if found is None or sentence.asks:
        return []
    new, old = _read_values(found)
    corrected: dict[str, StatedClause] = {}
    for statement in earlier:
        again = _correct(reader, statement, who, new, old)
        if again is not None:
            corrected[again.fact] = again
    if len(corrected) != 1:
        return []
    return list(corrected.values())


def _read_values(found: re.Match[str]) -> tuple[str, str | None]:
    """Return the new value and the old one, which a correction may leave out.

    Their groups are `new1`, `old1`, `new2`, …: one pair for each wording.
    """
    values: dict[str, str] = {}
    for group, value in found.groupdict().items():
        if value:
            name = group.rstrip(digits)
            values[name] = value
    return values["new"], values.get("old")


def _correct(
    reader: Reader,
    earlier: StatedClause,
    who: str,
    new: str,
    old: str | None,
) -> StatedClause | None:
    """Return the statement with the new value; None: the correction does not fit it."""
    wrong = _find_wrong_value(earlier, old)
    if wrong is None or normalized(wrong) == normalized(new):
        return None
    if wrong.startswith(_ON) and not new.startswith(_ON):
        preposition = wrong.split()[0]
        new = f"{preposition} {new}"
    clause = earlier.clause.replace(wrong, new)
    again = _read_clause(reader, clause, who, earlier)
    if again is None or new not in again.values.values():
        return None
    changes: list[Change] = []
    for change in again.changes:
        changes += _correct_change(change, wrong, new)
    told = again.fact.removesuffix(".")
    fact = reader.language.corrected.format(fact=told, wrong=wrong)
    return replace(again, fact=fact, changes=tuple(changes))


def _read_clause(
    reader: Reader, clause: str, who: str, earlier: StatedClause
) -> StatedClause | None:
    """Return what a clause states, if the rule of the earlier statement says so."""
    again = reader.read_clause(clause, who, earlier.said)
    if again is None:
        mentioned = reader.find_mentions(clause, who, earlier.said)
        again = next(mentioned, None)
    if again is None or again.rule is not earlier.rule:
        return None
    return again


def _correct_change(change: Change, wrong: str, new: str) -> list[Change]:
    """Return the change with the new value in place of the wrong one.

    A wrong alias also needs a change that ends it.
    """
    if change.predicate == ALSO_KNOWN_AS:
        subject = wrong if change.subject == new else change.subject
        other = wrong if change.object == new else change.object
        ending = replace(change, op=Op.DELETE, subject=subject, object=other)
        return [ending, change]
    if change.object == new:
        return [replace(change, op=Op.UPDATE, replaces=wrong)]
    return [change]


def _find_wrong_value(earlier: StatedClause, old: str | None) -> str | None:
    """Return the value that the user named, or the statement's only correctable value."""
    values: set[str] = set()
    for slot, value in earlier.values.items():
        if slot.rstrip(digits) in _CORRECTABLE:
            values.add(value)
    if old is None:
        return values.pop() if len(values) == 1 else None
    for value in values:
        if normalized(value) == normalized(old):
            return value
    return None
