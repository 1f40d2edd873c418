"""Sentences about the thing or the pet of the message before: "It's fixed now", "Miso passed away"."""

import re
from collections.abc import Sequence
from datetime import date

from varve.domain.names import normalized
from varve.domain.rules.reader import Reader, StatedClause
from varve.domain.rules.rule import Values
from varve.domain.rules.sentences import Sentence


def read_reference(
    reader: Reader,
    sentence: Sentence,
    who: str,
    said: date,
    earlier: Sequence[StatedClause],
) -> list[StatedClause]:
    """Return what a sentence states of the only thing or pet that the statements before it name."""
    language = reader.language
    opened = language.opening.sub("", sentence.text, count=1)
    found = language.it.match(opened) or language.gone.match(opened)
    if found is None or sentence.asks or language.doubt.search(opened):
        return []
    named = {_find_thing(found, one.values) for one in earlier}
    things = named - {""}
    if len(things) != 1:
        return []
    clause = language.own_thing.format(thing=things.pop(), rest=found["rest"])
    statement = reader.read_clause(clause, who, said)
    return [] if statement is None else [statement]


def _find_thing(found: re.Match[str], values: Values) -> str:
    """Return the thing, or the pet of this name with its kind, among the values; "" if there is none."""
    name = found.groupdict().get("name")
    if name is None:
        return values.get("device", "")
    known = values.get("name", "")
    if "pet" not in values or normalized(known) != normalized(name):
        return ""
    return f"{values['pet']} {known}"
