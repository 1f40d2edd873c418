"""The persons who speak in a store."""

from collections.abc import Iterable, Mapping
from functools import cache, cached_property

import numpy as np

from varve.domain.language.languages import installed_languages
from varve.domain.language.tokens import fold
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools, Ints
from varve.domain.search.outline import NO_CODE
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

    @cached_property
    def of(self) -> Ints:
        """The code of the speaker of each row, where a user's id counts as the user's name."""
        columns = self._columns
        if not self.names_of_ids:
            return columns.speakers.of
        code_by_name = _number(columns.speakers.names)
        own_ids = np.full(len(columns.users.names) + 1, NO_CODE, np.int32)
        own_names = own_ids.copy()
        for user, id_ in enumerate(columns.users.names):
            if id_ in self.names_of_ids:
                own_ids[user] = code_by_name[id_]
                own_names[user] = code_by_name[self.names_of_ids[id_]]
        # The last item is that of rows without a user, whose code is -1.
        users = columns.users.of
        speaks_by_id = columns.speakers.of == own_ids[users]
        told: Ints = np.where(
            speaks_by_id, own_names[users], columns.speakers.of
        )
        return told

    @cached_property
    def names_of_ids(self) -> Mapping[str, str]:
        """The name of each user who speaks by one name, and by the id in its place."""
        columns = self._columns
        users = columns.users.names
        if set(users).isdisjoint(columns.speakers.names):
            return {}
        spoken: dict[str, set[str]] = {}
        for user, speaker in self._list_spoken():
            if is_person(speaker) and not names_role(speaker):
                spoken.setdefault(user, set()).add(speaker)
        found: dict[str, str] = {}
        for user, names in spoken.items():
            others = names - {user}
            if user in names and len(others) == 1:
                found[user] = others.pop()
        return found

    def _list_spoken(self) -> list[tuple[str, str]]:
        """Return the users and the speakers of their turns, each pair once."""
        columns = self._columns
        is_told = columns.is_turn & (columns.users.of >= 0)
        is_told &= columns.speakers.of >= 0
        width = len(columns.speakers.names)
        pairs = columns.users.of[is_told].astype(np.int64) * width
        pairs += columns.speakers.of[is_told]
        found: list[tuple[str, str]] = []
        for pair in np.unique(pairs).tolist():
            user, speaker = divmod(pair, width)
            found.append(
                (columns.users.names[user], columns.speakers.names[speaker])
            )
        return found

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
        spoken = np.unique(self.of[is_shown]).tolist()
        return {
            code for code in spoken if code >= 0 and is_person(names[code])
        }


def _number(names: Iterable[str]) -> dict[str, int]:
    """Return the code of each name."""
    return {name: code for code, name in enumerate(names)}
