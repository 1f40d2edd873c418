"""End the triples and attributes that rest on words which hold no longer."""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from datetime import datetime

from varve.domain.current_profile import select_current_entries
from varve.domain.language.tokens import fold
from varve.domain.mention import in_words
from varve.domain.names import normalized
from varve.domain.profile import (
    DEFAULT_USER,
    KEY_OF_PREDICATE,
    MAX_VALUE_CHARACTERS,
    ProfileEntry,
)
from varve.domain.record import MemoryType, Record
from varve.domain.statements.pairs.other_matters import have_other_topics
from varve.domain.statements.pairs.superseding import leaves
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.parts import (
    find_corrected_parts,
    find_parts,
    split_parts,
)
from varve.domain.triple import Triple, TripleOperation
from varve.usecases.corrections.ends import Ends, send_entries
from varve.usecases.session import Session
from varve.usecases.triples import send_operations


@dataclass(frozen=True, slots=True)
class Ending:
    """What ends a record's values: a text, and the messages that an end cites.

    The values hold until `at`, as memory learns at `learnt_at`. `takes` tells of the words
    of a triple or an attribute whether the text is about them. Erasing the messages opens
    the values again. With `keeps_words` the text stands in the place of an attribute's
    value as long as nothing is read from it. If the text tells values of `predicates` that
    the record tells too, values of no other predicate end.
    """

    record: Record
    text: str
    at: datetime
    learnt_at: datetime
    conversation_id: str
    message_ids: tuple[str, ...]
    takes: Callable[[str], bool]
    keeps_words: bool = False
    predicates: frozenset[str] = frozenset()

    @property
    def ends(self) -> Ends:
        """The ends that cite the messages."""
        return Ends(
            self.at, self.learnt_at, self.conversation_id, self.message_ids
        )

    def replaces(self, value: str) -> bool:
        """Return whether the record states a value that the text does not."""
        wanted = normalized(value)
        is_stated = wanted in normalized(self.record.content)
        return is_stated and wanted not in normalized(self.text)

    @property
    def _corrected(self) -> str:
        """The words that the text corrects: a fact's, or some parts of a turn's."""
        if self.record.memory_type is MemoryType.FACT:
            return fold(self.record.content)
        numbers = find_corrected_parts(self.record.words, self.text)
        parts = enumerate(split_parts(self.record.words))
        return fold(" ".join(one for at, one in parts if at in numbers))

    def rewrites(self, told: Mapping[str, str]) -> set[str]:
        """Return the keys of values, of one subject's told predicates, that the text tells anew.

        "I'm allergic to nuts, kiwi and latex" is corrected by "I'm allergic to nuts, mango
        and latex": the text repeats a value of them, and those it leaves out have ended.
        """
        words = self._corrected
        corrected = {
            key: wanted
            for key, value in told.items()
            if (wanted := fold(value)) in words
        }
        text = fold(self.text)
        is_repeated = any(wanted in text for wanted in corrected.values())
        return set(corrected) if is_repeated else set()


def take_told_parts(
    record: Record, text: str, turns: Iterable[Record] = ()
) -> Callable[[str], bool]:
    """Return whether a text is about words drawn from a record, as `Ending.takes`.

    The text is about the record's parts that are most akin to it. Of one part it leaves
    what is of other topics, if it has one of the part's. `turns` has the turn of a fact:
    words from other parts of it are not the fact's.
    """
    told = read_cues(text)
    has_topic = bool(told.topics & read_cues(record.words).topics)
    others = [turn.words for turn in turns if turn.id != record.id]
    corrected = find_corrected_parts(record.words, text)

    def takes(words: str) -> bool:
        for said in others:
            parts = find_parts(said, record.content)
            if parts.isdisjoint(find_parts(said, words)):
                return False
        if corrected.isdisjoint(find_parts(record.words, words)):
            return False
        drawn = read_cues(words)
        if has_topic and have_other_topics(drawn, told):
            return False
        return not leaves(drawn, record.words, told)

    return takes


def end_values(session: Session, ending: Ending) -> None:
    """End the triples and attributes that rest on a record's words. Raises Retryable."""
    _end_triples(session, ending)
    _end_attributes(session, ending)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A value of a triple or an attribute that rests on the record's message."""

    id: str
    subject: str
    attribute: str
    value: str
    words: str


