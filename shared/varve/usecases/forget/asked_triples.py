"""Triples as JSON values, with the requests to forget that name them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from varve.domain.calendar import iso
from varve.domain.mention import in_words
from varve.domain.statements.forgetting.forgetting import (
    AnyForgotten,
    ForgottenValue,
)
from varve.domain.statements.forgetting.forgotten import (
    Drawn,
    find_first_message,
)
from varve.domain.statements.texts.sentences import tell_triple
from varve.domain.triple import Triple, TripleOperation
from varve.usecases.forget.asked_to_forget import read_forgotten
from varve.usecases.session import Session


def triples_as_json(
    session: Session, triples: Sequence[Triple], spellings: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return triples with their entities spelled as users wrote them.

    `askedToForget` is the id of the turn that asks to forget one, else None. Raises
    Retryable.
    """
    reader = session.records.at(session.scope)
    values: list[AnyForgotten] = []
    if triples:
        values = read_forgotten(
            session.scope, reader, triples, scans=session.scans
        )
    return [
        _as_json(one, spellings)
        | {"askedToForget": find_triple_request(one, values)}
        for one in triples
    ]


def find_triple_request(
    triple: Triple, values: Iterable[AnyForgotten]
) -> str | None:
    """Return the id of the turn that asks to forget a triple, if any does.

    The request closed it, or names by its words what states it last.
    """
    drawn = find_last_statement(triple)
    for value in values:
        if isinstance(value, ForgottenValue):
            if value.triple.id == triple.id:
                return value.request_turn
        elif drawn is not None and value.names(drawn):
            return value.request_turn
    return None


def find_last_statement(triple: Triple) -> Drawn | None:
    """Return what states a triple last; None: nothing in memory does."""
    if not triple.stating:
        return None
    return draw_operation(triple, triple.stating[-1])


def draw_operation(triple: Triple, told: TripleOperation) -> Drawn:
    """Return one of the operations that state a triple as what states it."""
    return Drawn(
        message=find_first_message(told.conversation_id, told.message_ids),
        words=in_words(triple),
        say=partial(tell_triple, told.subject, triple.label, told.object),
        user=told.user_id,
        at=told.event_time,
    )


def _as_json(triple: Triple, spellings: Mapping[str, str]) -> dict[str, Any]:
    last = triple.evidence[-1]
    return {
        "id": triple.id,
        "source": spellings.get(triple.source_id, triple.source_id),
        "sourceId": triple.source_id,
        "label": triple.label,
        "target": spellings.get(triple.target_id, triple.target_id),
        "targetId": triple.target_id,
        "validAt": iso(triple.valid_at),
        "invalidAt": triple.invalid_at and iso(triple.invalid_at),
        "createdAt": iso(triple.created_at),
        "expiredAt": triple.expired_at and iso(triple.expired_at),
        "confidence": triple.confidence,
        "conversationId": last.conversation_id,
        "messageIds": list(last.message_ids),
        "userId": last.user_id,
    }
