"""Requests to forget whose words retention takes: kept for a person before these go."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import day_of
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.usecases.erasure import proposed
from varve.usecases.forget.asked_to_forget import read_forgotten
from varve.usecases.forget.ends_of_requests import end_forgotten
from varve.usecases.forget.propose_requested import propose_requested
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class ExpiringRequests:
    """The requests to forget in working memory, of which days expire.

    `by_words` name statements by their words. `losing` lose words, their own or words that
    they name. `lost` counts those that go themselves, on `days`.
    """

    by_words: tuple[ForgottenWords, ...] = ()
    losing: tuple[AnyForgotten, ...] = ()
    lost: int = 0
    days: frozenset[str] = frozenset()


def find_expiring(
    session: Session, expired: Collection[str]
) -> ExpiringRequests:
    """Return the requests to forget if days of working memory expire. Raises Retryable."""
    if not expired:
        return ExpiringRequests()
    triples = session.graph.triples(session.scope)
    values = read_forgotten(session.scope, session.records, triples)
    zone = session.zone
    losing = tuple(
        one
        for one in values
        if any(day_of(at, zone) in expired for at in _list_times(one))
    )
    going = {
        one.request: day
        for one in losing
        if (day := day_of(one.at, zone)) in expired
    }
    by_words = (one for one in values if isinstance(one, ForgottenWords))
    return ExpiringRequests(
        tuple(by_words), losing, len(going), frozenset(going.values())
    )


def settle_expiring(session: Session, requests: ExpiringRequests) -> None:
    """Propose what requests ask that lose words, and end what they name. Raises Retryable."""
    propose_requested(session, requests.losing, proposed.keep_new)
    end_forgotten(session, requests.by_words)


def _list_times(one: AnyForgotten) -> Iterator[datetime]:
    """Yield when a request was made, and when what it names was told."""
    yield one.at
    if isinstance(one, ForgottenWords):
        yield from (told.turn.at for told in one.told)
    else:
        yield from (told.event_time for told in one.triple.stating)
