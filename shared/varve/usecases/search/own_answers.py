"""Put first what states the attribute that a user asks of themselves."""

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from itertools import chain

from varve.domain.names import normalized
from varve.domain.record import MemoryType
from varve.domain.search.ranking import Ranked
from varve.domain.search.routing import Route
from varve.domain.search.row import MessageKey
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.statements.forgetting.forgetting import repeats_value
from varve.domain.statements.pairs.superseding import relate
from varve.domain.statements.questions.bearing import seeks_own
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import read_cues
from varve.domain.triple import Op, Triple, TripleOperation


def put_own_answers_first(
    found: Sequence[Ranked],
    way: Route,
    told: ToldValues,
    user: str | None,
) -> list[Ranked]:
    """Return the records with those first that state what a user asks of themselves.

    The statement may share no word with the question: "I'm a nurse" answers "What do I do
    for a living?". The triples of `told` are read for such questions alone.
    """
    predicate = None if _has_window(way) else _find_predicate(way.text)
    if predicate is None:
        return list(found)
    triples = told.triples
    own = _list_own_names(found, user)
    stated = [
        one
        for one in _list_stating(predicate, triples, user, way.present)
        if normalized(one.subject) in own
    ]
    stating = set(chain.from_iterable(one.messages for one in stated))
    ordered = sorted(found, key=lambda one: not _states(one, stating, own))
    if not found or not _states(ordered[0], stating, own):
        return _put_repeating_first(found, stated, own)
    if _may_answer(found[0], ordered[0], way.text, triples):
        return list(found)
    return ordered


def _put_repeating_first(
    found: Sequence[Ranked], stated: Iterable[TripleOperation], own: Set[str]
) -> list[Ranked]:
    """Return the records with the summaries first that repeat a value, its words expired."""
    values = [one.object for one in stated]
    return sorted(found, key=lambda one: not _repeats(one, values, own))


def _list_own_names(found: Iterable[Ranked], user: str | None) -> set[str]:
    """Return the normalized names by which a user speaks in the records, and their id."""
    names = {user or ""}
    for row in (one.row for one in found if one.row.user == user):
        if row.type is MemoryType.TURN:
            names.add(row.about or "")
        elif row.type is MemoryType.SUMMARY:
            names.update(_list_speakers(row.content))
    return set(map(normalized, names))


def _list_speakers(summary: str) -> Iterator[str]:
    for sentence in read_sentences(summary):
        yield sentence.speaker or ""


def _repeats(one: Ranked, values: Iterable[str], own: Set[str]) -> bool:
    """Return whether a summary has one of these values in a sentence of a user that holds."""
    if one.row.type is not MemoryType.SUMMARY:
        return False
    told = [
        sentence.said
        for sentence in read_sentences(one.row.content)
        if normalized(sentence.speaker or "") in own
        and sentence.wording not in one.outdated
    ]
    return any(repeats_value(said, value) for value in values for said in told)


def _states(one: Ranked, stating: Set[MessageKey], own: Set[str]) -> bool:
    """Return whether a record holds, and is among the messages that state a user's value."""
    if one.standing is not None and not one.standing.current:
        return False
    is_own = normalized(one.row.about or "") in own
    return is_own and not stating.isdisjoint(one.row.messages)


def _find_predicate(question: str) -> str | None:
    """Return the predicate of the attribute that a user asks of themselves, if any."""
    if not seeks_own(read_cues(question)):
        return None
    from varve.domain.rules.own_questions import (  # other questions need no rules
        find_asked_predicate,
    )

    return find_asked_predicate(question)


def _may_answer(
    first: Ranked, own: Ranked, question: str, triples: Iterable[Triple]
) -> bool:
    """Return whether the first record is a later statement on the matter that no rule reads."""
    if first.row.time <= own.row.time:
        return False
    if not relate(read_cues(question), read_cues(first.row.content)):
        return False
    return all(
        first.row.messages.isdisjoint(one.messages)
        for triple in triples
        for one in triple.evidence
    )


def _has_window(way: Route) -> bool:
    return way.since is not None or way.until is not None


def _list_stating(
    predicate: str, triples: Iterable[Triple], user: str | None, at: datetime
) -> Iterator[TripleOperation]:
    """Yield a user's statements of a value that holds."""
    for triple in triples:
        if triple.label != predicate or not triple.holds(at):
            continue
        for one in triple.evidence:
            if one.user_id == user and one.op is not Op.DELETE:
                yield one
