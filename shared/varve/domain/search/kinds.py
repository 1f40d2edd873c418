"""Everyday kinds of things: a question names a kind, its answers name members.

"What hobbies does Dana have?" is answered by "we went hiking". The two share no word and,
for static word vectors, little meaning. The kinds are data of the languages.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from varve.domain.language.languages import (
    Language,
    gathered,
    installed_languages,
)
from varve.domain.language.stems import stems

Words = tuple[str, ...]
Members = Mapping[str, Words]
"""The words of a kind by each stem that asks for it."""


@cache
def _read_installed_members() -> Members:
    return read_members(installed_languages())


def read_members(languages: Iterable[Language]) -> Members:
    """Return the kinds of some languages; a kind has the members of all of them."""
    asking_tables = []
    member_tables = []
    for language in languages:
        kinds = language.kinds.items()
        asking_tables.append({name: kind.asked_by for name, kind in kinds})
        member_tables.append({name: kind.members for name, kind in kinds})
    members = gathered(member_tables)
    members_by_stem = []
    for name, asking_words in gathered(asking_tables).items():
        for word in asking_words:
            members_by_stem.append(dict.fromkeys(stems(word), members[name]))
    found = gathered(members_by_stem)
    return {stem: tuple(words) for stem, words in found.items()}


def kinds_asked(words: Iterable[str]) -> tuple[Words, ...]:
    """Return the words of each kind that any of the folded words asks for."""
    members = _read_installed_members()
    found: dict[Words, None] = {}
    for word in words:
        for stem in stems(word):
            kind = members.get(stem)
            if kind:
                found[kind] = None
    return tuple(found)
