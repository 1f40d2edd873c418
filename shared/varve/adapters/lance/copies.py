"""Tables made or changed apart from their store, and committed into it at once.

A table is a directory of files that never change. Putting the manifest of the next
version, if there is none, commits that version. LanceDB has no change of all rows that
fails if another writer committed since they were read, and in the store itself it lets a
second creator overwrite the first one's table.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import lancedb
from lancedb.table import Table

from varve.adapters.exports.transfers import LocalFile, Transfers
from varve.adapters.lance.keywords import require_index
from varve.adapters.lance.rows import TABLE, schema_for
from varve.domain.record import Written

Change = Callable[[Table], int]

_VERSIONS = "_versions/"


def create_table(
    model: str,
    change: Change,
    prefix: str,
    directory: Path,
    transfers: Transfers,
) -> Written | None:
    """Create the table of the store at `prefix`, with its index and the change's rows.

    LanceDB makes it below `directory`; in the store it takes a dozen requests one after
    the other on S3. Returns None if another writer's table is there.
    Raises Retryable, OSError; Misconfigured: the model's name has no dimensions.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # What a killed process leaves in a store has a name that a purge removes.
    with tempfile.TemporaryDirectory(
        prefix="varve-create-", suffix=".lance", dir=directory
    ) as home:
        database = lancedb.connect(home)
        table = database.create_table(TABLE, schema=schema_for(model))
        require_index(table)
        written = Written(change(table), table.version)
        copy = TableCopy(prefix, Path(home), transfers)
        return written if copy.publish() else None


class TableCopy:
    """A copy of the table of the store at `prefix`, in the directory `home`."""

    def __init__(self, prefix: str, home: Path, transfers: Transfers) -> None:
        self._prefix = f"{prefix}/{TABLE}.lance"
        self._folder = home / f"{TABLE}.lance"
        self._transfers = transfers
        self._pulled: set[str] = set()
        self._published: list[str] = []

    def pull(self) -> bool:
        """Copy the table's files; return False if there are none.

        Raises Vanished: a file was deleted meanwhile; Retryable.
        """
        wanted = {}
        for info in self._transfers.objects.list(self._prefix):
            name = info.key.removeprefix(f"{self._prefix}/")
            self._pulled.add(name)
            wanted[info.key] = LocalFile(self._folder / name, info.size)
        self._transfers.download(wanted)
        return bool(wanted)

    def publish(self) -> bool:
        """Upload the new files and commit the new versions, oldest first.

        Returns False if another writer committed first. While this writer worked, others
        may have committed these versions and pruned them: then `is_newest` returns False.
        Raises Retryable.
        """
        fresh = self._fresh_files()
        content = {
            name: fresh[name]
            for name in fresh
            if not name.startswith(_VERSIONS)
        }
        # Names count down, so that the newest version is listed first.
        manifests = sorted(
            (name for name in fresh if _is_manifest(name)), reverse=True
        )
        uploads = {self._key(name): path for name, path in content.items()}
        self._transfers.upload(uploads)
        for name in manifests:
            if not self._put(name, fresh[name]):
                if name == manifests[0]:
                    self._transfers.delete(uploads)
                return False
        self._published = manifests
        return True

    def is_newest(self) -> bool:
        """Tell whether the last published version, if any, is the newest. Raises Retryable."""
        if not self._published:
            return True
        files = self._transfers.objects.list(self._key("_versions"))
        listed = [info.key for info in files if _is_manifest(info.key)]
        return min(listed) == self._key(self._published[-1])

    def _fresh_files(self) -> dict[str, Path]:
        """Return the files that are not copies, by name."""
        fresh = {}
        for path in self._folder.rglob("*"):
            name = path.relative_to(self._folder).as_posix()
            if path.is_file() and name not in self._pulled:
                fresh[name] = path
        return fresh

    def _put(self, name: str, path: Path) -> bool:
        key = self._key(name)
        return self._transfers.objects.put_if(key, path.read_bytes(), None)

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}"


def _is_manifest(name: str) -> bool:
    return name.endswith(".manifest")
