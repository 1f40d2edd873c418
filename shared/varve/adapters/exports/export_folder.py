"""An export as a directory of JSON lines and Parquet files; docs/export.md describes it."""

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

from varve.adapters.graph.table import to_table
from varve.adapters.objects.directories import is_directory
from varve.adapters.records.rows import RECORD_SCHEMA, as_row
from varve.domain.errors import Rejected, Retryable
from varve.domain.record import EmbeddedRecord, StoreName, Vector
from varve.domain.triple import Triple

MANIFEST = "manifest.json"
FORMAT = "varve-export"
_BATCH_ROWS = 4_096
_CHUNK_BYTES = 1 << 20
_SCHEMA = pa.schema(
    [
        pa.field("grain", pa.string(), nullable=False),
        *RECORD_SCHEMA,
        pa.field("model", pa.string(), nullable=False),
        pa.field("vector", pa.list_(pa.float32()), nullable=False),
    ]
)


@contextmanager
def created(directory: Path, *, force: bool) -> Iterator["FolderWriter"]:
    """A directory beside the wanted one, which takes its place at `finish` and is gone where that fails.

    Raises Rejected: there is something in the way. Raises Retryable: it cannot be written.
    """
    directory = directory.expanduser().absolute()
    _refuse(directory, force)
    beside = directory.with_name(f".{directory.name}.{uuid4().hex}.part")
    try:
        beside.mkdir(parents=True)
        yield FolderWriter(beside, directory, force)
    except OSError as error:
        raise Retryable(f"export: {error.strerror or type(error).__name__}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _refuse(directory: Path, force: bool) -> None:
    try:
        there = is_directory(directory, follow_symlinks=False)
    except ValueError as error:
        raise Rejected("DIR", str(error)) from error
    if there is None:
        return
    if not there:
        raise Rejected("DIR", "is there and is not a directory")
    if any(directory.iterdir()):
        if not force:
            raise Rejected(
                "DIR", "is not empty; with --force an earlier export in it gives way"
            )
        if not _is_export(directory):
            raise Rejected(
                "DIR", "is not empty and holds no export; choose another or empty it"
            )


def _is_export(directory: Path) -> bool:
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


class FolderWriter:
    """ExportWriter into a directory beside the one that it will be."""

    def __init__(self, beside: Path, directory: Path, force: bool) -> None:
        self._beside, self._directory, self._force = beside, directory, force

    def lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        count = 0
        with (self._beside / name).open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
        return count

    def document(self, name: str, value: Mapping[str, Any]) -> None:
        text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        (self._beside / name).write_text(text, encoding="utf-8")

    def records(
        self, name: str, rows: Iterable[tuple[StoreName, str, EmbeddedRecord]]
    ) -> int:
        count = 0
        with pq.ParquetWriter(
            self._beside / name, _SCHEMA, compression="zstd"
        ) as writer:
            left = iter(rows)
            while batch := list(islice(left, _BATCH_ROWS)):
                values = [
                    {
                        "grain": str(grain),
                        **as_row(embedded.record),
                        "model": model,
                        "vector": np.asarray(embedded.vector, np.float32),
                    }
                    for grain, model, embedded in batch
                ]
                writer.write_table(pa.Table.from_pylist(values, schema=_SCHEMA))
                count += len(values)
        return count

    def triples(self, name: str, triples: Sequence[Triple]) -> None:
        pq.write_table(to_table(triples), self._beside / name, compression="zstd")

    def finish(self, manifest: Mapping[str, Any]) -> None:
        files = {path.name: _described(path) for path in sorted(self._beside.iterdir())}
        self.document(MANIFEST, {**manifest, "files": files})
        _refuse(self._directory, self._force)
        old = self._beside.with_suffix(".old")
        if self._directory.exists():
            self._directory.rename(old)
        self._beside.rename(self._directory)
        shutil.rmtree(old, ignore_errors=True)


class FolderReader:
    """ExportReader of a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.expanduser()

    def manifest(self) -> dict[str, Any]:
        manifest = self.document(MANIFEST)
        if not isinstance(manifest, dict) or not isinstance(
            manifest.get("files"), dict
        ):
            raise Rejected(f"{MANIFEST}: files", "is missing")
        for name, said in manifest["files"].items():
            path = self._directory / name
            if Path(name).name != name or not isinstance(said, dict):
                raise Rejected(
                    f"{MANIFEST}: files",
                    "names something that is not a file of an export",
                )
            if not path.is_file():
                raise Rejected(name, "is missing")
            found = _described(path)
            if found != {key: said.get(key) for key in found}:
                raise Rejected(
                    name, "is not what the manifest says: its size or SHA-256 differs"
                )
        return manifest

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        try:
            with (self._directory / name).open("rb") as file:
                for number, line in enumerate(file, start=1):
                    try:
                        yield number, json.loads(line)
                    except (ValueError, RecursionError) as error:
                        raise Rejected(
                            f"{name}: line {number}", "is not valid JSON"
                        ) from error
        except OSError as error:
            raise Rejected(name, "cannot be read") from error

    def document(self, name: str) -> Any:
        try:
            return json.loads((self._directory / name).read_bytes())
        except OSError as error:
            raise Rejected(
                name, "cannot be read; is this the directory of an export?"
            ) from error
        except (ValueError, RecursionError) as error:
            raise Rejected(name, "is not valid JSON") from error

    def vectors(self, name: str) -> dict[tuple[str, str], tuple[str, Vector]]:
        columns = ["grain", "id", "model", "vector"]
        found: dict[tuple[str, str], tuple[str, Vector]] = {}
        try:
            with pq.ParquetFile(self._directory / name) as file:
                for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
                    grains, ids, models, vectors = (
                        batch.column(column) for column in columns
                    )
                    for i in range(len(batch)):
                        vector = np.asarray(vectors[i].values, dtype=np.float32)
                        found[grains[i].as_py(), ids[i].as_py()] = (
                            models[i].as_py(),
                            vector,
                        )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Rejected(name, "is not the Parquet file of an export") from error
        return found


def _described(path: Path) -> dict[str, Any]:
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            sha.update(chunk)
    return {"bytes": path.stat().st_size, "sha256": sha.hexdigest()}
