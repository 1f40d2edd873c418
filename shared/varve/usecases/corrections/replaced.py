"""Keep profile and graph in step where one of them replaces a value that messages told."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from varve.domain.conversation import Conversation
from varve.domain.current_profile import select_current_entries
from varve.domain.language.languages import Language
from varve.domain.names import normalized
from varve.domain.profile import (
    DEFAULT_USER,
    LIST_KEYS,
    MAX_VALUE_CHARACTERS,
    ProfileEntry,
    find_key,
)
from varve.domain.statements.texts.sentences import tell_attribute, tell_triple
from varve.domain.statements.texts.telling import EndedMessage
from varve.domain.triple import Op, Triple, TripleOperation
from varve.usecases.corrections.ends import Ends, send_entries
from varve.usecases.session import Session
from varve.usecases.triples import send_operations


@dataclass(frozen=True, slots=True)
class Replacement:
    """A message whose value has ended, and its correction.

    An end of the value cites the correction: erasing that opens the value again.
    `has_expired`: memory has the message's words in summaries alone.
    """

    ended: EndedMessage
    correction: Conversation
    has_expired: bool

    @property
    def user(self) -> str:
        """The profile's user."""
        return self.ended.user_id or DEFAULT_USER

    def list_message_ids(self) -> tuple[str, ...]:
        """Return the ids of the correction's messages."""
        return tuple(str(one.id) for one in self.correction.messages)

    def ends_at(self, now: datetime) -> Ends:
        """Return the ends that cite the correction."""
        talk = self.correction.conversation_id
        return Ends(now, now, talk, self.list_message_ids())


def tell_operation(
    operation: TripleOperation,
    ended: EndedMessage,
    speaker: str | None,
    language: Language,
) -> str:
    """Return an operation as a speaker says it: "I live in Porto."."""
    return tell_triple(
        operation.subject,
        operation.predicate,
        operation.object or ended.value,
        speaker,
        ends=operation.op is Op.DELETE,
        language=language,
    )


def tell_entry(
    entry: ProfileEntry,
    ended: EndedMessage,
    _speaker: str | None,
    language: Language,
) -> str:
    """Return an attribute as its owner says it."""
    return tell_attribute(
        entry.key,
        entry.value or ended.value,
        ends=not entry.value,
        language=language,
    )


def end_triples(session: Session, replaced: Iterable[Replacement]) -> None:
    """End the triples of the values that a profile replaced. Raises Retryable."""
    known = [one for one in replaced if one.ended.key]
    if not known:
        return
    ends: dict[str, TripleOperation] = {}
    for triple in session.graph.triples(session.scope):
        for one in known:
            if triple.holds(session.now) and _states(triple, one.ended):
                ends.setdefault(
                    triple.id,
                    one.ends_at(session.now).of_triple(
                        triple.evidence[-1], triple.label
                    ),
                )
    if ends:
        send_operations(session, list(ends.values()))


def _states(triple: Triple, ended: EndedMessage) -> bool:
    """Return whether a triple has the ended value of the same person's attribute."""
    told = triple.evidence[-1]
    if find_key(triple.label) != ended.key:
        return False
    if normalized(told.object) != normalized(ended.value):
        return False
    if told.user_id not in (None, ended.user_id):
        return False
    cites = any(
        one.conversation_id == ended.conversation_id
        and ended.id in one.message_ids
        for one in triple.evidence
    )
    return cites or normalized(told.subject) == normalized(ended.speaker or "")


def end_attributes(
    session: Session,
    replaced: Iterable[Replacement],
    operation: TripleOperation,
) -> None:
    """End the attributes of the values that a graph's operation ended. Raises Retryable.

    The operation's value, if it tells one, takes their place. A single value of expired
    words stays: only with the profile's own correction their summaries are superseded.
    """
    for one in replaced:
        if one.has_expired and one.ended.key not in LIST_KEYS:
            continue
        entries = session.profiles.entries(session.scope, one.user)
        changes: list[ProfileEntry] = []
        for entry in select_current_entries(entries, session.now):
            if _tells(entry, one.ended, operation):
                changes += _list_changes(entry, one, operation, session)
        send_entries(session, one.user, changes)


def _tells(
    entry: ProfileEntry, ended: EndedMessage, operation: TripleOperation
) -> bool:
    """Return whether a conversation told an attribute's value that an operation ends."""
    named = operation.replaces
    if operation.op is Op.DELETE:
        named = operation.object
    # What the operation names may be a value that the graph set after the message's.
    value = named or ended.value
    is_same = normalized(entry.value) == normalized(value)
    is_told = entry.conversation_id is not None
    return is_told and is_same and entry.key == ended.key


def _list_changes(
    entry: ProfileEntry,
    replaced: Replacement,
    operation: TripleOperation,
    session: Session,
) -> Iterator[ProfileEntry]:
    """Yield the end of an attribute, and the value in its place."""
    end = replaced.ends_at(session.now).of_entry(entry)
    yield end
    value = " ".join(session.privacy(operation.object).split())
    is_valid = len(value) <= MAX_VALUE_CHARACTERS and value.isprintable()
    if operation.op is not Op.DELETE and value and is_valid:
        yield replace(end, value=value, ends=False)
