"""Names of the same person or thing: by their form, and by the aliases that conversations state."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

ALSO_KNOWN_AS = "also_known_as"
"""The predicate of an alias: its subject is the entity's name, its object another name of it."""

LITERAL = frozenset({ALSO_KNOWN_AS, "name", "goes_by"})
"""Predicates whose object is a name as a word, not the person or thing of that name."""

COUNTED = frozenset(
    {"allergic_to", "cannot_eat", "likes", "dislikes", "drinks"}
)
"""Predicates whose objects are things, of which singular and plural are one value."""

_PLURALS = (("s", ""), ("es", ""), ("ies", "y"))
"""The endings of plurals, each with that of the singular."""
_NO_NAMES = frozenset(
    (
        "",
        "user",
        "assistant",
        "system",
        "human",
        "usuario",
        "asistente",
        "i",
        "me",
        "yo",
    )
)
"""Labels of speakers without a name; as an alias one would merge all such speakers."""


@lru_cache(maxsize=4096)
def normalized(name: str) -> str:
    """Return the form in which equal names are one entity.

    NFKC, case folded, single spaces, no punctuation at the end. A fold asks for the same
    few names again and again.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    spaced = " ".join(folded.split())
    return spaced.rstrip(".!?,; ")


def meant(
    value: str, known: Collection[str], *, of_several: bool = False
) -> list[str]:
    """Return the known values that equal a value, else its longer and shorter forms.

    All are normalized. "Acme" and "Acme Ltd" are one employer. Of a list's values, those
    in one number or the other: "my peanut allergy" is one to peanuts.
    """
    if of_several:
        return [one for one in known if _is_same_in_number(value, one)]
    if value in known:
        return [value]
    found: list[str] = []
    for other in known:
        if other.startswith(f"{value} ") or value.startswith(f"{other} "):
            found.append(other)
    return found


def _is_same_in_number(value: str, other: str) -> bool:
    """Return whether two values are equal, or differ only in the number of their words."""
    words = [_list_numbers(word) for word in value.split()]
    told = [_list_numbers(word) for word in other.split()]
    if len(told) != len(words):
        return False
    pairs = zip(words, told, strict=True)
    return all(not one.isdisjoint(same) for one, same in pairs)


@lru_cache(maxsize=4096)
def _list_numbers(word: str) -> frozenset[str]:
    """Return a word and what may be its singular."""
    found = {word}
    for plural, singular in _PLURALS:
        if word.endswith(plural) and len(word) > len(plural) + 2:
            found.add(word.removesuffix(plural) + singular)
    return frozenset(found)


class Names:
    """Names resolved to entities. The result depends on the set of stated pairs alone.

    An alias stands for the one entity that claims it. An alias that several entities claim (two
    people called Dana) stands for none and stays a separate name, unless the claimants resolve to
    one entity. If names claim each other, the longest is the entity's.
    """

    def __init__(self, stated: Iterable[tuple[str, str]] = ()) -> None:
        """Resolve the pairs of `stated`: an entity's name and another name of it, both normalized."""
        self._claims: defaultdict[str, set[str]] = defaultdict(set)
        for owner, alias in stated:
            if owner != alias and not {owner, alias} & _NO_NAMES:
                self._claims[alias].add(owner)
        self._owner: dict[str, str] = {}
        for alias, owners in self._claims.items():
            if len(owners) == 1:
                self._owner[alias] = next(iter(owners))
        while self._settle_one():
            pass
        self._entities = {
            name: self._root(name) for name in sorted(self._claims)
        }

    def entity(self, name: str) -> str:
        """Return the normalized entity that a name stands for; its own form if none claims it."""
        form = normalized(name)
        return self._entities.get(form, form)

    def claimants(self, name: str) -> tuple[str, ...]:
        """Return the entities that claim an ambiguous name; none if the name is not ambiguous."""
        form = normalized(name)
        if form in self._owner or form not in self._claims:
            return ()
        roots = {self._root(owner) for owner in self._claims[form]}
        return tuple(sorted(roots))

    def resolved(self) -> Mapping[str, str]:
        """Return every alias that stands for another name, with that name."""
        found: dict[str, str] = {}
        for alias, entity in self._entities.items():
            if alias != entity:
                found[alias] = entity
        return found

    def changed(self, other: "Names") -> set[str]:
        """Return the names that the two resolve differently."""
        known = {*self._claims, *other._claims}
        return {
            name for name in known if self.entity(name) != other.entity(name)
        }

    def _settle_one(self) -> bool:
        """Settle one alias whose claimants resolve to one entity; return whether there was one."""
        unsettled = self._claims.keys() - self._owner.keys()
        for alias in sorted(unsettled):
            roots = {self._root(owner) for owner in self._claims[alias]}
            if len(roots) == 1 and alias not in roots:
                self._owner[alias] = roots.pop()
                return True
        return False

    def _root(self, name: str) -> str:
        """Return the end of the chain of owners.

        If the chain is a circle, its longest name; of equally long ones the first by letters.
        """
        seen: list[str] = []
        while name in self._owner and name not in seen:
            seen.append(name)
            name = self._owner[name]
        if name not in seen:
            return name
        start = seen.index(name)
        circle = seen[start:]
        return min(circle, key=lambda member: (-len(member), member))
