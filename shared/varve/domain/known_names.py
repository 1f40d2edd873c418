"""Names that a question gives in part: a first name that only one known person has."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from varve.domain.entities import find_spellings
from varve.domain.language.tokens import words
from varve.domain.names import Names, normalized
from varve.domain.triple import Triple, evidence_of, stated_names


class KnownNames:
    """The entities of the triples, found by their names, aliases and parts of names."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        known = list(triples)
        self._triples = known
        self._names: Names = stated_names(evidence_of(known).values())
        self._entities: set[str] = set()
        for triple in known:
            self._entities.update((triple.source_id, triple.target_id))

    def find(self, name: str) -> Sequence[str]:
        """Return the entities that a name means: one, several it may mean, or none.

        A whole name or alias means its entity, even if another entity has it as a part.
        """
        entity = self._names.entity(name)
        if entity in self._entities or entity != normalized(name):
            return [entity]
        return self.suggest(name)

    def suggest(self, name: str) -> list[str]:
        """Return the entities whose names have all words of this one, by name."""
        asked = set(words(name))
        if not asked:
            return []
        subjects = {self._names.entity(one) for one in self._entities}
        return sorted(one for one in subjects if asked <= set(words(one)))

    def spell(self, entities: Iterable[str]) -> list[str]:
        """Return entities as people write them."""
        return [self._spellings.get(one, one) for one in entities]

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return find_spellings(self._triples)

    def all_names(self, entity: str) -> list[str]:
        """Return an entity's name and its aliases."""
        owners = self._names.resolved().items()
        return [
            entity,
            *sorted(alias for alias, owner in owners if owner == entity),
        ]
