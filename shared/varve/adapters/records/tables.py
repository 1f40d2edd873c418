"""Tables that LanceDB opens where they lie: in the root's directory, or large ones on S3."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any
from uuid import uuid4

from varve.adapters.exports.transfers import Transfers
from varve.adapters.records.files import VERSIONS
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.purge import delete_orphans, leave_one_version
from varve.adapters.records.replica import TABLE
from varve.adapters.records.rows import schema_for
from varve.adapters.records.standing import Standing, Watch
from varve.adapters.records.upkeep import Upkeep, prune
from varve.adapters.records.vectors import drop_index, index_due, make_index
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import StoreName, Written
from varve.ports.objects import Objects

with without_rest_client():
    import lancedb
    from lancedb.index import FTS
    from lancedb.table import Table

CLAIM_WAITS, CLAIM_WAIT_SECONDS = 50, 0.1
NEVER = timedelta(days=36_500)
_KEYWORDS = FTS(
    base_tokenizer="simple", stem=True, remove_stop_words=True, ascii_folding=True
)

Change = Callable[[Table], int]


def store_prefix(scope: Scope, grain: StoreName) -> str:
    """Where one agent's grain lies below the root."""
    return f"{agent_prefix(scope)}/{grain}"


def agent_prefix(scope: Scope) -> str:
    """Where all grains of an agent lie below the root."""
    return f"vectordb/{scope.workspace}/{scope.agent}"


def new_table(database: Any, model: str) -> Table:
    """The empty table of a store. Raises Misconfigured: the model's name has no dimensions."""
    return database.create_table(TABLE, schema=schema_for(model), exist_ok=True)


def require_index(table: Table) -> None:
    """See to the keyword index: whoever made the table may have died before it."""
    if not any(index.columns == ["content"] for index in table.list_indices()):
        table.create_index("content", config=_KEYWORDS)


def remake(table: Table) -> None:
    """Write all rows anew, and the keyword index too, so that the files before hold nothing that is needed.

    A deletion only hides rows, compaction leaves files alone of which little is hidden, and a merged
    index keeps the words of deleted rows.
    """
    table.update(values_sql={"position": "position"})
    table.create_index("content", config=_KEYWORDS, replace=True)


def fragments_of(table: Table) -> int:
    """Into how many fragments the table has been split by its writes."""
    return int(table.stats()["fragment_stats"]["num_fragments"])


def compact(
    table: Table, upkeep: Upkeep, optimize: Callable[[], object], *, purge: bool
) -> None:
    """Merge fragments and bring indices up to date as `optimize` does; make a large table's own if it is due.

    With `purge` that one is dropped, for LanceDB carries over what it holds of rows that are gone. The next
    compaction makes it anew: that takes longer than all else of a purge, which must not fail for it.
    """
    if purge:
        drop_index(table)
    optimize()
    if not purge and index_due(table, upkeep.index_rows):
        make_index(table)


