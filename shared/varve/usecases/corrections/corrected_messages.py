"""Correct the messages whose values a profile or the graph has ended."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import filterfalse, islice

from varve.domain.calendar import Grain
from varve.domain.conversation import Conversation
from varve.domain.language.languages import Language, installed_languages
from varve.domain.language.tellings import find_language
from varve.domain.names import normalized
from varve.domain.profile import DEFAULT_USER, NAMELESS
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.search.query import Filter
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.parts import find_parts, measure_kinship
from varve.domain.statements.texts.telling import (
    CORRECTION,
    EndedMessage,
    build_correction,
    build_correction_of,
    find_turn_id,
)
from varve.usecases.corrections.beside_corrected import BesideCorrected
from varve.usecases.corrections.correcting import choose_corrected
from varve.usecases.corrections.replaced import Replacement
from varve.usecases.ingest.ingest import ingest
from varve.usecases.session import Session

Tell = Callable[[EndedMessage, str | None, Language], str]
"""Returns the words of the correction of a message's speaker, in a language."""
Ended = Sequence[tuple[EndedMessage, Tell]]
"""Ended values of one message, each with what tells its correction."""
_APART = timedelta(milliseconds=1)
HEARD = 50
"""So many of the newest turns of a user show the user's language and name."""
SUMMED_UP = 5
"""So many of the newest summaries show it where the words have expired."""


def correct_messages(
    session: Session, messages: Iterable[tuple[EndedMessage, Tell]]
) -> list[Replacement]:
    """Correct the parts of messages that state the ended values; return the corrections.

    A correction is in its user's language. What else the corrected part states is told
    again with it.
    A part is corrected as the fact that was drawn from it; without one, the message is.
    If the words have expired, the correction still says what holds, for the summaries
    repeat the words.
    """
    told: dict[str, list[tuple[EndedMessage, Tell]]] = {}
    for one, tell in messages:
        id_ = turn_id(one.conversation_id, one.id)
        told.setdefault(id_, []).append((one, tell))
    planned = list(_plan(session, told))
    # The last of them is made now; of two at one time neither says again what the other does.
    at = session.now - _APART * (len(planned) - 1)
    made: list[Replacement] = []
    for plan in planned:
        correction = plan.build(at)
        at += _APART
        ingest(session, [correction])
        for ended, _ in plan.ended:
            made.append(Replacement(ended, correction, plan.has_expired))
    return made


@dataclass(frozen=True, slots=True)
class _Planned:
    """A correction to make at a time, and the values that it ends."""

    ended: Ended
    build: Callable[[datetime], Conversation]
    has_expired: bool


def _plan(
    session: Session, told: dict[str, list[tuple[EndedMessage, Tell]]]
) -> Iterator[_Planned]:
    """Yield the corrections of messages, by the ids of their turns."""
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, list(told))
    users = {turn.user_id for turn in turns}
    heard = {user: _list_heard(session, user) for user in users}
    beside = BesideCorrected(session)
    for turn in turns:
        language = find_language(
            [turn.words, *heard[turn.user_id]], installed_languages()
        )
        yield from _plan_of_turn(
            session, turn, told[turn.id], language, beside
        )
    found = {turn.id for turn in turns}
    for id_ in filterfalse(found.__contains__, told):
        yield _plan_of_expired(session, id_, told[id_])


def _plan_of_turn(
    session: Session,
    turn: Record,
    ended: Ended,
    language: Language,
    beside: BesideCorrected,
) -> Iterator[_Planned]:
    """Yield a correction of each fact of a turn that states ended values, or of the turn."""
    records: dict[str, Record] = {}
    of_record: dict[str, list[tuple[EndedMessage, Tell]]] = {}
    for one, tell in ended:
        text = tell(one, turn.about, language)
        stating = _find_stating(session, turn, one, text)
        record = choose_corrected(session, stating, text)
        records[record.id] = record
        of_record.setdefault(record.id, []).append((one, tell))
    values = [one for one, _ in ended]
    for id_, parts in of_record.items():
        record = records[id_]
        text = _tell_each(parts, turn.about, language)
        text = beside.tell(turn, record, values, text, language)

        def build(
            at: datetime, record: Record = record, text: str = text
        ) -> Conversation:
            return build_correction_in(session, record, text, at)

        yield _Planned(parts, build, has_expired=False)


