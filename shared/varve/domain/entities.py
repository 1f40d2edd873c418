"""Entities in triples: how their names are written, and partial folds of their triples."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from varve.domain.names import Names, normalized
from varve.domain.triple import (
    Triple,
    TripleOperation,
    evidence_of,
    fold,
    stated_names,
)


def find_spellings(triples: Iterable[Triple]) -> dict[str, str]:
    """Return the usual spelling of each name, by the name's normalized form.

    The usual spelling is the one in most statements; of equals, the earliest.
    """
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    operations = evidence_of(triples).values()
    for operation in sorted(operations, key=_time_and_id):
        for text in (operation.subject, operation.object):
            spellings = written[normalized(text)]
            spellings[text.strip()] += 1
    usual = {}
    for form, spellings in written.items():
        [(spelling, _)] = spellings.most_common(1)
        usual[form] = spelling
    return usual


def _time_and_id(operation: TripleOperation) -> tuple[datetime, str]:
    return (operation.event_time, operation.id)


def fold_known_at(
    triples: Iterable[Triple],
    known_at: datetime,
    known_names: Names | None = None,
) -> list[Triple]:
    """Return the triples as the statements learnt by `known_at` make them.

    Names resolve as they do today. Pass all triples of an entity and predicate, or none,
    because one ends another. If `triples` is not the whole graph, `known_names` are the
    names of the whole graph.
    """
    evidence = evidence_of(triples).values()
    learnt = (
        operation for operation in evidence if operation.created_at <= known_at
    )
    return fold(learnt, known_names or stated_names(evidence))


def fold_as_one(
    triples: Iterable[Triple], names_of_ids: Mapping[str, str]
) -> list[Triple]:
    """Return the triples with those of users' ids moved to the users' names.

    "I work at Globex" of u-42 then ends with "I joined Initech" of Dana, if u-42 is Dana.
    """
    known = list(triples)
    own = {*names_of_ids, *names_of_ids.values()}
    entities = set(map(normalized, own))
    own_triples = [one for one in known if one.source_id in entities]
    if not own_triples:
        return known
    named = [
        _name_subject(one, names_of_ids)
        for one in evidence_of(own_triples).values()
    ]
    others = [one for one in known if one.source_id not in entities]
    return [*others, *fold(named, stated_names(evidence_of(known).values()))]


def _name_subject(
    operation: TripleOperation, names_of_ids: Mapping[str, str]
) -> TripleOperation:
    user = operation.user_id or ""
    is_own = normalized(operation.subject) == normalized(user)
    if not is_own or user not in names_of_ids:
        return operation
    return replace(operation, subject=names_of_ids[user])


def fold_of_user(
    triples: Iterable[Triple], user_id: str | None
) -> list[Triple]:
    """Return the triples that one user states; with None, all triples.

    The names come from that user's statements too. What belongs to no user, such as a
    change of the graph, states none of them and may end any.
    """
    if user_id is None:
        return list(triples)
    own: list[TripleOperation] = []
    unowned: list[TripleOperation] = []
    for operation in evidence_of(triples).values():
        if operation.user_id == user_id:
            own.append(operation)
        elif operation.user_id is None:
            unowned.append(operation)
    folded = fold([*own, *unowned], stated_names(own))
    return [
        triple
        for triple in folded
        if any(
            one.user_id == user_id for one in triple.stating or triple.evidence
        )
    ]
