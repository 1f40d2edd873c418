"""Propose the statements that users asked to forget in conversations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from varve.domain.search.row import MessageKey
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.usecases.erasure import proposed
from varve.usecases.forget.asked_statements import is_asked
from varve.usecases.forget.fold_proposals import fold_statements
from varve.usecases.forget.proposals import Proposal, read_statements
from varve.usecases.session import Session

Keep = Callable[[Session, Sequence[Proposal]], object]
"""Keeps a proposal of these statements."""


def propose_requested(
    session: Session,
    values: Sequence[AnyForgotten],
    keep: Keep = proposed.keep,
) -> None:
    """Leave a proposal for each request to forget whose words memory still has.

    What tells by its own words what a request names stands for its message. Raises
    Retryable.
    """
    if not values:
        return
    named: dict[MessageKey, list[Proposal]] = {
        one.request: [] for one in values
    }
    asked: dict[MessageKey, str] = {
        one.request: _tell_asked(one) for one in values
    }
    for one in read_statements(session):
        for request, likeness in _weigh(one, values).items():
            named[request].append(replace(one, likeness=likeness))
    for request, stating in named.items():
        if stating:
            folded = fold_statements(asked[request], stating)
            keep(session, folded)


def _weigh(
    one: Proposal, values: Iterable[AnyForgotten]
) -> dict[MessageKey, float]:
    """Return the requests that take a statement: 1.0 if its own words tell what they name.

    A request's own words come last.
    """
    found: dict[MessageKey, float] = {}
    for value in values:
        if is_asked(one, value):
            known = found.get(value.request, 0.0)
            is_request = one.id == value.request_turn
            is_named = not is_request and value.is_named_in(one.content)
            found[value.request] = max(known, float(is_named))
    return found


def _tell_asked(value: AnyForgotten) -> str:
    """Return words that tell the sentences to forget from the others of a message."""
    if isinstance(value, ForgottenWords):
        return value.asking.turn.words
    return value.value
