"""Statements that have ended according to the triples.

Questions about the present state rank them behind their successors.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from varve.domain.language.stems import stem_all
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.names import normalized
from varve.domain.record import MemoryType
from varve.domain.search.lexical import question_forms
from varve.domain.search.ranking import Ranked
from varve.domain.search.results import Browsed
from varve.domain.search.row import MessageKey
from varve.domain.triple import Op, Triple

ENDED_WEIGHT = 0.5
"""The factor of the score of a record whose value has ended.

The record stays in the results, behind its successor.
"""

FoundT = TypeVar("FoundT", bound=Ranked | Browsed)


@dataclass(frozen=True, slots=True)
class EndedStatement:
    """A value that held until `until`.

    `messages` are those that stated it. `words` are the stems of its predicate.
    """

    value: str
    until: datetime
    messages: frozenset[MessageKey]
    words: frozenset[str]


def find_ended(
    triples: Iterable[Triple], present: datetime
) -> list[EndedStatement]:
    """Return the statements that have ended at `present`.

    A value that holds again has not ended, nor has one that ends later.
    """
    known = list(triples)
    current = {triple.key for triple in known if triple.holds(present)}
    ended = []
    for triple in known:
        until = triple.invalid_at
        if until is None or until > present:
            continue
        if triple.key not in current:
            ended.append(_build_statement(triple, until))
    return ended


def demote_ended(
    ranked: Sequence[Ranked],
    question: str,
    statements: Iterable[EndedStatement],
) -> list[Ranked]:
    """Lower records that state an ended value that the question asks about; sort again.

    A record is lowered if one of its messages made the statement, its words contain the
    value, and the question contains a word of the predicate. "I'm a nurse and live in
    Porto" thus keeps its rank for questions about nurses.
    """
    asked = _find_telling_stems(question)
    relevant = [
        statement for statement in statements if statement.words & asked
    ]
    if not relevant:
        return list(ranked)
    weighed = []
    for item in ranked:
        is_ended = _states_any(item, relevant)
        weighed.append(_lower(item) if is_ended else item)
    return sorted(weighed, key=lambda item: -item.score)


def drop_corrected(found: Sequence[FoundT]) -> list[FoundT]:
    """Return the records without those whose correction is among them too.

    A statement that is only likely to be superseded stays, behind its successor.
    """
    ids = {id_ for item in found for id_ in (item.id, *item.also_in)}
    return [item for item in found if not _is_replaced(item, ids)]


def put_current_first(browsed: Sequence[Browsed]) -> list[Browsed]:
    """Return the records without corrected ones, what holds before what does not."""
    return sorted(drop_corrected(browsed), key=_is_over)


def _is_over(item: Browsed) -> bool:
    return item.standing is not None and not item.standing.current


def _is_replaced(item: Ranked | Browsed, ids: Set[str]) -> bool:
    """Return whether a correction of the record is among `ids`."""
    standing = item.standing
    if standing is None or not standing.is_corrected:
        return False
    return standing.successor in ids


def held_until(
    messages: Set[MessageKey],
    content: str,
    statements: Iterable[EndedStatement],
) -> datetime | None:
    """Return the latest end of the statements that the messages made in this content.

    None means that no such statement has ended.
    """
    words = content.casefold()
    ends = []
    for statement in statements:
        if messages & statement.messages and statement.value in words:
            ends.append(statement.until)
    return max(ends, default=None)


def _build_statement(triple: Triple, until: datetime) -> EndedStatement:
    """Build the statement from the triple's evidence, without what ended it."""
    value = triple.evidence[0].object
    words = _find_telling_stems(triple.label.replace("_", " "))
    return EndedStatement(value.casefold(), until, list_stating(triple), words)


def list_stating(triple: Triple) -> frozenset[MessageKey]:
    """Return the messages that state a triple's value, without those that only end it."""
    value = normalized(triple.evidence[0].object)
    messages: set[MessageKey] = set()
    for one in triple.evidence:
        if one.op is not Op.DELETE and normalized(one.object) == value:
            messages.update(one.messages)
    return frozenset(messages)


def _find_telling_stems(text: str) -> frozenset[str]:
    """Return the stems of the text's words without stop words."""
    forms = question_forms(text)
    return stem_all(form for form in forms if form not in STOP_WORDS)


def _states_any(item: Ranked, statements: Iterable[EndedStatement]) -> bool:
    row = item.row
    is_told = row.type in (MemoryType.FACT, MemoryType.TURN)
    # The triples are those of the searching agent.
    if not is_told or item.agent is not None:
        return False
    return held_until(row.messages, row.content, statements) is not None


def _lower(item: Ranked) -> Ranked:
    score = ENDED_WEIGHT * item.score
    parts = None
    if item.parts:
        parts = {**item.parts, "ended": score - item.score}
    return replace(item, score=score, parts=parts)
