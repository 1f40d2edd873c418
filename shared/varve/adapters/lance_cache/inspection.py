"""Readers of stored bytes in every form, to prove that a text is in none of them."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import lancedb
import pyarrow as pa
import pyarrow.parquet as pq
from lancedb.table import Table

from varve.adapters.lance.errors import translate_errors
from varve.adapters.lance.reader import DISTURBED
from varve.adapters.lance.rows import RECORD_COLUMNS, TABLE
from varve.adapters.lance.tables import store_prefix
from varve.adapters.lance_cache.files import Needs, manifest_name, needs_of
from varve.adapters.lance_cache.listing import Listing
from varve.domain.errors import Contended
from varve.domain.identity import Scope
from varve.domain.record import StoreName
from varve.ports.erasure import Inspected
from varve.ports.objects import Objects

MAX_INSPECTIONS = 20
_GZIP, _ZSTD, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"


class LanceInspector:
    """The StoreInspector port over LanceDB, Parquet, JSON, gzip and zstd."""

    def __init__(
        self,
        root: str,
        objects: Objects,
        storage_options: dict[str, str] | None = None,
    ) -> None:
        self._root = root
        self._objects = objects
        self._options = storage_options

    def forms(self, data: bytes) -> Iterator[str]:
        yield data.decode("utf-8", "replace")
        unpacked = _decompress(data)
        if unpacked is not None:
            yield from self.forms(unpacked)
        elif data.startswith(_PARQUET):
            for row in pq.read_table(io.BytesIO(data)).to_pylist():
                yield "\n".join(_strings(row))
        else:
            with suppress(UnicodeDecodeError):
                text = data.decode()
                for part in (text, *text.splitlines()):
                    yield "\n".join(_strings(_parse_json(part)))

    def inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        prefix = store_prefix(scope, grain)
        with translate_errors(f"{scope}/{grain}"):
            for _ in range(MAX_INSPECTIONS):
                listing = self._list(prefix)
                try:
                    return self._inspect(prefix, listing)
                except DISTURBED:
                    # A writer may have pruned a listed version: then others are there.
                    if self._list(prefix) == listing:
                        raise
        raise Contended(f"{prefix}: versions go faster than they can be read")

    def _list(self, prefix: str) -> Listing:
        return Listing.of(prefix, self._objects.list(prefix))

    def _inspect(self, prefix: str, listing: Listing) -> Inspected:
        if not listing.versions:
            return Inspected()
        needs = {v: self._read_needs(prefix, v) for v in listing.versions}
        uri = f"{self._root}/{prefix}"
        database = lancedb.connect(uri, storage_options=self._options)
        table = database.open_table(TABLE)
        texts: list[str] = []
        whole = 0
        for version, needed in needs.items():
            # A manifest may outlive its files, and then its version cannot be opened.
            if needed.files <= listing.content.keys():
                whole += 1
                texts += _read_texts(table, version)
        stray = 0
        for name in listing.content:
            if not any(needed.has(name) for needed in needs.values()):
                stray += 1
        return Inspected(texts, whole, _count_hidden_rows(table), stray)

    def _read_needs(self, prefix: str, version: int) -> Needs:
        key = f"{prefix}/{TABLE}.lance/{manifest_name(version)}"
        stored = self._objects.get(key)
        if stored is None:
            return Needs(frozenset(), frozenset())
        return needs_of(stored.data)


def _read_texts(table: Table, version: int) -> Iterator[str]:
    """Yield every row of a version as text."""
    table.checkout(version)
    rows = table.search().select(RECORD_COLUMNS).limit(None).to_arrow()
    for row in rows.to_pylist():
        yield "\n".join(_strings(row))


def _count_hidden_rows(table: Table) -> int:
    """Count the deleted rows that are still in files of the newest version."""
    table.checkout_latest()
    newest = max(table.list_versions(), key=lambda version: version["version"])
    counts = newest["metadata"]
    return int(counts["total_data_file_rows"]) - int(counts["total_rows"])


def _decompress(data: bytes) -> bytes | None:
    """Decompress gzip or zstd data; return None for anything else."""
    try:
        if data.startswith(_GZIP):
            return gzip.decompress(data)
        if data.startswith(_ZSTD):
            with pa.input_stream(
                io.BytesIO(data), compression="zstd"
            ) as stream:
                return bytes(stream.read())
    except (OSError, EOFError, zlib.error):
        return None
    return None


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a value, also those of JSON inside strings."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value
        if value.startswith(("{", "[")):
            yield from _strings(_parse_json(value))


def _parse_json(text: str) -> Any:
    """Return the value of a text, or None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
