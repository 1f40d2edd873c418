"""Deletions of triples that end nothing that is known."""

from collections.abc import Sequence

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
