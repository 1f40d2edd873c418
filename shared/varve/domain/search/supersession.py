"""What has been said and holds no longer, as the triples tell it, for questions about how things stand."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from varve.domain.language.stems import stems
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.names import normalized
from varve.domain.record import MemoryType
from varve.domain.search.lexical import question_forms
from varve.domain.search.ranking import Ranked
from varve.domain.triple import Op, Triple

ENDED_WEIGHT = 0.5
"""What is left of the score of what says a value that holds no longer: it stays, behind its successor."""


@dataclass(frozen=True, slots=True)
class Statement:
    """That a value held until then, with the messages that said so and the words of its predicate."""

    value: str
    until: datetime
    messages: frozenset[tuple[str | None, str]]
    words: frozenset[str]


def ended(triples: Iterable[Triple], present: datetime) -> list[Statement]:
    """The statements whose values had ended by then and do not hold again; what is to come has not."""
    known = list(triples)
    holds = {(t.source_id, t.label, t.target_id) for t in known if t.holds(present)}
    return [
        _statement(t, t.invalid_at)
        for t in known
        if t.invalid_at
        and t.invalid_at <= present
        and (t.source_id, t.label, t.target_id) not in holds
    ]


def behind(
    ranked: Sequence[Ranked], question: str, statements: Iterable[Statement]
) -> list[Ranked]:
    """The same, with what says an ended value of what the question asks about behind its successors.

    A record is meant where one of its messages made the statement, its words have the value, and the
    question has a word of the predicate: "I'm a nurse and live in Porto" still says who is a nurse.
    """
    asked = _telling(question)
    over = [statement for statement in statements if statement.words & asked]
    if not over:
        return list(ranked)
    weighed = [_weighed(item) if _says(item, over) else item for item in ranked]
    return sorted(weighed, key=lambda item: -item.score)


def _statement(triple: Triple, until: datetime) -> Statement:
    """Of the evidence for a value, without the one that ended it."""
    first = triple.evidence[0].object
    said = [
        o
        for o in triple.evidence
        if o.op is not Op.DELETE and normalized(o.object) == normalized(first)
    ]
    messages = {(o.conversation_id, id_) for o in said for id_ in o.message_ids}
    words = _telling(triple.label.replace("_", " "))
    return Statement(first.casefold(), until, frozenset(messages), words)


def _telling(text: str) -> frozenset[str]:
    told = (form for form in question_forms(text) if form not in STOP_WORDS)
    return frozenset(stem for form in told for stem in stems(form))


def held_until(
    messages: Set[tuple[str | None, str]], content: str, statements: Iterable[Statement]
) -> datetime | None:
    """When what these messages say in these words ended to hold, the latest of it; None where nothing has."""
    words = content.casefold()
    return max(
        (s.until for s in statements if messages & s.messages and s.value in words),
        default=None,
    )


def _says(item: Ranked, over: Iterable[Statement]) -> bool:
    row = item.row
    said = row.type in (MemoryType.FACT, MemoryType.TURN)
    return said and held_until(row.messages, row.content, over) is not None


def _weighed(item: Ranked) -> Ranked:
    score = ENDED_WEIGHT * item.score
    parts = {**item.parts, "ended": score - item.score} if item.parts else None
    return replace(item, score=score, parts=parts)
