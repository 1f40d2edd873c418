"""Nicknames of the person named just before: "José lives in Oslo. Everyone calls him Pepín"."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from varve.domain.language.names import FIRST_NAME
from varve.domain.language.stopwords import GIVEN_NAMES
from varve.domain.language.tokens import fold
from varve.domain.names import ALSO_KNOWN_AS, normalized
from varve.domain.rules.reader import Reader, StatedClause
from varve.domain.rules.sentences import Sentence
from varve.domain.statements.texts.told_persons import find_told_persons

_PERSONS = ("name", "full_name", "person")
_NAME = "name"
_WRITTEN = re.compile(FIRST_NAME)


def read_nickname(
    reader: Reader,
    sentence: Sentence,
    who: str,
    said: date,
    before: str,
    stated: Sequence[StatedClause],
) -> list[StatedClause]:
    """Return the other name that a sentence gives to the only person named before it.

    `before` is the sentence before it in the message, `stated` what the message has stated.
    """
    language = reader.language
    found = language.called.search(sentence.text)
    if found is None or sentence.asks or language.doubt.search(found["tail"]):
        return []
    texts = (before, sentence.text[: found.start()])
    known = {*_list_stated(stated), *_list_told(texts)} - {who}
    persons = _join_forms(known.union(*map(_find_given, texts)) - {who})
    if not known or len(persons) != 1:
        return []
    statement = reader.read_clause(f"{persons[0]}, {found['tail']}", who, said)
    return [] if statement is None else [statement]


def gives_other_name(statement: StatedClause) -> bool:
    """Return whether a statement gives another name to its subject."""
    return any(one.predicate == ALSO_KNOWN_AS for one in statement.changes)


def _list_stated(stated: Sequence[StatedClause]) -> Iterator[str]:
    """Yield the persons and pets whom statements name, without the speaker."""
    for one in stated:
        if any(change.predicate == _NAME for change in one.changes):
            continue
        for slot in _PERSONS:
            if slot in one.values:
                yield one.values[slot]


def _list_told(texts: Sequence[str]) -> Iterator[str]:
    """Yield the persons of whom texts tell, and a given name with which one begins."""
    for text in texts:
        yield from find_told_persons(text)
        begins = _WRITTEN.match(text)
        if begins and _is_given(begins[0]):
            yield begins[0]


def _find_given(text: str) -> list[str]:
    """Return the persons whom a text names by a common given name."""
    return list(filter(_is_given, _WRITTEN.findall(text)))


def _is_given(name: str) -> bool:
    return fold(name.split()[0]) in GIVEN_NAMES


def _join_forms(names: set[str]) -> list[str]:
    """Return the names without those that are a part of another: "José" of "José García"."""
    words = {name: set(normalized(name).split()) for name in names}
    return [
        name
        for name in names
        if not any(words[name] < other for other in words.values())
    ]
