"""Corrections: "Sorry, I meant Y", "not X but Y", read as the earlier clause with Y in the place of X."""

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
"""What stays in place when only the day after it is corrected."""


def corrected(
    reader: Reader, sentence: Sentence, who: str, earlier: Sequence[Statement]
) -> list[Statement]:
    """What the correction makes of the statements before it; nothing where it could mean several."""
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
    again = reader.clause_stated(clause, who, earlier.said) or next(
        iter(reader.mentioned(clause, who, earlier.said)), None
    )
    if (
        again is None
        or again.rule is not earlier.rule
        or new not in again.values.values()
    ):
        return None
    changes = tuple(
        corrected
        for change in again.changes
        for corrected in _changed(change, wrong, new)
    )
    fact = reader.language.corrected.format(fact=again.fact[:-1], wrong=wrong)
    return replace(again, fact=fact, changes=changes)


def _changed(change: Change, wrong: str, new: str) -> Iterator[Change]:
    """The change with the new value in the place of the wrong one, which bears no other name then."""
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
    """The value that was named, or the only one that can be meant."""
    values = {
        v for k, v in earlier.values.items() if k.rstrip("0123456789") in _CORRECTABLE
    }
    if old is not None:
        return next(
            (value for value in values if normalized(value) == normalized(old)), None
        )
    return values.pop() if len(values) == 1 else None
