"""An export as a directory of JSON Lines and Parquet files; see docs/export.md."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from varve.adapters.disk_errors import disk_error
from varve.adapters.graph.table import to_table
from varve.adapters.lance.rows import RECORD_SCHEMA, as_row
from varve.adapters.objects.directories import is_directory
from varve.domain.errors import Rejected, Retryable
from varve.domain.record import EmbeddedRecord, StoreName, Vector
from varve.domain.strict_json import parse_json
from varve.domain.triple import Triple

MANIFEST = "manifest.json"
FORMAT = "varve-export"
_BATCH_ROWS = 4_096
_CHUNK_BYTES = 1 << 20
_VECTOR_COLUMNS = ["grain", "id", "model", "vector"]
RecordKey = tuple[str, str]
Vectors = dict[RecordKey, tuple[str, Vector]]
"""By grain and id, each record's model and vector."""
_SCHEMA = pa.schema(
    [
        pa.field("grain", pa.string(), nullable=False),
        *RECORD_SCHEMA,
        pa.field("model", pa.string(), nullable=False),
        pa.field("vector", pa.list_(pa.float32()), nullable=False),
    ]
)


@contextmanager
def create_export(directory: Path, *, force: bool) -> Iterator["FolderWriter"]:
    """Write an export to a temporary directory beside `directory`.

    `FolderWriter.finish` moves it into place. If the block fails it is deleted.
    Raises Rejected: something is in the way; Retryable: the directory cannot be written.
    """
    directory = directory.expanduser().absolute()
    _require_free(directory, force)
    unique = uuid4().hex
    beside = directory.with_name(f".{directory.name}.{unique}.part")
    try:
        beside.mkdir(parents=True)
        yield FolderWriter(beside, directory, force)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fault = disk_error(f"export {directory}", error)
        raise fault or Retryable(f"export {directory}: {reason}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _require_free(directory: Path, force: bool) -> None:
    """Raise Rejected unless the export may take this path.

    With `force` it may replace an earlier export, but nothing else.
    """
    try:
        there = is_directory(directory, follow_symlinks=False)
    except ValueError as error:
        raise Rejected("DIR", str(error)) from error
    if there is None:
        return
    if not there:
        raise Rejected("DIR", "exists and is not a directory")
    if not any(directory.iterdir()):
        return
    if not force:
        raise Rejected(
            "DIR", "is not empty; with --force it replaces an earlier export"
        )
    if not _is_export(directory):
        raise Rejected(
            "DIR",
            "is not empty and holds no export; choose another or empty it",
        )


def _is_export(directory: Path) -> bool:
    path = directory / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


class FolderWriter:
    """The ExportWriter port; `finish` renames the folder `beside` to `directory`."""

    def __init__(self, beside: Path, directory: Path, force: bool) -> None:
        self._beside = beside
        self._directory = directory
        self._force = force

    def lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        count = 0
        with (self._beside / name).open(
            "w", encoding="utf-8", newline="\n"
        ) as file:
            for row in rows:
                line = json.dumps(row, ensure_ascii=False)
                file.write(line + "\n")
                count += 1
        return count

    def document(self, name: str, value: Mapping[str, Any]) -> None:
        text = json.dumps(value, ensure_ascii=False, indent=2)
        path = self._beside / name
        path.write_text(text + "\n", encoding="utf-8")

    def records(
        self, name: str, rows: Iterable[tuple[StoreName, str, EmbeddedRecord]]
    ) -> int:
        count = 0
        left = iter(rows)
        with pq.ParquetWriter(
            self._beside / name, _SCHEMA, compression="zstd"
        ) as writer:
            while batch := list(islice(left, _BATCH_ROWS)):
                values = [_export_row(*row) for row in batch]
                table = pa.Table.from_pylist(values, schema=_SCHEMA)
                writer.write_table(table)
                count += len(values)
        return count

    def triples(self, name: str, triples: Sequence[Triple]) -> None:
        pq.write_table(
            to_table(triples), self._beside / name, compression="zstd"
        )

    def finish(self, manifest: Mapping[str, Any]) -> None:
        files = {}
        for path in sorted(self._beside.iterdir()):
            files[path.name] = _describe(path)
        self.document(MANIFEST, {**manifest, "files": files})
        _require_free(self._directory, self._force)
        old = self._beside.with_suffix(".old")
        if self._directory.exists():
            self._directory.rename(old)
        self._beside.rename(self._directory)
        shutil.rmtree(old, ignore_errors=True)


def _export_row(
    grain: StoreName, model: str, embedded: EmbeddedRecord
) -> dict[str, Any]:
    row = as_row(embedded.record)
    row["grain"] = str(grain)
    row["model"] = model
    row["vector"] = np.asarray(embedded.vector, np.float32)
    return row


class FolderReader:
    """The ExportReader port over a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.expanduser()

    def manifest(self) -> dict[str, Any]:
        manifest = self.document(MANIFEST)
        files = manifest.get("files") if isinstance(manifest, dict) else None
        if not isinstance(files, dict):
            raise Rejected(f"{MANIFEST}: files", "is missing")
        for name, expected in files.items():
            self._require_file(name, expected)
        return dict(manifest)

    def _require_file(self, name: str, expected: Any) -> None:
        """Raise Rejected unless the file has the size and hash of its manifest entry."""
        if Path(name).name != name or not isinstance(expected, dict):
            raise Rejected(
                f"{MANIFEST}: files",
                "names something that is not a file of an export",
            )
        path = self._directory / name
        if not path.is_file():
            raise Rejected(name, "is missing")
        for key, value in _describe(path).items():
            if value != expected.get(key):
                raise Rejected(
                    name, "differs from the manifest in its size or SHA-256"
                )

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        try:
            with (self._directory / name).open("rb") as file:
                for number, line in enumerate(file, start=1):
                    yield number, _parse_line(name, number, line)
        except OSError as error:
            raise Rejected(name, "cannot be read") from error

    def document(self, name: str) -> Any:
        path = self._directory / name
        try:
            return parse_json(path.read_bytes())
        except OSError as error:
            raise Rejected(
                str(path),
                "cannot be read; is this the directory of an export?",
            ) from error
        except (ValueError, RecursionError) as error:
            raise Rejected(name, "is not valid JSON") from error

    def vectors(self, name: str) -> Vectors:
        found: Vectors = {}
        try:
            with pq.ParquetFile(self._directory / name) as file:
                batches = file.iter_batches(
                    _BATCH_ROWS, columns=_VECTOR_COLUMNS
                )
                for batch in batches:
                    _read_vectors(batch, found)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Rejected(
                name, "is not the Parquet file of an export"
            ) from error
        return found


def _parse_line(name: str, number: int, line: bytes) -> Any:
    try:
        return parse_json(line)
    except (ValueError, RecursionError) as error:
        raise Rejected(
            f"{name}: line {number}", "is not valid JSON"
        ) from error


def _read_vectors(batch: pa.RecordBatch, found: Vectors) -> None:
    """Add the vectors of a batch to `found`."""
    columns = [batch.column(name) for name in _VECTOR_COLUMNS]
    for grain, id_, model, vector in zip(*columns, strict=True):
        key = (grain.as_py(), id_.as_py())
        values = np.asarray(vector.values, dtype=np.float32)
        found[key] = (model.as_py(), values)


def _describe(path: Path) -> dict[str, Any]:
    """Return the file's size and SHA-256."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            sha.update(chunk)
    return {"bytes": path.stat().st_size, "sha256": sha.hexdigest()}
