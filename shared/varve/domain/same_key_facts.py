"""Key facts that state the same values of the graph: one statement, told again or in two languages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from varve.domain.names import normalized
from varve.domain.search.row import MessageKey
from varve.domain.statements.texts.particulars import read_particulars
from varve.domain.summary import KeyFact
from varve.domain.triple import Op, Triple, TripleKey


class TripleValue(NamedTuple):
    """A value that a message states, and the triple that it is the value of."""

    value: str
    triple: TripleKey


ValuesByMessage = Mapping[MessageKey, Sequence[TripleValue]]


def index_values(triples: Iterable[Triple]) -> ValuesByMessage:
    """Return the values of the triples by the messages that state them."""
    found: dict[MessageKey, list[TripleValue]] = {}
    for triple in triples:
        for evidence in triple.evidence:
            if evidence.op is Op.DELETE:
                continue
            told = TripleValue(normalized(evidence.object), triple.key)
            for message in evidence.messages:
                found.setdefault(message, []).append(told)
    return found


def fold_values(
    facts: Iterable[KeyFact], told: ValuesByMessage
) -> list[KeyFact]:
    """Return the facts, of those that state the same values only the latest.

    It is as important as the most important of them. A fact with another name, figure or
    denial says something else.
    """
    latest: dict[object, KeyFact] = {}
    for fact in sorted(facts, key=lambda one: (one.event_time, one.id)):
        statement = _read_statement(fact, told) or fact.id
        earlier = latest.get(statement, fact)
        importance = max(earlier.importance, fact.importance)
        latest[statement] = replace(fact, importance=importance)
    return list(latest.values())


def _read_statement(fact: KeyFact, told: ValuesByMessage) -> object:
    """Return what two facts share that make one statement; None: no triple has its value."""
    words = normalized(fact.content)
    triples: set[TripleKey] = set()
    for id_ in fact.message_ids:
        for one in told.get((fact.conversation_id, id_), ()):
            if one.value in words:
                triples.add(one.triple)
    if not triples:
        return None
    particulars = read_particulars(fact.content)
    named = frozenset(word.stems for word in particulars.telling if word.named)
    return (
        fact.user_id,
        frozenset(triples),
        named,
        particulars.numbers,
        particulars.dates,
        particulars.denials,
    )