def _find_resting(
    drawn: Iterable[_Drawn], told: Collection[str | None], ending: Ending
) -> set[str]:
    """Return the ids of the values that the text is about; it tells `told` attributes."""
    again: dict[str, dict[str, str]] = {}
    found: set[str] = set()
    for one in drawn:
        if one.attribute in told:
            again.setdefault(one.subject, {})[one.id] = one.value
        if ending.takes(one.words):
            found.add(one.id)
    return found.union(*map(ending.rewrites, again.values()))


def _end_triples(session: Session, ending: Ending) -> None:
    held = _list_triples(session, ending)
    ids = _find_resting(map(_read_triple, held), ending.predicates, ending)
    resting = [triple for triple in held if triple.id in ids]
    told = {one.label for one in resting} & ending.predicates
    ends = [
        ending.ends.of_triple(triple.evidence[-1], triple.label)
        for triple in resting
        if _is_told_again(triple, told, ending)
    ]
    if ends:
        send_operations(session, ends)


def _list_triples(session: Session, ending: Ending) -> list[Triple]:
    """Return the triples that hold and rest on the record's message."""
    held: list[Triple] = []
    for triple in session.graph.triples(session.scope):
        told = triple.evidence[-1]
        if triple.holds(ending.at) and _is_of_message(told, ending.record):
            held.append(triple)
    return held


def _is_of_message(
    told: TripleOperation | ProfileEntry, record: Record
) -> bool:
    is_same_talk = told.conversation_id == record.conversation_id
    ids = set(told.message_ids)
    return is_same_talk and not ids.isdisjoint(record.source_ids)


def _read_triple(triple: Triple) -> _Drawn:
    value = triple.evidence[-1].object
    words = in_words(triple)
    return _Drawn(triple.id, triple.source_id, triple.label, value, words)


def _is_told_again(
    triple: Triple, told: Collection[str], ending: Ending
) -> bool:
    """Return whether a text has another value for a triple, whose predicate it tells if any."""
    is_of_told = not told or triple.label in told
    return is_of_told and ending.replaces(triple.evidence[-1].object)


def _end_attributes(session: Session, ending: Ending) -> None:
    user = ending.record.user_id or DEFAULT_USER
    entries = session.profiles.entries(session.scope, user)
    held = _list_entries(entries, ending)
    told = {KEY_OF_PREDICATE.get(one) for one in ending.predicates}
    ids = _find_resting(map(_read_entry, held), told, ending)
    resting = [entry for entry in held if entry.id in ids]
    told &= {entry.key for entry in resting}
    changes: list[ProfileEntry] = []
    for entry in resting:
        if not told or entry.key in told:
            changes += _list_changes(entry, ending, session.privacy)
    send_entries(session, user, changes)


def _list_changes(
    entry: ProfileEntry, ending: Ending, filter_text: Callable[[str], str]
) -> Iterator[ProfileEntry]:
    """Yield the end of an attribute, and the text in its place."""
    end = replace(ending.ends.of_entry(entry), unread=ending.keeps_words)
    if ending.replaces(entry.value):
        yield end
    words = _shorten(filter_text(ending.text))
    if ending.keeps_words and words:
        yield replace(end, value=words, ends=False)


def _shorten(text: str) -> str:
    """Return a text as the value of an attribute: one printable line of limited length."""
    line = " ".join(text.split())
    printable = "".join(filter(str.isprintable, line))
    return printable[:MAX_VALUE_CHARACTERS].strip()


def _list_entries(
    entries: Sequence[ProfileEntry], ending: Ending
) -> list[ProfileEntry]:
    """Return the attributes that hold and rest on the record's message."""
    return [
        entry
        for entry in select_current_entries(entries, ending.at)
        if _is_of_message(_find_last_telling(entry, entries), ending.record)
    ]


def _read_entry(entry: ProfileEntry) -> _Drawn:
    words = f"{entry.key.replace('_', ' ')} {entry.value}"
    return _Drawn(entry.id, entry.subject, entry.key, entry.value, words)


def _find_last_telling(
    entry: ProfileEntry, entries: Iterable[ProfileEntry]
) -> ProfileEntry:
    """Return the last statement of an attribute's value, or the attribute itself."""
    again = (
        one
        for one in entries
        if not one.ends
        and (one.key, one.subject) == (entry.key, entry.subject)
        and normalized(one.value) == normalized(entry.value)
    )
    return max(again, key=lambda one: one.event_time, default=entry)
