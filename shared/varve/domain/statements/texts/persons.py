"""The persons who speak in a store."""

from collections.abc import Iterable
from functools import cache

import numpy as np

from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.query import Filter

ASSISTANTS = frozenset({"assistant"})
"""The folded names of speakers who state nothing about themselves."""


def names_role(speaker: str) -> bool:
    """Return whether a speaker's name is that of a role, as "User" is, and no person's."""
    return fold(speaker) in list_roles()


@cache
def list_roles() -> frozenset[str]:
    """Return the folded names of the parts in a conversation, in all languages."""
    roles: set[str] = set()
    for language in installed_languages():
        roles.update(language.names.roles)
    return frozenset(roles)


def is_person(speaker: str) -> bool:
    """Return whether a speaker is another than the assistant."""
    return speaker.casefold() not in ASSISTANTS


def list_own_names(
    speaker: str, user: str | None, speakers: Iterable[str]
) -> frozenset[str]:
    """Return the names by which the speaker of a user's words speaks.

    Words without a name have the user's id in its place: where a user speaks by one name,
    both are one person's.
    """
    named = set(filter(is_person, speakers)) - {user}
    if user is None or len(named) != 1 or speaker not in named | {user}:
        return frozenset({speaker})
    return frozenset(named | {user})


class Persons:
    """The persons who said the turns of a store's columns, by their codes there."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._of_users: dict[int, set[int]] = {}

    def count_told(self, visible: Filter) -> int:
        """Return how many turns of persons pass the filter."""
        columns = self._columns
        is_shown = columns.admitted(visible) & columns.is_turn
        # No speaker has the code -1.
        counts = np.bincount(columns.speakers.of[is_shown] + 1).tolist()
        names = ("", *columns.speakers.names)
        pairs = zip(counts, names, strict=False)
        return sum(count for count, name in pairs if is_person(name))

    def find(self, visible: Filter) -> set[int]:
        """Return those who said the turns that pass the filter."""
        return self._select(self._columns.admitted(visible))

    def find_of(self, user: int) -> set[int]:
        """Return those who speak in the memory of a user's code."""
        if user not in self._of_users:
            is_of_user = self._columns.users.of == user
            self._of_users[user] = self._select(is_of_user)
        return self._of_users[user]

    def _select(self, rows: Bools) -> set[int]:
        columns = self._columns
        is_shown = rows & columns.is_turn
        names = columns.speakers.names
        spoken = np.unique(columns.speakers.of[is_shown]).tolist()
        return {
            code for code in spoken if code >= 0 and is_person(names[code])
        }
