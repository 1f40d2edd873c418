"""What triples say about entities: their names, what was believed at a time, and what one user said."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from varve.domain.names import ALSO_KNOWN_AS, Names, normalized
from varve.domain.triple import Triple, evidence_of, fold, stated_names


def names(triples: Sequence[Triple]) -> dict[str, str]:
    """Every name that the triples know, normalized, with the entity that it stands for.

    A name that several entities claim stands for itself alone, where anything is said under it.
    """
    aliases = stated_names(evidence_of(triples).values()).resolved()
    own = {
        end: end
        for t in triples
        if t.label != ALSO_KNOWN_AS
        for end in (t.source_id, t.target_id)
        if end
    }
    return {**own, **aliases}


def spellings(triples: Iterable[Triple]) -> dict[str, str]:
    """How names are written, by their normalized form: as most statements have it, else the first."""
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for operation in sorted(
        evidence_of(triples).values(), key=lambda o: (o.event_time, o.id)
    ):
        for text in (operation.subject, operation.object):
            written[normalized(text)][text.strip()] += 1
    return {form: texts.most_common(1)[0][0] for form, texts in written.items()}


def believed(
    triples: Iterable[Triple], known_at: datetime, known_names: Names | None = None
) -> list[Triple]:
    """The triples as they stood when nothing later had been learnt, under the names known today.

    The triples of an entity and predicate must be there all or not at all: one ends another. Where they
    are not all of the graph's, `known_names` are.
    """
    evidence = evidence_of(triples).values()
    learnt = (operation for operation in evidence if operation.created_at <= known_at)
    return fold(learnt, known_names or stated_names(evidence))


def of_user(triples: Iterable[Triple], user_id: str | None) -> list[Triple]:
    """What one user's statements alone amount to, the names they state included; None: everybody's."""
    if user_id is None:
        return list(triples)
    return fold(o for o in evidence_of(triples).values() if o.user_id == user_id)
