"""End what requests to forget name by their words, before retention takes these words.

A request hides triples and attributes as long as its words are in working memory. What it has
ended stays ended without them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from varve.domain.current_profile import select_current_entries
from varve.domain.profile import DEFAULT_USER, ProfileEntry
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.domain.triple import TripleOperation
from varve.usecases.corrections.ends import Ends, send_entries
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
                cited = _cite(request, request.at, session)
                ends.append(cited.of_triple(own[-1], triple.label))
    if ends:
        send_operations(session, ends)


def _end_attributes(
    session: Session, user: str, requests: Sequence[ForgottenWords]
) -> None:
    entries = session.profiles.entries(session.scope, user)
    ends: list[ProfileEntry] = []
    for entry in select_current_entries(entries, session.now):
        drawn = draw_attribute(entry)
        asked = (one for one in requests if one.names(drawn))
        # Of one instant, what ends comes before what begins.
        after = entry.event_time + timedelta(microseconds=1)
        ends += [
            _cite(one, max(one.at, after), session).of_entry(entry)
            for one in asked
        ]
    send_entries(session, user, ends)


def _cite(request: ForgottenWords, at: datetime, session: Session) -> Ends:
    conversation, message = request.request
    return Ends(at, session.now, conversation or "", (message,))
