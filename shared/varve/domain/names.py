"""Which names mean the same person or thing: by their form, and by what conversations state."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

ALSO_KNOWN_AS = "also_known_as"
"""The predicate of an alias: its subject is the name by which the entity is kept, its object another one."""

LITERAL = frozenset({ALSO_KNOWN_AS, "name", "goes_by"})
"""Predicates whose object is a name as a word, not the one who bears it."""

_NOBODY = frozenset(
    {
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
    }
)
"""What may stand where a speaker has no name; as an alias it would make everybody one person."""


def normalized(name: str) -> str:
    """The form under which names are the same entity: NFKC, case folded, single spaces, no final dot."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(folded.split()).rstrip(".!?,; ")


def meant(value: str, known: Collection[str]) -> list[str]:
    """Which of the known values, all normalized, one is: itself, else its longer or shorter forms.

    "Acme" and "Acme Ltd" are one employer.
    """
    if value in known:
        return [value]
    return [
        other
        for other in known
        if other.startswith(f"{value} ") or value.startswith(f"{other} ")
    ]


class Names:
    """Names resolved to entities, a function of the set of stated pairs alone.

    An alias stands for the one entity that claims it. One that several claim stands for none of them
    (two people called Dana) and stays a name of its own, unless the claimants turn out to be one.
    Where names claim each other, the longest of them is the entity's.
    """

    def __init__(self, stated: Iterable[tuple[str, str]] = ()) -> None:
        """`stated` are pairs of an entity's name and another name of it, both normalized."""
        self._claims: defaultdict[str, set[str]] = defaultdict(set)
        for owner, alias in stated:
            if owner != alias and not {owner, alias} & _NOBODY:
                self._claims[alias].add(owner)
        self._owner = {
            alias: next(iter(owners))
            for alias, owners in self._claims.items()
            if len(owners) == 1
        }
        while self._joined():
            pass
        self._entities = {name: self._root(name) for name in sorted(self._claims)}

    def entity(self, name: str) -> str:
        """The entity the name stands for, normalized; the name's own form where nobody else claims it."""
        form = normalized(name)
        return self._entities.get(form, form)

    def claimants(self, name: str) -> tuple[str, ...]:
        """The entities that claim an ambiguous name; none where it is clear whose it is."""
        form = normalized(name)
        if form in self._owner or form not in self._claims:
            return ()
        return tuple(sorted({self._root(owner) for owner in self._claims[form]}))

    def resolved(self) -> Mapping[str, str]:
        """Every alias that stands for another name, with that name."""
        return {
            alias: entity for alias, entity in self._entities.items() if alias != entity
        }

    def changed(self, other: "Names") -> set[str]:
        """The names that the two resolve differently."""
        known = {*self._claims, *other._claims}
        return {name for name in known if self.entity(name) != other.entity(name)}

    def _joined(self) -> bool:
        """Settle an alias of several claimants that are by now one; whether there was any."""
        for alias in sorted(self._claims.keys() - self._owner.keys()):
            roots = {self._root(owner) for owner in self._claims[alias]}
            if len(roots) == 1 and alias not in roots:
                self._owner[alias] = roots.pop()
                return True
        return False

    def _root(self, name: str) -> str:
        """The end of the chain of owners; of a circle its longest name, then the first by letters."""
        seen: list[str] = []
        while name in self._owner and name not in seen:
            seen.append(name)
            name = self._owner[name]
        circle = seen[seen.index(name) :] if name in seen else [name]
        return min(circle, key=lambda member: (-len(member), member))