def _plan_of_expired(session: Session, id_: str, ended: Ended) -> _Planned:
    """Return the correction of a turn whose words have expired."""
    first, _ = ended[0]
    speaker = _find_speaker(session, first)
    language = find_language(
        list_summed_up(session, first.user_id), installed_languages()
    )
    text = _tell_each(ended, speaker, language)

    def build(at: datetime) -> Conversation:
        correction = build_correction_of(id_, text, at, first.user_id, speaker)
        return correction.in_scope(session.scope)

    return _Planned(ended, build, has_expired=True)


def _find_speaker(session: Session, ended: EndedMessage) -> str | None:
    """Return who said a message that has expired; None: memory does not know a name.

    The subject of a value may be another person: "My sister Noelia lives in Leeds". It is
    the speaker if the user is known to speak by that name.
    """
    user = ended.user_id or DEFAULT_USER
    entries = session.profiles.entries(session.scope, user)
    names = {one.subject for one in entries if one.subject}
    known = {normalized(one) for one in (*names, ended.user_id or NAMELESS)}
    if normalized(ended.speaker or "") in known:
        return ended.speaker
    return names.pop() if len(names) == 1 else None


def _tell_each(ended: Ended, speaker: str | None, language: Language) -> str:
    """Return the words of a correction: a sentence for each value that ended."""
    said = [tell(one, speaker, language) for one, tell in ended]
    return " ".join(dict.fromkeys(said))


def _list_heard(session: Session, user_id: str | None) -> list[str]:
    """Return what a user said last, without what corrects by hand; empty without a user."""
    if user_id is None:
        return []
    return [
        one.words
        for one in read_heard(session, user_id)
        if not (one.conversation_id or "").startswith(CORRECTION)
    ]


def list_summed_up(session: Session, user_id: str | None) -> list[str]:
    """Return the words of a user's newest summaries, of the least grain that has any."""
    reader = session.records.at(session.scope)
    where = Filter(user_id=user_id, memory_types=(MemoryType.SUMMARY.value,))
    for grain in islice(Grain, 1, None):
        found = reader.browse(
            session.scope, grain, where=where, limit=SUMMED_UP
        )
        if found:
            return [one.content for one in found]
    return []


def read_heard(session: Session, user_id: str | None) -> list[Record]:
    """Return the newest turns of a user's conversations; None: of all users."""
    where = Filter(user_id=user_id, memory_types=(MemoryType.TURN.value,))
    return session.records.at(session.scope).browse(
        session.scope, Grain.WORKING, where=where, limit=HEARD
    )


def _find_stating(
    session: Session, turn: Record, ended: EndedMessage, text: str
) -> Record:
    """Return the fact of a turn's message that states the ended value, else the turn.

    Of several it is the one most like the correction's `text`. If these tell different
    parts of the message, it is the turn.
    """
    facts = _list_stating(session, turn, ended)
    if not facts:
        return turn
    likeness = [measure_kinship(read_cues(text), [one.words]) for one in facts]
    best = [
        one
        for one, like in zip(facts, likeness, strict=True)
        if like == max(likeness)
    ]
    parts = {find_parts(turn.words, one.words) for one in best}
    return best[0] if len(parts) == 1 else turn


def _list_stating(
    session: Session, turn: Record, ended: EndedMessage
) -> list[Record]:
    """Return the facts of a turn's message that state the ended value."""
    conversation = turn.conversation_id
    if not conversation or not ended.value:
        return []
    reader = session.records.at(session.scope)
    wanted = normalized(ended.value)
    return [
        one
        for one in reader.in_conversations(
            session.scope, Grain.WORKING, conversation
        )
        if one.memory_type is MemoryType.FACT
        and one.conversation_id == conversation
        and one.source_ids[-1:] == turn.source_ids[-1:]
        and wanted in normalized(one.content)
    ]


def build_correction_in(
    session: Session, record: Record, text: str, at: datetime
) -> Conversation:
    """Return the correction of a record, said by its speaker, in the session's scope."""
    reader = session.records.at(session.scope)
    turns = reader.get(session.scope, Grain.WORKING, [find_turn_id(record)])
    speaker = next((turn.about for turn in turns), None)
    conversation = build_correction(record, text, at, speaker)
    return conversation.in_scope(session.scope)
