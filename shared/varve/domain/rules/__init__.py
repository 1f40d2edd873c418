"""Extraction without a model: English and Spanish statements of a closed set of shapes.

The rules read a user's own words in the first person: who they are, where they live and work, what
they like, prefer, speak and cannot eat, their family, pets and birthdays, appointments, numbers
with a label, corrections of the message before, and what they ask to remember or to forget. They
pass over questions, conditions, hearsay, quotations, code, logs, and statements in other words:
the turn itself is kept in any case, and no fact is better than a wrong one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from varve.domain.calendar import start_of_day
from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.names import ALSO_KNOWN_AS, normalized
from varve.domain.rules.corrections import corrected
from varve.domain.rules.english import ENGLISH
from varve.domain.rules.reader import Reader, Statement
from varve.domain.rules.sentences import Sentence, sentences
from varve.domain.rules.spanish import SPANISH
from varve.domain.triple import TripleOperation

READERS = (Reader(ENGLISH), Reader(SPANISH))


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """An Extractor without a model; the same batch always has the same facts."""

    name: str = "rules-2"

    def extract(self, batch: Batch) -> Extraction:
        """Return the facts and triple operations that the batch's user messages state."""
        facts: dict[tuple[str, str], Fact] = {}
        operations: dict[str, TripleOperation] = {}
        for utterance, statement in _statements(batch):
            if statement.fact:
                fact = _fact(statement, utterance, batch)
                facts.setdefault((utterance.message_id, fact.content), fact)
            for operation in _operations(statement, utterance, batch):
                operations.setdefault(operation.id, operation)
        return Extraction(tuple(facts.values()), tuple(operations.values()))


def _statements(batch: Batch) -> Iterator[tuple[Utterance, Statement]]:
    """Yield the statements of the batch's own utterances.

    The context is read only for what a correction corrects.
    """
    before: dict[str, list[Statement]] = {}
    for spoken in (batch.context, batch.utterances):
        for utterance in spoken:
            if utterance.role != "user":
                continue
            stated = _read(utterance, batch, before.get(utterance.speaker, []))
            before[utterance.speaker] = stated
            if spoken is batch.utterances:
                yield from ((utterance, statement) for statement in stated)


def _read(
    utterance: Utterance, batch: Batch, before: list[Statement]
) -> list[Statement]:
    """Return the utterance's statements, up to the sentence in which fiction begins."""
    who = utterance.speaker
    said = _local_day(utterance.said_at, batch)
    stated: list[Statement] = []
    for sentence in sentences(utterance.text):
        if any(reader.language.fiction.search(sentence.text) for reader in READERS):
            break
        stated += _read_sentence(sentence, who, said, stated or before)
    return stated


def _read_sentence(
    sentence: Sentence, who: str, said: date, earlier: list[Statement]
) -> list[Statement]:
    """Return what the sentence states in the first language that reads it, the likeliest first."""
    for reader in sorted(READERS, key=lambda reader: -reader.familiarity(sentence)):
        found = corrected(reader, sentence, who, earlier)
        if not found:
            found = reader.read(sentence, who, said)
        if found:
            return found
    return []


def _fact(statement: Statement, utterance: Utterance, batch: Batch) -> Fact:
    when = statement.when
    return Fact(
        content=statement.fact,
        about=statement.about,
        event_time=_midnight(when.first, utterance, batch)
        if when
        else utterance.said_at,
        message_ids=(utterance.message_id,),
        importance=statement.importance,
        confidence=statement.confidence,
    )


def _operations(
    statement: Statement, utterance: Utterance, batch: Batch
) -> Iterator[TripleOperation]:
    for change in statement.changes:
        if change.predicate == ALSO_KNOWN_AS and not _is_same(
            change.subject, change.object, utterance
        ):
            continue
        yield TripleOperation(
            op=change.op,
            subject=change.subject,
            predicate=change.predicate,
            object=change.object,
            event_time=_effective(statement, utterance, batch),
            created_at=batch.created_at,
            conversation_id=batch.conversation_id,
            message_ids=(utterance.message_id,),
            user_id=utterance.user_id,
            confidence=statement.confidence,
            replaces=change.replaces or None,
        )


def _is_same(full: str, other: str, utterance: Utterance) -> bool:
    """Return whether two names are one person's: the words say so, or the speaker's label agrees.

    The client sets the label, which may be a role or any other word. It must share a word with the
    full name, or be the user's id.
    """
    if other != utterance.speaker or other == utterance.user_id:
        return normalized(full) != normalized(other)
    return bool(
        {*normalized(full).split()}
        & {*normalized(other).split()} - {normalized(utterance.role)}
    )


def _effective(statement: Statement, utterance: Utterance, batch: Batch) -> datetime:
    """Return when the change took effect: the last day of a span, or for today the utterance's time.

    Otherwise "I moved last week" would lose to what was true, and said, in that week.
    """
    when = statement.when
    if when is None or when.last >= _local_day(utterance.said_at, batch):
        return utterance.said_at
    return _midnight(when.last, utterance, batch)


def _midnight(day: date, utterance: Utterance, batch: Batch) -> datetime:
    """Return the start of the local day; outside the calendar the utterance's time."""
    try:
        return start_of_day(day, batch.zone)
    except OverflowError:
        return utterance.said_at


def _local_day(instant: datetime, batch: Batch) -> date:
    try:
        return instant.astimezone(batch.zone).date()
    except OverflowError:
        return instant.date()


__all__ = ["RuleExtractor"]
