"""Extraction without a model: statements of a closed set of shapes, in each language with rules.

The rules read the user's own words in the first person, and in what `remember` and `correct` were
given also in the third, by the user's own name: name, home and work, likes and preferences,
languages, allergies, diet, drinks and devices, family, pets and birthdays, appointments, and numbers
with a label. They also read corrections of the message before and requests to remember or to forget.
They pass over questions, conditions, hearsay, quotations, code, logs and other wordings: memory keeps
the turn itself, and no fact is better than a wrong one.

A language with rules names its module in its file of data. The module has the rules as `RULES`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from importlib import import_module
from itertools import product
from operator import itemgetter

from varve.domain.calendar import start_of_day
from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.language.languages import installed_languages
from varve.domain.language.spelling import restore_subject
from varve.domain.names import ALSO_KNOWN_AS, LITERAL, normalized
from varve.domain.rules.corrections import gives_time, read_correction
from varve.domain.rules.nicknames import gives_other_name, read_nickname
from varve.domain.rules.reader import Reader, StatedClause
from varve.domain.rules.references import read_reference
from varve.domain.rules.reported import leave_out_reported
from varve.domain.rules.rule import Change
from varve.domain.rules.sentences import Sentence, sentences
from varve.domain.statements.texts.telling import CORRECTION, REMEMBERED
from varve.domain.triple import TripleOperation


def _load_readers() -> tuple[Reader, ...]:
    """Return a reader for each installed language that names a module of rules."""
    readers: list[Reader] = []
    for language in installed_languages():
        if language.rules:
            module = import_module(f"{__package__}.{language.rules}")
            readers.append(Reader(module.RULES))
    return tuple(readers)


LANGUAGE_READERS = _load_readers()
MAX_CACHED_TEXTS = 1_024
_ANY_DAY = date(2999, 6, 15)
"""A day after every year that a text may name as past."""
_NAME = "name"
_QUESTION_MARK = "?"
_TOLD = (REMEMBERED, CORRECTION)
"""The beginnings of the ids of conversations whose words `remember` and `correct` were given."""
CLEAR_WORDS = 3
"""A sentence with so many common words of one language and none of another is not in that."""


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """An Extractor without a model; the same batch always has the same facts."""

    name: str = "rules-3"

    def extract(self, batch: Batch) -> Extraction:
        """Return the facts and triple operations that the batch's user messages state."""
        facts: dict[tuple[str, str], Fact] = {}
        operations: dict[str, TripleOperation] = {}
        if_known: dict[str, TripleOperation] = {}
        for utterance, statement in _statements(batch):
            if statement.fact:
                fact = _fact(statement, utterance, batch)
                facts.setdefault((utterance.message_id, fact.content), fact)
            for change, operation in _operations(statement, utterance, batch):
                sure = if_known if change.if_known else operations
                sure.setdefault(operation.id, operation)
        return Extraction(
            facts=tuple(facts.values()),
            operations=tuple(operations.values()),
            if_known=tuple(if_known.values()),
        )


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def draw_facts(speaker: str, text: str) -> frozenset[str]:
    """Return the facts that a speaker's words state, as if they were said on any day."""
    own = restore_subject(text)
    read = _read_text(own, speaker, _ANY_DAY, [], by_name=False)
    return frozenset(one.fact for one in read)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def draw_predicates(speaker: str, text: str) -> frozenset[str]:
    """Return the predicates whose values a speaker's words change, as `remember` reads them."""
    own = restore_subject(text)
    read = _read_text(own, speaker, _ANY_DAY, [], by_name=True)
    return frozenset(
        change.predicate for one in read for change in one.changes
    )


def corrects_time(text: str) -> bool:
    """Return whether a text only gives another date, number or time: "Sorry, I meant 3 June"."""
    told = list(sentences(text))
    return len(told) == 1 and any(
        gives_time(reader, told[0]) for reader in LANGUAGE_READERS
    )


def _statements(batch: Batch) -> Iterator[tuple[Utterance, StatedClause]]:
    """Yield the statements of the batch's own utterances.

    The context is read only for what a correction corrects.
    """
    before: dict[str, list[StatedClause]] = {}
    is_asked = False
    for spoken in (batch.context, batch.utterances):
        for utterance in spoken:
            is_answer = is_asked
            is_asked = _QUESTION_MARK in utterance.text
            if utterance.role != "user":
                continue
            earlier = before.get(utterance.speaker, [])
            read = _read(utterance, batch, earlier, is_answer=is_answer)
            stated = [
                one for one in read if not _repeats_label(one, utterance)
            ]
            before[utterance.speaker] = stated
            if spoken is batch.utterances:
                for statement in stated:
                    yield utterance, statement


def _repeats_label(statement: StatedClause, utterance: Utterance) -> bool:
    """Return whether a statement only gives its speaker the name that labels the message."""
    if _has_id_as_label(utterance):
        return False
    names = {normalized(change.object) for change in statement.changes}
    return names == {normalized(utterance.speaker)} and any(
        change.predicate == _NAME for change in statement.changes
    )


def _has_id_as_label(utterance: Utterance) -> bool:
    """Return whether the user's id, which is no name yet, labels the message."""
    return utterance.speaker == utterance.user_id


