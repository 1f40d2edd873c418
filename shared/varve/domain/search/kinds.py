"""Everyday kinds of things: what a question asks for by a kind's name is told by its members' names.

"What hobbies does Dana have?" is answered by "we went hiking", which shares no word with it and, for
static word vectors, little meaning. The kinds are data of the languages.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from varve.domain.language.languages import Language, gathered, installed_languages
from varve.domain.language.stems import stems

Members = Mapping[str, tuple[str, ...]]
"""The words of a kind by each stem that asks for it."""


@cache
def _installed_members() -> Members:
    return read_members(installed_languages())


def read_members(languages: Iterable[Language]) -> Members:
    """Return the kinds of some languages; a kind has the members of all of them."""
    kinds = [language.kinds for language in languages]
    asked_by = gathered({n: kind.asked_by for n, kind in own.items()} for own in kinds)
    members = gathered({n: kind.members for n, kind in own.items()} for own in kinds)
    found: dict[str, dict[str, None]] = {}
    for name, words in asked_by.items():
        for word in words:
            for stem in stems(word):
                found.setdefault(stem, {}).update(dict.fromkeys(members[name]))
    return {stem: tuple(words) for stem, words in found.items()}


def kinds_asked(words: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return, for each of the folded words that asks for a kind, the kind's words; each kind once."""
    known = _installed_members()
    found = (known.get(stem) for word in words for stem in stems(word))
    return tuple(dict.fromkeys(members for members in found if members))
