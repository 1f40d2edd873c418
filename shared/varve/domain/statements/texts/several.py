"""Attributes of several values: the end of one of them leaves the others.

"I don't speak Dutch any more" leaves "I speak German", and so is it with allergies, pets,
instruments and likes.
"""

from collections.abc import Iterator
from functools import lru_cache

from varve.domain.statements.texts.cues import (
    MAX_CACHED_TEXTS,
    SEVERAL,
    Cues,
    read_cues,
)
from varve.domain.statements.texts.particulars import list_any_matter

HARM = "harming"
_PETS = "pets"
_TASTE = "taste"
_KINDS = (HARM, "speech", "playing", "sport", _TASTE, _PETS)
_HEALTH = "health"


def ends_another_value(earlier: Cues, later: Cues) -> bool:
    """Return whether the later text ends a value, and the earlier tells others of its kind.

    Both must name some: "I no longer play" ends each of them. "My intolerance is to
    fructose" may take the place of another one.
    """
    if not later.has("ending") or later.has("correcting"):
        return False
    pairs = [
        (_list_values(earlier, kind), _list_values(later, kind))
        for kind in _list_kinds(earlier, later)
    ]
    return bool(pairs) and all(
        before and after and before.isdisjoint(after)
        for before, after in pairs
    )


def leaves_other_value(part: Cues, earlier: str, later: Cues) -> bool:
    """Return whether the later text names one value of the earlier text, and a part another one.

    "I'm not allergic to kiwi any more" leaves latex of "I'm allergic to latex and kiwi".
    """
    if later.has("correcting"):
        return False
    said = read_cues(earlier)
    for kind in _list_kinds(said, later):
        is_end = kind == HARM or later.has("ending")
        # "My dog" names no other pet than the "Rex" who died.
        if kind == _PETS or not is_end:
            continue
        asked = _list_values(part, kind)
        told = _list_values(said, kind)
        ended = _list_values(later, kind)
        if told & ended and asked & told and asked.isdisjoint(ended):
            return True
    return False


def _list_kinds(earlier: Cues, later: Cues) -> Iterator[str]:
    """Yield the attributes of several values that both texts tell."""
    for kind in _KINDS:
        if _tells(earlier, kind) and _tells(later, kind):
            yield kind


def list_matters(told: Cues) -> frozenset[str]:
    """Return the topics of a text, and the attributes of several values that it tells.

    "I speak German" is of no topic that has words of its own.
    """
    kinds = [kind for kind in _KINDS if _is_general(told, kind)]
    return told.topics.union(kinds)


def is_general_word(word: str) -> bool:
    """Return whether a word tells an attribute of several values and is none of them."""
    told = read_cues(word)
    return any(_is_general(told, kind) for kind in _KINDS)


def _tells(told: Cues, kind: str) -> bool:
    """Return whether a text tells an attribute; a film or a colour alone is no taste."""
    is_of_topic = kind in told.topics and kind != _TASTE
    return is_of_topic or _is_general(told, kind)


def _is_general(told: Cues, kind: str) -> bool:
    """Return whether a text has a word of an attribute that is none of its values."""
    return told.has(kind) or told.has(SEVERAL + kind)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _list_values(told: Cues, kind: str) -> frozenset[str]:
    """Return the stems of a text's telling words that may be values of an attribute.

    "I no longer play because of my knee" names none.
    """
    found: set[str] = set()
    for word in told.particulars.telling:
        alone = [read_cues(one) for one in word.stems]
        is_general = any(_is_general(one, kind) for one in alone)
        is_reason = kind != HARM and any(
            _HEALTH in one.topics for one in alone
        )
        if not (is_general or is_reason):
            found |= word.stems
    return frozenset(found - list_any_matter())
