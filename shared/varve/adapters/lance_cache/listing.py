"""What one request tells of a store on S3: its table's files, and so its versions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from varve.adapters.lance.rows import TABLE
from varve.adapters.lance_cache.files import (
    is_content,
    manifest_name,
    version_of,
)
from varve.ports.objects import ObjectInfo

Files = Mapping[str, ObjectInfo]


@dataclass(frozen=True)
class Listing:
    """A table's files at a moment, by name relative to the table."""

    files: Files

    @classmethod
    def of(cls, prefix: str, found: Iterable[ObjectInfo]) -> "Listing":
        """Build the listing of the store at `prefix` from objects by full key."""
        table = f"{prefix}/{TABLE}.lance/"
        files = {}
        for info in found:
            if info.key.startswith(table):
                files[info.key.removeprefix(table)] = info
        return cls(files)

    @cached_property
    def versions(self) -> list[int]:
        """The committed versions, newest first."""
        found = map(version_of, self.files)
        versions = [version for version in found if version is not None]
        return sorted(versions, reverse=True)

    @property
    def newest(self) -> int:
        """The newest version; 0 if there is no table."""
        return self.versions[0] if self.versions else 0

    @cached_property
    def content(self) -> Files:
        """The files with rows, deletions and indices."""
        return {
            name: info for name, info in self.files.items() if is_content(name)
        }

    @property
    def carried(self) -> Files:
        """The files of a replica: the newest manifest and all content.

        Some content belongs to older versions or to a write in progress. To leave it out,
        a reader needs the manifest first, which is a round trip more.
        """
        if not self.versions:
            return {}
        manifest = manifest_name(self.newest)
        return {manifest: self.files[manifest], **self.content}

    @property
    def size(self) -> int:
        """The bytes of the content."""
        return sum(info.size for info in self.content.values())
