"""Corrections ("Sorry, I meant Y", "not X but Y"): the earlier clause, read with Y in place of X."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from varve.domain.names import ALSO_KNOWN_AS, normalized
from varve.domain.rules.reader import Reader, Statement
from varve.domain.rules.rule import Change
from varve.domain.rules.sentences import Sentence
from varve.domain.triple import Op

_CORRECTABLE = (
    "any_code", "code", "number", "email", "phone", "place", "company", "name", "full_name", "job",
    "birthdate", "date", "age", "zone",
)  # fmt: skip

_ON = ("on ", "el ")
"""Words that stay when only the day after them is corrected."""


def corrected(
    reader: Reader, sentence: Sentence, who: str, earlier: Sequence[Statement]
) -> list[Statement]:
    """Return what the correction makes of the statements before it; nothing if it is ambiguous."""
    found = reader.language.correction.match(sentence.text)
    if found is None or sentence.asks:
        return []
    parts = {name[:3]: value for name, value in found.groupdict().items() if value}
    results = [_retold(reader, s, who, parts["new"], parts.get("old")) for s in earlier]
    told = {r.fact: r for r in results if r}
    return list(told.values()) if len(told) == 1 else []


def _retold(
    reader: Reader, earlier: Statement, who: str, new: str, old: str | None
) -> Statement | None:
    wrong = _wrong_value(earlier, old)
    if wrong is None or normalized(wrong) == normalized(new):
        return None
    if wrong.startswith(_ON) and not new.startswith(_ON):
        new = wrong.split()[0] + " " + new
    clause = earlier.clause.replace(wrong, new)
    again = _read_clause(reader, clause, who, earlier)
    if again is None or new not in again.values.values():
        return None
    changes: list[Change] = []
    for change in again.changes:
        changes += _changed(change, wrong, new)
    fact = reader.language.corrected.format(fact=again.fact[:-1], wrong=wrong)
    return replace(again, fact=fact, changes=tuple(changes))


def _read_clause(
    reader: Reader, clause: str, who: str, earlier: Statement
) -> Statement | None:
    """Return what a clause states, if the rule of the earlier statement says so."""
    again = reader.clause_stated(clause, who, earlier.said)
    if again is None:
        again = next(reader.mentioned(clause, who, earlier.said), None)
    return again if again is not None and again.rule is earlier.rule else None


def _changed(change: Change, wrong: str, new: str) -> Iterator[Change]:
    """Yield the change with the new value in place of the wrong one, whose alias ends."""
    if change.predicate == ALSO_KNOWN_AS:
        yield replace(change, op=Op.DELETE, subject=wrong if change.subject == new else change.subject,
                      object=wrong if change.object == new else change.object)  # fmt: skip
        yield change
    else:
        yield (
            replace(change, op=Op.UPDATE, replaces=wrong)
            if change.object == new
            else change
        )


def _wrong_value(earlier: Statement, old: str | None) -> str | None:
    """Return the value that was named, or the only one that can be meant."""
    values: set[str] = set()
    for slot, value in earlier.values.items():
        if slot.rstrip("0123456789") in _CORRECTABLE:
            values.add(value)
    if old is not None:
        named = (value for value in values if normalized(value) == normalized(old))
        return next(named, None)
    return values.pop() if len(values) == 1 else None
