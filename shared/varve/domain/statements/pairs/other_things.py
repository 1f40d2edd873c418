"""Whether two texts tell of two things that their places or owners tell apart.

"The wifi password at home is …" and "The wifi password at the office is …" are two.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.pairs.corrected_values import (
    corrects_another_value,
)
from varve.domain.statements.pairs.other_matters import BESIDE_ALL
from varve.domain.statements.pairs.owned_things import tells_thing_of_another
from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    compile_phrases,
    read_cues,
    words_of_present,
)
from varve.domain.statements.texts.particulars import (
    list_any_matter,
    read_stems,
)

_OWNER = re.compile(r"\w+'s(?!\w)")
HEAD_WORDS = 2
"""Two heads of so many words each are of two things, if they have none in common: "alarm code"."""


@dataclass(frozen=True, slots=True)
class _PlacedThing:
    """What a text is about: the stems of its head, and of its places and owners."""

    head: frozenset[str]
    place: frozenset[str]
    topics: frozenset[str]
    told: frozenset[str]


def tells_other_thing(earlier: str, later: str) -> bool:
    """Return whether the later text tells of another thing than the earlier one.

    Both say what something at a place, or of an owner, is. Two words of one topic may name
    one place, as "flat" and "home".
    """
    one = _read_subject(earlier)
    other = _read_subject(later)
    if one is None or other is None or one.told & other.told:
        return False
    if read_cues(later).has("correcting"):
        return False
    if one.head & other.head:
        return _are_of_two_places(one, other)
    return bool(one.place & other.place) and _have_two_heads(one, other)


def changes_other_thing(earlier: str, later: str) -> bool:
    """Return whether the later text changes a thing of another place or owner, or another value.

    What adds a value changes none.
    """
    return (
        read_cues(later).adds
        or tells_other_thing(earlier, later)
        or tells_thing_of_another(earlier, later)
        or corrects_another_value(earlier, later)
    )


def is_of_other_place(text: str, asked: frozenset[str]) -> bool:
    """Return whether a text tells of a thing at a place that a question does not name.

    `asked` are the stems of the question's words.
    """
    subject = _read_subject(text)
    if subject is None or not subject.head & asked:
        return False
    return not subject.place & asked


def _are_of_two_places(one: _PlacedThing, other: _PlacedThing) -> bool:
    if one.place <= other.place or other.place <= one.place:
        return False
    return one.topics.isdisjoint(other.topics)


def _have_two_heads(one: _PlacedThing, other: _PlacedThing) -> bool:
    return min(len(one.head), len(other.head)) >= HEAD_WORDS


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _read_subject(text: str) -> _PlacedThing | None:
    """Return what a text is about; None: it names no place or owner of it."""
    folded = fold_apostrophes(text)
    verb = words_of_present().search(folded)
    if verb is None:
        return None
    subject = folded[: verb.start()]
    owners = " ".join(_OWNER.findall(subject))
    head, *places = _qualifying().split(_OWNER.sub(" ", subject))
    place = " ".join([owners, *places])
    if not _stem(place):
        return None
    return _PlacedThing(
        head=_stem(head),
        place=_stem(place),
        topics=read_cues(place).topics - BESIDE_ALL,
        told=_stem(folded[verb.end() :]),
    )


def _stem(words: str) -> frozenset[str]:
    """Return the stems of the words that tell what a text is about."""
    return frozenset(read_stems(words) - list_any_matter())


@cache
def _qualifying() -> re.Pattern[str]:
    return compile_phrases(lambda language: language.changes.qualifying)
