"""End what requests to forget name by their words, before retention takes these words.

A request hides triples and attributes as long as its words are in working memory. What it has
ended stays ended without them.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from varve.domain.current_profile import select_current_entries
from varve.domain.profile import DEFAULT_USER, ProfileEntry
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.domain.triple import Op, Triple, TripleOperation
from varve.messages.write import WriteProfile, send_profile
from varve.usecases.corrections.superseded import draw_attribute
from varve.usecases.forget.asked_triples import draw_operation
from varve.usecases.session import Session
from varve.usecases.triples import send_operations


def end_forgotten(
    session: Session, requests: Sequence[ForgottenWords]
) -> None:
    """End the triples and attributes that requests name by their words.

    Erasing a request's message opens them again. Raises Retryable.
    """
    if requests:
        _end_triples(session, requests)
    for user in sorted({one.user or DEFAULT_USER for one in requests}):
        _end_attributes(session, user, requests)


def _end_triples(session: Session, requests: Sequence[ForgottenWords]) -> None:
    ends: list[TripleOperation] = []
    for triple in session.graph.triples(session.scope):
        for request in requests if triple.holds(session.now) else ():
            # Of what several users state each ends their own.
            own = [
                one for one in triple.stating if one.user_id == request.user
            ]
            if own and request.names(draw_operation(triple, own[-1])):
                ends.append(_build_end(triple, own[-1], request, session))
    if ends:
        send_operations(session, ends)


def _build_end(
    triple: Triple,
    told: TripleOperation,
    request: ForgottenWords,
    session: Session,
) -> TripleOperation:
    conversation, message = request.request
    return replace(
        told,
        op=Op.DELETE,
        predicate=triple.label,
        event_time=request.at,
        created_at=session.now,
        conversation_id=conversation or "",
        message_ids=(message,),
        confidence=1.0,
        replaces=None,
    )


def _end_attributes(
    session: Session, user: str, requests: Sequence[ForgottenWords]
) -> None:
    entries = session.profiles.entries(session.scope, user)
    ends: list[ProfileEntry] = []
    for entry in select_current_entries(entries, session.now):
        drawn = draw_attribute(entry)
        asked = (one for one in requests if one.names(drawn))
        ends += [_end_entry(entry, one, session) for one in asked]
    if ends:
        message = WriteProfile(session.scope, user, tuple(ends))
        send_profile(
            message, queue=session.queues.write, objects=session.objects
        )


def _end_entry(
    entry: ProfileEntry, request: ForgottenWords, session: Session
) -> ProfileEntry:
    conversation, message = request.request
    # Of one instant, what ends comes before what begins.
    after = entry.event_time + timedelta(microseconds=1)
    return replace(
        entry,
        event_time=max(request.at, after),
        created_at=session.now,
        conversation_id=conversation,
        message_ids=(message,),
        ends=True,
        replaces="",
        unread=False,
    )
