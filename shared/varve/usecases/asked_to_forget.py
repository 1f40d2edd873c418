"""The values that users asked to forget in conversations, and records that still state them."""

from collections.abc import Iterable, Sequence

import numpy as np

from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, turn_id
from varve.domain.search.columns import Columns
from varve.domain.search.outline import Outline, moment
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked
from varve.domain.search.results import Browsed
from varve.domain.search.row import Message
from varve.domain.statements.forgetting import (
    ForgottenValue,
    asks_to_forget,
    find_ended_by_message,
    keep_requested,
    request_words,
)
from varve.domain.triple import Triple
from varve.ports.records import MemoryReader
from varve.usecases.lookup import Lookup

_TURN = str(MemoryType.TURN)


def read_forgotten(
    scope: Scope, reader: MemoryReader, triples: Sequence[Triple]
) -> list[ForgottenValue]:
    """Return the values that messages in working memory ask to forget. Raises Retryable."""
    ended = list(find_ended_by_message(triples))
    ids = {turn_id(one.request[0] or "", one.request[1]): one for one in ended}
    turns = reader.get(scope, Grain.WORKING, sorted(ids)) if ids else []
    texts = {ids[turn.id].request: turn.words for turn in turns}
    return keep_requested(ended, texts)


def has_requests(held: Outline) -> bool:
    """Return whether any turn may ask to forget.

    It is read once for each version of a store. Of a store too large to load it is True.
    """
    return (
        held.derive(_RequestScan).found if isinstance(held, Columns) else True
    )


class _RequestScan:
    """Whether a store's columns have a turn that may ask to forget."""

    def __init__(self, columns: Columns) -> None:
        near = Filter(mentions=(request_words(),), memory_types=(_TURN,))
        rows = np.flatnonzero(columns.admitted(near)).tolist()
        self.found = any(asks_to_forget(columns.contents[row]) for row in rows)


def drop_forgotten(
    found: Sequence[Ranked | Browsed], lookup: Lookup
) -> list[Ranked | Browsed]:
    """Return the agent's records without facts and turns that state a forgotten value."""
    values = read_forgotten(lookup.scope, lookup.reader, lookup.triples())
    if not values:
        return list(found)
    return [one for one in found if not _is_forgotten(one, values)]


def _is_forgotten(
    one: Ranked | Browsed, values: Iterable[ForgottenValue]
) -> bool:
    if one.agent is not None:
        return False
    if isinstance(one, Ranked):
        row = one.row
        said = row.content, row.messages, row.user, moment(row.time)
    else:
        record = one.record
        messages: frozenset[Message] = frozenset()
        if record.memory_type is not MemoryType.SUMMARY:
            messages = frozenset(
                (record.conversation_id, id_) for id_ in record.source_ids
            )
        said = record.content, messages, record.user_id, record.event_time
    return any(value.is_stated_in(*said) for value in values)
