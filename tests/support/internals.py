"""The one place where tests and benchmarks reach inside: limits, faults and caches.

Most functions take pytest's `monkeypatch`, which puts the old value back; a benchmark, which
lives no longer than its change, passes None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from varve.adapters.exports import transfers
from varve.adapters.lance import candidates, copies, tables, writer
from varve.adapters.lance_cache import columns, layout, version_watch
from varve.adapters.lance_cache.column_cache import ColumnCache
from varve.adapters.models import cached_embedder, wordllama_embedder
from varve.adapters.queues import dead_letters
from varve.domain.identity import Scope
from varve.domain.record import StoreName
from varve.domain.search import occurrences, signals
from varve.domain.search.occurrences import Occurrences
from varve.usecases.search import find

Patch = Any


# Limits.


def hold_rows(patch: Patch, most: int) -> None:
    """Hold stores of at most this many rows in memory; take larger ones from candidates."""
    _set(patch, columns, "MAX_ROWS", most)


def hold_words(patch: Patch, most: int) -> None:
    """Keep the vectors of at most this many words."""
    _set(patch, cached_embedder, "MOST_WORDS", most)


def hold_letters(patch: Patch, most: int) -> None:
    """Take at most this many dead letters for one look."""
    _set(patch, dead_letters, "MAX_LETTERS", most)


def call_few(patch: Patch, few: int) -> None:
    """Let so many rows behind a filter count as few, which all become candidates."""
    _set(patch, candidates, "FEW", few)


def fetch_in_parts(patch: Patch, size: int) -> None:
    """Fetch files of more bytes than this in parts."""
    _set(patch, transfers, "PART_BYTES", size)


def fetch_in_parallel(patch: Patch, most: int) -> None:
    """Send at most this many requests at the same time."""
    _set(patch, transfers, "PARALLEL", most)


def confirm_always(patch: Patch) -> None:
    """Have a writer look again, after any time, whether its commit is the newest."""
    _set(patch, tables, "CONFIRM_AFTER_SECONDS", 0.0)


def gather_candidates(patch: Patch, most: int) -> None:
    """Take so many candidates of each way to search."""
    _set(patch, find, "CANDIDATES", most)


def rank_whole(patch: Patch, rows: int) -> None:
    """Look at all rows of stores of at most this many, however rare a word is."""
    _set(patch, occurrences, "WHOLE_ROW_LENGTH", rows)


def compare_at_once(patch: Patch, terms: int) -> None:
    """Compare so many terms of a question with a store's words at a time."""
    _set(patch, signals, "WORDS_PER_BATCH", terms)


# Faults.


def fail_making_tables(patch: Patch, fail: Callable[..., Any]) -> None:
    """Call this in place of making a new table."""
    _set(patch, copies, "schema_for", fail)


def find_no_table_once(patch: Patch) -> None:
    """Let the next writer or reader find no table, as after a stale listing."""
    find: Any = vars(tables.Tables)["open_newest"]

    def none(*_: Any) -> None:
        patch.setattr(tables.Tables, "open_newest", find)

    patch.setattr(tables.Tables, "open_newest", none)


def hide_manifests(patch: Patch) -> None:
    """Let no manifest be found."""
    _set(
        patch,
        layout,
        "manifest_name",
        lambda version: f"_versions/none-{version}",
    )


def once_before_a_write(patch: Patch, do: Callable[[], object]) -> None:
    """Do this once, after a writer has read a store and before it commits."""
    to_arrow: Any = vars(writer)["to_arrow"]

    def late(*args: Any) -> Any:
        _set(patch, writer, "to_arrow", to_arrow)
        do()
        return to_arrow(*args)

    _set(patch, writer, "to_arrow", late)


# What is read.


def before_rows_are_read(
    patch: Patch, do: Callable[[Sequence[int], Sequence[str]], object]
) -> None:
    """Tell `do` the addresses and columns of rows before they are read by address."""

    def told(table: Any, addresses: Any, wanted: Any) -> Any:
        do(addresses, wanted)
        return candidates.rows_at(table, addresses, wanted)

    _set(patch, columns, "rows_at", told)


def read_table(
    records: Any,
    scope: Scope,
    store: StoreName,
    read: Callable[[Any], Any],
    nothing: Any,
) -> Any:
    """Read from a store's table as a question does, or return `nothing` where there is none."""
    return records._read(scope, store, read, nothing)


def give_clock_and_files(
    patch: Patch, now: Callable[[], float], files: Any
) -> None:
    """Let a watched folder be read by this clock, with `listdir` and `stat` of `files`."""
    _set(patch, version_watch, "monotonic", now)
    _set(patch, version_watch, "os", files)


def count_kin(patch: Patch) -> list[int]:
    """Return a list that gets how many terms are compared with a store's words at a time."""
    asked: list[int] = []
    kin = Occurrences.kin

    def counted(met: Occurrences, terms: Sequence[Any], *given: Any) -> Any:
        asked.append(len(terms))
        return kin(met, terms, *given)

    _set(patch, Occurrences, "kin", counted)
    return asked


# What is cached.


def replica_folder(records: Any) -> Path:
    """Return the folder of the replicas of stores on S3."""
    return Path(records._replicas._home.path)


def drop_replicas(records: Any) -> None:
    """Empty every replica, as the limit of the disk cache does."""
    for one in records._replicas._replicas.values():
        one.reset()


def give_loaded_model(embedder: Any, model: Any) -> None:
    """Let the embedded model be this one, already loaded."""
    embedder._loaded = model


def unload_model() -> None:
    """Let the next embedder of the process load the embedded model again."""
    wordllama_embedder._load_model.cache_clear()


def loaded_model(embedder: Any) -> Any:
    """Return the embedded model's own object, loaded."""
    return embedder._load()


def drop_columns(records: Any) -> None:
    """Forget the columns that are held in memory."""
    records._cache = ColumnCache()


def _set(patch: Patch, target: Any, name: str, value: Any) -> None:
    if not hasattr(target, name):
        raise AttributeError(f"{target}: there is no {name}")
    (patch.setattr if patch else setattr)(target, name, value)
