"""Reading of records from one version of a LanceDB table."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from time import sleep
from typing import TypeVar

from lancedb.expr import Expr, col, lit
from lancedb.table import Table

from varve.adapters.lance.errors import translate_errors
from varve.adapters.lance.rows import (
    NEWEST_FIRST,
    RECORD_COLUMNS,
    TIME_ORDER,
    apply_filter,
    read_all,
    read_by_ids,
    read_links,
    read_metadata,
    to_record,
)
from varve.adapters.lance.tallies import tally_rows
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record, StoreName
from varve.domain.search.query import Filter
from varve.domain.tally import Tally, TallyColumn

DISTURBED = (RuntimeError, OSError, ValueError)
"""What LanceDB raises if a writer prunes the version that is being read."""
_ACCENTED = {
    "a": "[aáàâäã]", "e": "[eéèêë]", "i": "[iíìîï]", "o": "[oóòôöõ]",
    "u": "[uúùûü]", "n": "[nñ]", "c": "[cç]",
}  # fmt: skip
READ_WAITS = (0.01, 0.05, 0.2)
"""Seconds between the attempts to read a store: an erasure prunes it several times."""


@dataclass(frozen=True, slots=True)
class TableHandle:
    """A store to read.

    `open` returns its table, or None if nothing has been written. `version` returns a
    value that differs for every state of the store, or None if nothing has been written.
    Call it before reading: it then names the state that is read, or an earlier one.
    """

    open: Callable[[], Table | None]
    version: Callable[[], object]

    @classmethod
    def holding(cls, table: Table | None) -> "TableHandle":
        """Build a handle on an open table."""
        return cls.opening(lambda: table)

    @classmethod
    def opening(cls, open_table: Callable[[], Table | None]) -> "TableHandle":
        """Build a handle that opens its table once, to ask LanceDB for the version."""
        opened = cache(open_table)

        def version() -> object:
            found = opened()
            # The table object is part of the value: a recreated store is another table.
            return None if found is None else (found, found.version)

        return cls(opened, version)


T = TypeVar("T")

OpenTable = Callable[[Scope, StoreName], Table | None]
"""Opens a store's newest version; returns None if nothing has been written."""
FindTable = Callable[[Scope, StoreName], TableHandle]
"""Returns a handle on a store."""


class LanceReader:
    """Records below `vectordb/{workspace}/{agent}/{grain}/`, without their columns.

    `find` gives the version to read; `open_newest` is the fallback if that read fails.
    """

    def __init__(self, find: FindTable, open_newest: OpenTable) -> None:
        self._find = find
        self.open_newest = open_newest

    def browse(
        self, scope: Scope, grain: StoreName, *, where: Filter, limit: int
    ) -> list[Record]:
        def read(table: Table) -> list[Record]:
            query = apply_filter(table.search(), where)
            if limit >= table.count_rows():
                rows = read_all(query.select(RECORD_COLUMNS))
                return list(
                    map(to_record, rows.sort_by(NEWEST_FIRST).to_pylist())
                )
            rows = read_all(query.select([name for name, _ in NEWEST_FIRST]))
            newest = rows.sort_by(NEWEST_FIRST).column("id")[:limit]
            return read_by_ids(table, newest.to_pylist())

        return self._read(scope, grain, read, [])

    def get(
        self, scope: Scope, grain: StoreName, ids: Sequence[str]
    ) -> list[Record]:
        return self._read(
            scope, grain, lambda table: read_by_ids(table, ids), []
        )

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        def read(table: Table) -> int:
            if where == Filter():
                return int(table.count_rows())
            # count_rows takes only SQL, and an expression's SQL does not quote every value.
            query = apply_filter(table.search(), where)
            ids = read_all(query.select(["id"]))
            return int(ids.num_rows)

        return self._read(scope, grain, read, 0)

    def read_metadata(self, scope: Scope, grain: StoreName) -> dict[str, str]:
        return self._read(scope, grain, read_metadata, {})

    def read_links(
        self, scope: Scope, grain: StoreName
    ) -> dict[str, tuple[str, ...]]:
        return self._read(scope, grain, read_links, {})

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        def read(table: Table) -> dict[str, int]:
            rows = read_all(table.search().select(["period"]))
            counts = rows.column("period").value_counts().to_pylist()
            return {pair["values"]: pair["counts"] for pair in counts}

        return self._read(scope, grain, read, {})

    def tally(
        self,
        scope: Scope,
        grain: StoreName,
        by: Sequence[TallyColumn],
        *,
        where: Filter,
    ) -> list[Tally]:
        return self._read(scope, grain, lambda t: tally_rows(t, by, where), [])

    def in_period(
        self, scope: Scope, grain: StoreName, *labels: str, since: int = 0
    ) -> list[Record]:
        wanted = col("period").isin(list(labels))
        return self._list(scope, grain, wanted, since)

    def in_conversations(
        self, scope: Scope, grain: StoreName, prefix: str, since: int = 0
    ) -> list[Record]:
        name = col("conversation_id")
        after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        wanted = (name >= lit(prefix)) & (name < lit(after))
        return self._list(scope, grain, wanted, since)

    def with_words(
        self, scope: Scope, grain: StoreName, words: Sequence[str]
    ) -> list[Record]:
        if not words:
            return []
        pattern = "|".join(map(_accept_accents, words))
        wanted = (
            f"memory_type = '{MemoryType.TURN}'"
            f" AND regexp_like(content, '(?i){pattern}')"
        )
        return self._list(scope, grain, wanted, 0)

    def _list(
        self, scope: Scope, grain: StoreName, wanted: Expr | str, since: int
    ) -> list[Record]:
        """Return all records that pass the expression, oldest first."""

        def read(table: Table) -> list[Record]:
            query = table.search().where(wanted)
            rows = query.select(RECORD_COLUMNS).limit(None).to_arrow()
            return list(map(to_record, rows.sort_by(TIME_ORDER).to_pylist()))

        return self._read(scope, grain, read, [], since)

    def _read(
        self,
        scope: Scope,
        grain: StoreName,
        read: Callable[[Table], T],
        nothing: T,
        since: int = 0,
        handle: TableHandle | None = None,
    ) -> T:
        """Read a store; return `nothing` if nothing has been written.

        Reads the version of the handle, by default the one that `find` gives. If it
        vanished or is older than `since`, reads the newest.
        Raises Retryable: the newest version fails too, or is older than `since`.
        """

        def read_version(table: Table | None) -> T:
            version = 0 if table is None else table.version
            if version < since:
                raise RuntimeError(
                    f"older than version {since}, which has been written"
                )
            return nothing if table is None else read(table)

        with translate_errors(f"{scope}/{grain}"):
            with suppress(*DISTURBED):
                found = handle or self._find(scope, grain)
                return read_version(found.open())
            # A writer may delete the newest version too, while it is read.
            for wait in READ_WAITS:
                with suppress(*DISTURBED):
                    return read_version(self.open_newest(scope, grain))
                sleep(wait)
            return read_version(self.open_newest(scope, grain))


def _accept_accents(word: str) -> str:
    """Return a pattern of a folded word, whose vowels may have accents."""
    if not word.isalnum():
        raise ValueError(f"{word!r} is not a word of letters and digits")
    return "".join(_ACCENTED.get(letter, letter) for letter in word)
