"""What the files of a Lance table are, by their names, and which of them a version needs.

    _versions/{2^64 - 1 - version:020}.manifest   one for each version; putting it, if absent, is the commit
    _versions/latest_version_hint.json            written in directories alone, and only a hint
    data/{name}.lance                             rows
    _deletions/{fragment}-{version}-{id}.arrow    rows of a fragment that are gone; `.bin` where many are:
                                                  an Arrow file with a column of their places, or a bitmap
    _indices/{uuid}/…                             an index
    _transactions/{version}-{uuid}.txn            what a commit did; the manifest repeats it

All paths are relative and no file is ever written a second time, so a directory with a manifest and
the files it names is the table at that version. The transaction's file is for whoever commits while
another does, who finds the same inside the manifest: the copy here leaves it out.

A manifest ends with the place of its message (int64), two version numbers (uint16) and `LANC`; at that
place stand a length (uint32) and a protocol buffers message `Manifest`, of which only what names files
is read here. Sources: the Lance table format, https://lance.org/format/table/ (layout, versioning,
transactions), and its `protos/table.proto`. `tests/contract/test_replica.py` fails where a LanceDB
writes anything else.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

VERSIONS, DATA, DELETIONS, INDICES = "_versions", "data", "_deletions", "_indices"
_LAST = 2**64 - 1
_MAGIC = b"LANC"
_FOOTER = struct.Struct("<qHH4s")
_LENGTH = struct.Struct("<I")
# Numbers of fields in table.proto.
_FRAGMENTS, _INDEX_SECTION = 2, 6
_FRAGMENT_ID, _FILES, _DELETION_FILE, _ROWS = 1, 2, 3, 4
_PATH = 1
_FILE_TYPE, _READ_VERSION, _DELETION_ID = 1, 2, 3
_INDEX, _UUID, _INDEX_FILES = 1, 1, 10
_DELETION_SUFFIXES = {0: "arrow", 1: "bin"}


class UnknownFormat(RuntimeError):
    """A manifest that is not laid out as described here."""


def manifest_name(version: int) -> str:
    """The name of a version's manifest, within the table."""
    return f"{VERSIONS}/{_LAST - version:020}.manifest"


def version_of(name: str) -> int | None:
    """The version that a manifest's name says; None for other files."""
    folder, _, file = name.partition("/")
    number = file.removesuffix(".manifest")
    if folder != VERSIONS or number == file or not number.isdecimal():
        return None
    return _LAST - int(number)


def is_content(name: str) -> bool:
    """Whether the file is of those that manifests name."""
    return name.partition("/")[0] in (DATA, DELETIONS, INDICES)


@dataclass(frozen=True, slots=True)
class Needs:
    """The content files that a version needs; `indices` are the folders of its indices."""

    files: frozenset[str]
    indices: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether the version needs this file."""
        return name in self.files or name.rpartition("/")[0] in self.indices


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows that were written at once: the files that they are in, how many, and the file of those gone."""

    number: int
    data: tuple[str, ...]
    rows: int
    deletions: str | None

    @property
    def files(self) -> tuple[str, ...]:
        """All of its files."""
        return self.data if self.deletions is None else (*self.data, self.deletions)


def needs_of(manifest: bytes) -> Needs:
    """What a manifest names. Raises UnknownFormat."""
    files = {name for fragment in fragments_of(manifest) for name in fragment.files}
    indices: set[str] = set()
    with _understood():
        for number, value in _manifest_fields(manifest):
            if number == _INDEX_SECTION and isinstance(value, int):
                section = list(_index_files(_message_at(manifest, value)))
                indices = {folder for folder, _ in section}
                files |= {
                    f"{folder}/{file}" for folder, named in section for file in named
                }
    return Needs(frozenset(files), frozenset(indices))


def fragments_of(manifest: bytes) -> list[Fragment]:
    """What the rows of a manifest's version are in. Raises UnknownFormat."""
    with _understood():
        fields = _manifest_fields(manifest)
        return [
            _fragment(value)
            for n, value in fields
            if n == _FRAGMENTS and isinstance(value, bytes)
        ]


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except (struct.error, ArithmeticError, LookupError, ValueError) as error:
        raise UnknownFormat("a Lance manifest of another layout") from error


def _manifest_fields(manifest: bytes) -> Iterator[tuple[int, int | bytes]]:
    position, _, _, magic = _FOOTER.unpack_from(manifest, len(manifest) - _FOOTER.size)
    if magic != _MAGIC:
        raise UnknownFormat("not a Lance manifest")
    return _fields(_message_at(manifest, position))


def _fragment(message: bytes) -> Fragment:
    fields = list(_fields(message))
    numbers = {n: v for n, v in fields if isinstance(v, int)}
    number = numbers.get(_FRAGMENT_ID, 0)
    files = (
        dict(_fields(v)).get(_PATH)
        for n, v in fields
        if n == _FILES and isinstance(v, bytes)
    )
    data = tuple(f"{DATA}/{path.decode()}" for path in files if isinstance(path, bytes))
    gone = next(
        (v for n, v in fields if n == _DELETION_FILE and isinstance(v, bytes)), None
    )
    deletions = None if gone is None else _deletions(number, gone)
    return Fragment(number, data, numbers.get(_ROWS, 0), deletions)


def _deletions(fragment: int, message: bytes) -> str:
    of = {n: v for n, v in _fields(message) if isinstance(v, int)}
    suffix = _DELETION_SUFFIXES[of.get(_FILE_TYPE, 0)]
    return f"{DELETIONS}/{fragment}-{of.get(_READ_VERSION, 0)}-{of.get(_DELETION_ID, 0)}.{suffix}"


def _index_files(message: bytes) -> Iterator[tuple[str, list[str]]]:
    """Each index's folder, and its files where the manifest lists them."""
    for number, index in _fields(message):
        if number == _INDEX and isinstance(index, bytes):
            parts = [(n, v) for n, v in _fields(index) if isinstance(v, bytes)]
            uuids = [
                v
                for n, uuid in parts
                if n == _UUID
                for _, v in _fields(uuid)
                if isinstance(v, bytes)
            ]
            files = (
                v
                for n, file in parts
                if n == _INDEX_FILES
                for m, v in _fields(file)
                if m == _PATH
            )
            yield (
                f"{INDICES}/{UUID(bytes=uuids[0])}",
                [f.decode() for f in files if isinstance(f, bytes)],
            )


def _message_at(data: bytes, position: int) -> bytes:
    (length,) = _LENGTH.unpack_from(data, position)
    start = position + _LENGTH.size
    if start + length > len(data):
        raise UnknownFormat("a manifest that was cut short")
    return data[start : start + length]


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffers message: number and value, as the wire format has them."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(message, at)
        else:
            size = {1: 8, 5: 4}[wire]
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number in base 128, least first, and the place after it."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return value, at
