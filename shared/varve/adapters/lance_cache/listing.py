"""What one request tells of a store on S3: its table's files, and so its versions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from varve.adapters.lance.rows import TABLE
from varve.adapters.lance_cache.files import (
    is_content,
    manifest_name,
    version_of,
)
from varve.ports.objects import ObjectInfo, Objects

AT_ONCE_BYTES = 16 * 1024 * 1024
"""Bytes that may be fetched together with the manifest although it may not need them."""


@dataclass(frozen=True)
class Listing:
    """A table's files at a moment, by name relative to the table."""

    files: Mapping[str, ObjectInfo]

    @classmethod
    def of(cls, prefix: str, found: Mapping[str, ObjectInfo]) -> "Listing":
        """Build the listing of the store at `prefix` from objects by full key."""
        table = f"{prefix}/{TABLE}.lance/"
        files = {}
        for key, info in found.items():
            if key.startswith(table):
                files[key.removeprefix(table)] = info
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
    def content(self) -> dict[str, int]:
        """Sizes of the files with rows, deletions and indices, by name."""
        return {
            name: info.size
            for name, info in self.files.items()
            if is_content(name)
        }

    @property
    def size(self) -> int:
        """The bytes of these files together."""
        return sum(self.content.values())

    def stamp(self, version: int) -> tuple[datetime, int]:
        """Return the time and size of a version's manifest.

        They differ from those of the same version in a recreated store.
        """
        info = self.files[manifest_name(version)]
        return info.last_modified, info.size

    def guess_needed(self, lacking: Mapping[str, int]) -> Iterator[str]:
        """Yield those of the `lacking` files that the newest version probably needs.

        Those are the newest files that make up half the bytes, and some older ones. Files
        that a compaction replaced stay listed for a while. They are about as large as the
        files in their place.
        """
        half = sum(lacking.values()) / 2
        taken = 0
        spare = AT_ONCE_BYTES
        newest_first = sorted(
            lacking,
            key=lambda name: self.files[name].last_modified,
            reverse=True,
        )
        for name in newest_first:
            if taken >= half:
                spare -= lacking[name]
                if spare < 0:
                    return
            taken += lacking[name]
            yield name


def list_store(objects: Objects, prefix: str) -> Listing:
    """List one store's files. Raises Retryable."""
    return Listing.of(
        prefix, {info.key: info for info in objects.list(prefix)}
    )
