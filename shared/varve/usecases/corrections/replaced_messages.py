"""Find the messages that told the values which changes of the graph end."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from varve.domain.names import normalized
from varve.domain.predicates import is_single_valued
from varve.domain.profile import find_key
from varve.domain.statements.texts.telling import EndedMessage
from varve.domain.triple import Op, Triple, TripleOperation, may_end
from varve.usecases.session import Session

Replaced = list[tuple[TripleOperation, list[EndedMessage]]]
"""Operations, each with the messages whose values it ends."""


def find_replaced_messages(
    session: Session, operations: Sequence[TripleOperation]
) -> Replaced:
    """Return the operations with the messages whose values they end.

    Operations that end nothing at present are left out.
    """
    view = session.graph.open(session.scope)
    names = view.names()
    found: Replaced = []
    for operation in operations:
        entity = names.entity(operation.subject)
        own = [one for one in view.about(entity) if one.source_id == entity]
        messages = list(_list_ended(operation, own, session.now))
        if messages:
            found.append((operation, messages))
    return found


def _list_ended(
    operation: TripleOperation, own: Sequence[Triple], now: datetime
) -> Iterator[EndedMessage]:
    """Yield the messages whose values an operation ends now, of its entity's triples."""
    if operation.event_time > now:
        return
    for triple in own:
        if not triple.holds(now) or not _ends(operation, triple):
            continue
        for one in _list_told(triple, own):
            if may_end(operation.user_id, one.user_id):
                yield one


def list_messages(triple: Triple) -> Iterator[EndedMessage]:
    """Yield the messages that state a triple, each once."""
    told = {
        message: operation
        for operation in triple.stating
        for message in operation.messages
    }
    for (conversation_id, id_), operation in told.items():
        yield EndedMessage(
            conversation_id,
            id_,
            operation.user_id,
            operation.subject,
            operation.object,
            find_key(triple.label),
        )


def _list_told(
    triple: Triple, own: Sequence[Triple]
) -> Sequence[EndedMessage]:
    """Return the messages that state a triple.

    If the graph alone set its value, they are those of the last value before it that
    messages told: their correction has the value that ends now. `own` are the triples of
    the same entity.
    """
    while not (told := list(list_messages(triple))):
        before = _find_before(triple, own)
        if before is None:
            return []
        triple = before
    return told


def _find_before(triple: Triple, own: Sequence[Triple]) -> Triple | None:
    """Return the triple that ended where this one began."""
    for one in own:
        is_ended = one.invalid_at == triple.valid_at
        if (
            one.label == triple.label
            and is_ended
            and one.valid_at < triple.valid_at
        ):
            return one
    return None


def _ends(operation: TripleOperation, triple: Triple) -> bool:
    """Return whether an operation ends a triple of its subject."""
    if operation.predicate != triple.label:
        return False
    value = triple.evidence[-1].object
    is_same = normalized(operation.object) == normalized(value)
    if operation.op is Op.DELETE:
        return is_same or not operation.object
    if is_same or operation.event_time < triple.valid_at:
        return False
    if operation.replaces:
        return normalized(operation.replaces) == normalized(value)
    return is_single_valued(operation.predicate)
