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
    "birthdate", "date", "age", "zone", "time",
)  # fmt: skip

_ON = ("on ", "el ", "at ", "a las ", "a la ")
"""Words that stay when only the day or hour after them is corrected."""
_DIGIT = re.compile(r"\d")


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


def gives_time(reader: Reader, sentence: Sentence) -> bool:
    """Return whether a sentence corrects something by a date, a number or a time."""
    found = reader.language.correction.match(sentence.text)
    if found is None or sentence.asks:
        return False
    new, _ = _read_values(found)
    scan = reader.language.dates.scan
    return _DIGIT.search(new) is not None or scan.search(new) is not None


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
    """Return the statement with the new value; None: the correction fits none or several."""
    fitting: list[StatedClause] = []
    for wrong in _list_wrong_values(earlier, old):
        again = _put(reader, earlier, who, new, wrong)
        if again is not None:
            fitting.append(again)
    return fitting[0] if len(fitting) == 1 else None


def _put(
    reader: Reader, earlier: StatedClause, who: str, new: str, wrong: str
) -> StatedClause | None:
    """Return the statement with the new value in place of a wrong one; None: it does not fit."""
    if normalized(wrong) == normalized(new):
        return None
    lead = next(filter(wrong.startswith, _ON), "")
    if lead and not new.startswith(_ON):
        new = f"{lead}{new}"
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


def _list_wrong_values(earlier: StatedClause, old: str | None) -> list[str]:
    """Return the correctable values of a statement, of which a user may name the `old` one."""
    values: dict[str, None] = {}
    for slot, value in earlier.values.items():
        if slot.rstrip(digits) in _CORRECTABLE:
            values[value] = None
    if old is None:
        return list(values)
    return [one for one in values if normalized(one) == normalized(old)][:1]
