"""Changes of triples that end nothing that is known, or return to nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from varve.domain.names import normalized
from varve.domain.predicates import FAVOURITE
from varve.domain.triple import (
    Op,
    TripleOperation,
    fold,
    group_key,
    stated_names,
)


def idle_deletions(
    deletions: Sequence[TripleOperation], known: Sequence[TripleOperation]
) -> frozenset[str]:
    """Return the ids of the deletions that end no value of the known operations."""
    names = stated_names(known)
    keys = {group_key(deletion, names) for deletion in deletions}
    group = [one for one in known if group_key(one, names) in keys]
    ids = {deletion.id for deletion in deletions}
    for triple in fold([*group, *deletions], names):
        if triple.evidence[0].op is not Op.DELETE:
            ids.discard(triple.evidence[-1].id)
    return frozenset(ids)


def list_stating(
    operation: TripleOperation, known: Sequence[TripleOperation]
) -> Iterator[TripleOperation]:
    """Yield the known operations that state the value of this one, or any if it names none."""
    names = stated_names(known)
    key = group_key(operation, names)
    value = normalized(operation.object)
    for one in known:
        if one.op is Op.DELETE or group_key(one, names) != key:
            continue
        if not value or normalized(one.object) == value:
            yield one


def name_favourites(
    deletions: Sequence[TripleOperation], known: Sequence[TripleOperation]
) -> Iterator[TripleOperation]:
    """Yield the deletions; one of any favourite becomes one of each known sort."""
    sorts = {
        one.predicate for one in known if one.predicate.startswith(FAVOURITE)
    }
    for deletion in deletions:
        if deletion.predicate != FAVOURITE:
            yield deletion
            continue
        for predicate in sorted(sorts):
            yield replace(deletion, predicate=predicate)
