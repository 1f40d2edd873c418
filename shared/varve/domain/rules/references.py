"""Sentences about the thing of the message before: "It's fixed now", "Ya está arreglada"."""

from collections.abc import Sequence
from datetime import date

from varve.domain.rules.reader import Reader, StatedClause
from varve.domain.rules.sentences import Sentence


def read_reference(
    reader: Reader,
    sentence: Sentence,
    who: str,
    said: date,
    earlier: Sequence[StatedClause],
) -> list[StatedClause]:
    """Return what a sentence states of the only thing that the statements before it name."""
    language = reader.language
    opened = language.opening.sub("", sentence.text, count=1)
    found = language.it.match(opened)
    if found is None or sentence.asks or language.doubt.search(opened):
        return []
    things = {
        one.values["device"] for one in earlier if "device" in one.values
    }
    if len(things) != 1:
        return []
    clause = language.own_thing.format(thing=things.pop(), rest=found["rest"])
    statement = reader.read_clause(clause, who, said)
    return [] if statement is None else [statement]
