"""Reads stored bytes in every form they have, to prove that something is in none of them."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from varve.adapters.records.files import Needs, manifest_name, needs_of
from varve.adapters.records.lean_import import without_rest_client
from varve.adapters.records.replica import TABLE
from varve.adapters.records.rows import RECORD_COLUMNS
from varve.adapters.records.tables import store_prefix
from varve.adapters.records.upkeep import look
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.record import StoreName
from varve.ports.erasure import Inspected
from varve.ports.objects import Objects

with without_rest_client():
    import lancedb
    from lancedb.table import Table

_GZIP, _ZSTD, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"


class LanceInspector:
    """The StoreInspector port over LanceDB, Parquet, JSON and what gzip and zstd have packed."""

    def __init__(
        self, root: str, objects: Objects, storage_options: dict[str, str] | None = None
    ) -> None:
        self._root = root
        self._objects = objects
        self._options = storage_options

    def forms(self, data: bytes) -> Iterator[str]:
        yield data.decode("utf-8", "replace")
        unpacked = _unpacked(data)
        if unpacked is not None:
            yield from self.forms(unpacked)
        elif data.startswith(_PARQUET):
            for row in pq.read_table(io.BytesIO(data)).to_pylist():
                yield "\n".join(_strings(row))
        else:
            yield from map("\n".join, _json_strings(data))

    def inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        try:
            return self._inspect(scope, grain)
        except (RuntimeError, OSError, ValueError) as error:
            raise Retryable(
                f"store {scope}/{grain}: {type(error).__name__} in LanceDB"
            ) from error

    def _inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        prefix = store_prefix(scope, grain)
        listing = look(self._objects, prefix)
        if not listing.versions:
            return Inspected()
        needs = [self._needs(prefix, version) for version in listing.versions]
        stray = [
            name
            for name in listing.content
            if not any(each.has(name) for each in needs)
        ]
        # A manifest may outlive the files it names, and then nothing can be opened by it.
        whole = [
            version
            for version, each in zip(listing.versions, needs, strict=True)
            if each.files <= listing.content.keys()
        ]
        table = lancedb.connect(
            f"{self._root}/{prefix}", storage_options=self._options
        ).open_table(TABLE)
        texts = [text for version in whole for text in _texts(table, version)]
        return Inspected(texts, len(whole), _hidden_rows(table), len(stray))

    def _needs(self, prefix: str, version: int) -> Needs:
        stored = self._objects.get(f"{prefix}/{TABLE}.lance/{manifest_name(version)}")
        return needs_of(stored.data) if stored else Needs(frozenset(), frozenset())


def _texts(table: Table, version: int) -> Iterator[str]:
    """Every row of a version."""
    table.checkout(version)
    for row in table.search().select(RECORD_COLUMNS).limit(None).to_arrow().to_pylist():
        yield "\n".join(_strings(row))


def _hidden_rows(table: Table) -> int:
    """How many deleted rows are still in files of the newest version."""
    table.checkout_latest()
    last = max(table.list_versions(), key=lambda version: version["version"])[
        "metadata"
    ]
    return int(last["total_data_file_rows"]) - int(last["total_rows"])


def _unpacked(data: bytes) -> bytes | None:
    """What gzip or zstd has packed, or None for anything else."""
    try:
        if data.startswith(_GZIP):
            return gzip.decompress(data)
        if data.startswith(_ZSTD):
            with pa.input_stream(io.BytesIO(data), compression="zstd") as stream:
                return bytes(stream.read())
    except (OSError, EOFError, zlib.error):
        return None
    return None


def _json_strings(data: bytes) -> Iterator[list[str]]:
    """The strings of a JSON document, or of each line of JSON Lines."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    for part in (text, *text.splitlines()):
        try:
            yield list(_strings(json.loads(part)))
        except (ValueError, RecursionError):
            continue


def _strings(value: Any) -> Iterator[str]:
    """Every string in a value, of JSON inside strings too."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from _strings(json.loads(value))
            except (ValueError, RecursionError):
                return