class DirectTables:
    """The tables of a root, opened and changed by LanceDB itself.

    In a directory LanceDB removes old versions; on S3, given `transfers`, `prune` does it in fewer requests.
    """

    def __init__(
        self,
        root: str,
        objects: Objects,
        session: Any,
        upkeep: Upkeep,
        options: dict[str, str] | None = None,
        transfers: Transfers | None = None,
    ) -> None:
        self._root, self._objects, self._options = root, objects, options
        self._session, self._upkeep, self._transfers = session, upkeep, transfers
        self._tables: dict[tuple[Scope, StoreName], tuple[object, Table]] = {}
        self._standing: dict[tuple[Scope, StoreName], Standing] = {}
        self._indexed: set[tuple[Scope, StoreName]] = set()
        self._watch = Watch()

    def standing(self, scope: Scope, grain: StoreName) -> Standing:
        """The store, to be read at its newest version. In a directory nothing is opened to tell which."""
        if (known := self._standing.get((scope, grain))) is not None:
            return known
        newest = partial(self.newest, scope, grain)
        if self._transfers is not None:
            return Standing.of(newest)
        folder = f"{self._root}/{store_prefix(scope, grain)}/{TABLE}.lance/{VERSIONS}"
        known = self._standing[scope, grain] = Standing(
            newest, partial(self._watch.newest, folder)
        )
        return known

    def newest(self, scope: Scope, grain: StoreName) -> Table | None:
        """The table at its newest version, or None where nothing has been written yet."""
        life = self._life(scope, grain)
        known, table = self._tables.get((scope, grain), (None, None))
        if table is not None and known == life:
            table.checkout_latest()
            return table
        if not any(
            self._objects.list(f"{store_prefix(scope, grain)}/{TABLE}.lance/_versions")
        ):
            return None
        opened = self._connect(scope, grain).open_table(TABLE)
        return self._opened(scope, grain, life, opened)

    def _opened(
        self, scope: Scope, grain: StoreName, life: object, table: Table
    ) -> Table:
        self._tables[scope, grain] = life, table
        self._indexed.discard((scope, grain))
        return table

    def _life(self, scope: Scope, grain: StoreName) -> object:
        """What tells a directory's table from another one in its place, such as one that was begun anew.

        LanceDB takes an open table for the newest until the other has more versions. The folder itself
        changes next to never: what comes and goes lies in folders below it.
        """
        if self._transfers is not None:
            return None
        try:
            found = Path(
                self._root, store_prefix(scope, grain), f"{TABLE}.lance"
            ).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_ctime_ns

    def write(
        self,
        scope: Scope,
        grain: StoreName,
        change: Change,
        model: str | None,
        *,
        purge: bool,
    ) -> Written:
        """Change the newest version; what the change returns, and the version that has it.

        Without a table one is made for the model; where there is none either, nothing is done.
        With `purge` no byte of what the change removed is left. Raises Retryable, RuntimeError, OSError.
        """
        table = self.newest(scope, grain)
        if table is None:  # an empty table is false
            if model is None:
                return Written(0, 0)
            table = self._create(scope, grain, model)
        if (scope, grain) not in self._indexed:
            require_index(table)
            self._indexed.add((scope, grain))
        folder = f"{store_prefix(scope, grain)}/{TABLE}.lance"
        files = (
            list(self._objects.list(folder))
            if purge and self._transfers is None
            else []
        )
        before = table.version
        changed = change(table)
        if purge or self._upkeep.is_due(fragments_of(table), before, table.version):
            self._compact(table, store_prefix(scope, grain), purge=purge)
        if files:
            delete_orphans(files, self._objects)
        return Written(changed, table.version)

    def _compact(self, table: Table, prefix: str, *, purge: bool) -> None:
        if self._transfers is not None:
            merge = partial(table.optimize, cleanup_older_than=NEVER)
            compact(table, self._upkeep, merge, purge=purge)
            prune(self._transfers, prefix, self._upkeep, all_old=purge)
            return
        if purge:
            compact(table, self._upkeep, partial(leave_one_version, table), purge=True)
        else:
            age = self._prunable_age(prefix)
            compact(
                table,
                self._upkeep,
                partial(table.optimize, cleanup_older_than=age),
                purge=False,
            )

    def _prunable_age(self, prefix: str) -> timedelta:
        manifests = self._objects.list(f"{prefix}/{TABLE}.lance/_versions")
        return self._upkeep.prunable_age(
            [m.last_modified for m in manifests if m.key.endswith(".manifest")]
        )

    def _create(self, scope: Scope, grain: StoreName, model: str) -> Table:
        """An empty table, made by one writer alone: LanceDB lets a second creator overwrite the first's.

        Whoever claims it makes it. A claim whose table does not appear is that of a writer who died,
        and is taken over. Raises Retryable: another writer is still at it.
        """
        key = f"{store_prefix(scope, grain)}/{TABLE}.creator"
        claim = self._objects.get(key)
        if claim is not None and (table := self._awaited(scope, grain)) is not None:
            return table
        if not self._objects.put_if(key, uuid4().bytes, claim.etag if claim else None):
            raise Retryable(
                f"store {scope}/{grain}: another writer is making the table"
            )
        if (table := self.newest(scope, grain)) is not None:
            return table
        table = new_table(self._connect(scope, grain), model)
        return self._opened(scope, grain, self._life(scope, grain), table)

    def _awaited(self, scope: Scope, grain: StoreName) -> Table | None:
        """The table that another writer is making, or None where it does not appear in good time."""
        for _ in range(CLAIM_WAITS):
            if (table := self.newest(scope, grain)) is not None:
                return table
            sleep(CLAIM_WAIT_SECONDS)
        return None

    def _connect(self, scope: Scope, grain: StoreName) -> Any:
        uri = f"{self._root}/{store_prefix(scope, grain)}"
        return lancedb.connect(
            uri, storage_options=self._options, session=self._session
        )
