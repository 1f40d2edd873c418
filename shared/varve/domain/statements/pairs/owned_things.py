"""Whether a text tells of a thing that belongs to another person whom it names.

"My mom got a new router, her wifi is now …" leaves "The wifi at home is …" as it is.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from varve.domain.language.names import PARTICLES
from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.pairs.confirming import list_persons
from varve.domain.statements.pairs.named_subjects import share_name
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    compile_phrases,
    read_cues,
    words_of_present,
)
from varve.domain.statements.texts.particulars import count_shared

_MOST_WORDS = 4
"""The words of a thing's name that are read."""


def tells_thing_of_another(earlier: str, later: str) -> bool:
    """Return whether the later text names a thing of the earlier one as another person's.

    The earlier text names no other person, and the later text tells nothing of the speaker.
    """
    before = read_cues(earlier)
    after = read_cues(later)
    if after.has("own") or after.has("correcting"):
        return False
    if list_persons(before) or share_name(before, after):
        return False
    return any(
        count_shared(before.particulars, read_cues(thing).particulars)
        for thing in _list_owned(later)
    )


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _list_owned(text: str) -> tuple[str, ...]:
    """Return the things in a text that belong to persons named by what they are."""
    folded = fold_apostrophes(text)
    persons = [one for one in read_cues(text).persons if " " in one]
    found: list[str] = []
    for person in persons:
        found += _find_things(folded, person)
    return tuple(found)


def _find_things(folded: str, person: str) -> Iterator[str]:
    """Yield the things of one person: "my dad's car", "el coche de mi padre", "her car"."""
    at = folded.find(person)
    behind = folded[at + len(person) :]
    if person.endswith("'s"):
        yield _cut(behind)
    before = re.search(
        rf"((?:\w+ ){{1,{_MOST_WORDS}}})(?:{PARTICLES}) $", folded[:at]
    )
    if before:
        yield before[1]
    for possessive in _theirs().finditer(behind):
        yield _cut(behind[possessive.end() :])


def _cut(text: str) -> str:
    """Return the first words of a text, up to a verb or the end of a clause."""
    thing = re.match(rf"(?:\s*[\w'-]+){{0,{_MOST_WORDS}}}", text)
    words = thing[0] if thing else ""
    verb = words_of_present().search(words)
    return words[: verb.start()] if verb else words


@cache
def _theirs() -> re.Pattern[str]:
    return compile_phrases(lambda language: language.changes.theirs)
