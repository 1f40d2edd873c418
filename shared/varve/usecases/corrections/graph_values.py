"""Find the values that messages told and an attribute set by hand ends in the graph alone."""

from collections.abc import Iterable, Iterator

from varve.domain.names import normalized
from varve.domain.predicates import is_single_valued
from varve.domain.profile import DEFAULT_USER, KNOWN_KEYS, ProfileEntry
from varve.domain.statements.texts.telling import EndedMessage
from varve.usecases.corrections.corrected_messages import read_heard
from varve.usecases.corrections.replaced_messages import list_messages
from varve.usecases.session import Session


def find_graph_values(
    session: Session, entry: ProfileEntry, entries: Iterable[ProfileEntry]
) -> list[EndedMessage]:
    """Return the messages whose value of a triple about the user an attribute ends.

    These are contact data and the like: no conversation sets such an attribute, so the
    profile has no entry of the message.
    """
    if entry.key in KNOWN_KEYS or not is_single_valued(entry.key):
        return []
    user = None if entry.user_id == DEFAULT_USER else entry.user_id
    names = _list_own_names(session, user, entries)
    return [
        told
        for told in _list_held(session, entry.key)
        if told.user_id == user
        and normalized(told.speaker or "") in names
        and normalized(told.value) != normalized(entry.value)
    ]


def _list_held(session: Session, predicate: str) -> Iterator[EndedMessage]:
    """Yield the messages whose value of a predicate holds now."""
    for triple in session.graph.triples(session.scope):
        if triple.label == predicate and triple.holds(session.now):
            yield from list_messages(triple)


def _list_own_names(
    session: Session, user: str | None, entries: Iterable[ProfileEntry]
) -> set[str]:
    """Return the names under which a user speaks, normalized."""
    names = {one.subject for one in entries if one.subject}
    for turn in read_heard(session, user):
        if turn.user_id == user and turn.about:
            names.add(turn.about)
    return {normalized(one) for one in names}