def _read(
    utterance: Utterance,
    batch: Batch,
    before: list[StatedClause],
    *,
    is_answer: bool,
) -> list[StatedClause]:
    """Return the utterance's statements, up to the sentence in which fiction begins.

    What answers a question may tell of another one: "Where is Ana now?" "Moved to Oslo".
    """
    text = utterance.text if is_answer else restore_subject(utterance.text)
    said = _local_day(utterance.said_at, batch)
    by_name = batch.conversation_id.startswith(_TOLD)
    return _read_text(text, utterance.speaker, said, before, by_name=by_name)


def _read_text(
    text: str,
    who: str,
    said: date,
    before: list[StatedClause],
    *,
    by_name: bool,
) -> list[StatedClause]:
    stated: list[StatedClause] = []
    last = ""
    for sentence in sentences(leave_out_reported(text)):
        if _begins_fiction(sentence):
            break
        found = _read_sentence(
            sentence, who, said, stated or before, by_name=by_name
        )
        stated += found
        if not any(map(gives_other_name, found)):
            stated += _read_nickname(sentence, who, said, last, stated)
        last = sentence.text
    return stated


def _read_nickname(
    sentence: Sentence,
    who: str,
    said: date,
    before: str,
    stated: list[StatedClause],
) -> list[StatedClause]:
    """Return the nickname that a sentence gives, in the first language that reads it."""
    for reader in LANGUAGE_READERS:
        found = read_nickname(reader, sentence, who, said, before, stated)
        if found:
            return found
    return []


def _begins_fiction(sentence: Sentence) -> bool:
    marks = (reader.language.fiction for reader in LANGUAGE_READERS)
    return any(mark.search(sentence.text) for mark in marks)


def _read_sentence(
    sentence: Sentence,
    who: str,
    said: date,
    earlier: list[StatedClause],
    *,
    by_name: bool,
) -> list[StatedClause]:
    """Return what the sentence states in the first language that reads it, the likeliest first.

    `by_name`: speakers may tell of themselves by name.
    """
    for reader in _likely_readers(sentence):
        own = reader.tell_own(sentence, who) if by_name else sentence
        found = read_correction(reader, own, who, earlier)
        if not found:
            found = read_reference(reader, own, who, said, earlier)
        if not found:
            found = reader.read(own, who, said)
        if found:
            return found
    return []


def _likely_readers(sentence: Sentence) -> list[Reader]:
    """Return the readers, the likeliest first, without those of a clearly other language."""
    familiar = [
        (reader.familiarity(sentence), reader) for reader in LANGUAGE_READERS
    ]
    familiar.sort(key=itemgetter(0), reverse=True)
    is_clear = familiar[0][0] >= CLEAR_WORDS
    return [reader for words, reader in familiar if words or not is_clear]


def _fact(statement: StatedClause, utterance: Utterance, batch: Batch) -> Fact:
    event_time = utterance.said_at
    if statement.when is not None:
        event_time = _midnight(statement.when.first, utterance, batch)
    return Fact(
        content=statement.fact,
        about=statement.about,
        event_time=event_time,
        message_ids=(utterance.message_id,),
        importance=statement.importance,
        confidence=statement.confidence,
    )


def _operations(
    statement: StatedClause, utterance: Utterance, batch: Batch
) -> Iterator[tuple[Change, TripleOperation]]:
    """Yield the changes of a statement with their operations."""
    times = _effective_times(statement, utterance, batch)
    for change, event_time in product(statement.changes, times):
        if change.predicate in LITERAL and not _is_name(
            change, statement, utterance
        ):
            continue
        operation = TripleOperation(
            op=change.op,
            subject=change.subject,
            predicate=change.predicate,
            object=change.object,
            event_time=event_time,
            created_at=batch.created_at,
            conversation_id=batch.conversation_id,
            message_ids=(utterance.message_id,),
            user_id=utterance.user_id,
            confidence=statement.confidence,
            replaces=change.replaces or None,
        )
        yield change, operation


def _is_name(
    change: Change, statement: StatedClause, utterance: Utterance
) -> bool:
    """Return whether the change names its subject otherwise than the subject itself does.

    An alias must be the words' own, or fit the speaker's label.
    """
    if normalized(change.subject) == normalized(change.object):
        return change.predicate == _NAME and _has_id_as_label(utterance)
    is_said = change.object in statement.values.values()
    if change.predicate != ALSO_KNOWN_AS or is_said:
        return True
    return _is_same(change.subject, change.object, utterance)


def _is_same(full: str, other: str, utterance: Utterance) -> bool:
    """Return whether two names are one person's: the words say so, or the speaker's label agrees.

    The client sets the label, which may be a role or any other word. It must share a word with the
    full name, or be the user's id.
    """
    if other != utterance.speaker or other == utterance.user_id:
        return normalized(full) != normalized(other)
    words = set(normalized(full).split())
    label = set(normalized(other).split())
    label.discard(normalized(utterance.role))
    return not words.isdisjoint(label)


def _effective_times(
    statement: StatedClause, utterance: Utterance, batch: Batch
) -> list[datetime]:
    """Return when the changes took effect.

    What holds since a day holds today as well, whatever was said in between.
    """
    if statement.since is None:
        return [_effective(statement, utterance, batch)]
    begun = _midnight(statement.since.first, utterance, batch)
    return [begun, utterance.said_at]


def _effective(
    statement: StatedClause, utterance: Utterance, batch: Batch
) -> datetime:
    """Return when the change took effect: the last day of a span, or for today the utterance's time.

    The first day would let a fact that the user stated in that week supersede "I moved last week".
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


__all__ = ["RuleExtractor", "corrects_time", "draw_facts", "draw_predicates"]
