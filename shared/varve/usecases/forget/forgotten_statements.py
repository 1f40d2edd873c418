"""The statements that requests to forget name by their words, read from working memory."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from varve.domain.calendar import Grain, moment
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Spots
from varve.domain.search.query import Filter
from varve.domain.search.row import RecordRow
from varve.domain.statements.forgetting.forgetting import (
    asks_to_forget,
    request_words,
)
from varve.domain.statements.forgetting.forgotten import Stated
from varve.domain.statements.forgetting.forgotten_words import (
    ForgottenWords,
    find_forgotten_words,
)
from varve.domain.statements.forgetting.topics import read_topics
from varve.ports.records import MemoryReader
from varve.usecases.whole_stores import EVERYTHING

_TURN = str(MemoryType.TURN)


def stated_by(record: Record) -> Stated:
    """Return what decides whether a fact or turn states something forgotten."""
    is_turn = record.memory_type is MemoryType.TURN
    return Stated(
        id=record.id,
        content=record.content,
        messages=record.messages,
        user=record.user_id,
        at=record.event_time,
        speaker=record.about if is_turn else None,
        day=record.period if is_turn else "",
    )


def stated_by_row(row: RecordRow) -> Stated:
    """Return the same of a row."""
    is_turn = row.type is MemoryType.TURN
    return Stated(
        id=row.id,
        content=row.content,
        messages=row.messages,
        user=row.user,
        at=moment(row.time),
        speaker=row.about if is_turn else None,
        day=row.period if is_turn else "",
    )


def read_forgotten_words(
    scope: Scope, reader: MemoryReader
) -> list[ForgottenWords]:
    """Return what turns in working memory ask to forget by their words.

    The turns of a user are read only if one of them asks. Raises Retryable.
    """
    near = reader.with_words(scope, Grain.WORKING, request_words())
    requests = _select_requests(map(stated_by, near))
    if not requests:
        return []
    users = {request.user for request in requests}
    where = Filter(memory_types=(_TURN,))
    if len(users) == 1:
        where = Filter(memory_types=(_TURN,), user_id=requests[0].user)
    turns = reader.browse(scope, Grain.WORKING, where=where, limit=EVERYTHING)
    return _find_each(requests, map(stated_by, turns))


class RequestScans:
    """What requests to forget name in each agent's memory, each scanned once while it is kept."""

    def __init__(self) -> None:
        self._words: dict[Scope, list[ForgottenWords]] = {}

    def read(self, scope: Scope, reader: MemoryReader) -> list[ForgottenWords]:
        """Return what `read_forgotten_words` found at the first call. Raises Retryable."""
        if scope not in self._words:
            self._words[scope] = read_forgotten_words(scope, reader)
        return self._words[scope]


class RequestScan:
    """The turns in a store's columns that may ask to forget; see `Columns.derive`."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        near = Filter(mentions=(request_words(),), memory_types=(_TURN,))
        self._asking = [
            stated
            for stated in self._read(np.flatnonzero(columns.admitted(near)))
            if asks_to_forget(stated.words)
        ]

    @property
    def found(self) -> bool:
        """Whether any turn may ask to forget."""
        return bool(self._asking)

    @cached_property
    def words(self) -> Sequence[ForgottenWords]:
        """What the turns ask to forget by their words."""
        requests = _select_requests(self._asking)
        if not requests:
            return []
        turns = self._columns.admitted(Filter(memory_types=(_TURN,)))
        return _find_each(requests, self._read(np.flatnonzero(turns)))

    def _read(self, rows: Spots) -> Iterable[Stated]:
        return map(stated_by_row, self._columns.read_rows(rows))


def _select_requests(turns: Iterable[Stated]) -> list[Stated]:
    return [turn for turn in turns if read_topics(turn.words)]


def _find_each(
    requests: Iterable[Stated], turns: Iterable[Stated]
) -> list[ForgottenWords]:
    held = list(turns)
    found = [find_forgotten_words(request, held) for request in requests]
    return [one for one in found if one is not None]
