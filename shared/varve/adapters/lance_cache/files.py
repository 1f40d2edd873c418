"""The files of a Lance table: what their names mean and which a version needs.

    _versions/{2^64 - 1 - version:020}.manifest  one a version; putting it, if absent,
                                                 is the commit
    _versions/latest_version_hint.json           only in directories, and only a hint
    data/{name}.lance                            rows
    _deletions/{fragment}-{version}-{id}.arrow   places of a fragment's deleted rows; with
                                                 many deletions a bitmap named `.bin`
    _indices/{uuid}/…                            an index
    _transactions/{version}-{uuid}.txn           what a commit did

All paths are relative and no file is ever rewritten. So a directory with a manifest and
the files it names is the table at that version. A transaction file serves writers that
commit at the same time. The manifest repeats its content, so replicas leave it out.

A manifest ends with the position of its message (int64), two version numbers (uint16)
and `LANC`. At that position are a length (uint32) and a protocol buffers message
`Manifest`, from which this module reads only the fields that name files.
Sources: the Lance table format, https://lance.org/format/table/ (layout, versioning,
transactions), and its `protos/table.proto`. `tests/contract/test_replica.py` fails if a
LanceDB release writes anything else.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

VERSIONS = "_versions"
DATA = "data"
DELETIONS = "_deletions"
INDICES = "_indices"
_MAX_VERSION = 2**64 - 1
_MAGIC = b"LANC"
_FOOTER = struct.Struct("<qHH4s")
_LENGTH = struct.Struct("<I")
_DELETION_SUFFIXES = {0: "arrow", 1: "bin"}

# Field numbers in table.proto: Manifest,
_FRAGMENTS = 2
_INDEX_SECTION = 6
# DataFragment,
_FRAGMENT_ID = 1
_DATA_FILES = 2
_DELETION_FILE = 3
_PHYSICAL_ROWS = 4
# DataFile,
_PATH = 1
# DeletionFile,
_FILE_TYPE = 1
_READ_VERSION = 2
_DELETION_ID = 3
# IndexSection, IndexMetadata and UUID.
_INDEX = 1
_UUID = 1
_BYTES = 1

_BYTES_OF_WIRE_TYPE = {1: 8, 5: 4}

Fields = dict[int, list[Any]]
"""The values of a protocol buffers message (int or bytes) by the field's number."""


class UnknownFormat(RuntimeError):
    """The manifest is not laid out as this module describes."""


def manifest_name(version: int) -> str:
    """Return the name of a version's manifest, relative to the table."""
    return f"{VERSIONS}/{_MAX_VERSION - version:020}.manifest"


def version_of(name: str) -> int | None:
    """Return the version in a manifest's name, or None for another file."""
    folder, _, file = name.partition("/")
    number = file.removesuffix(".manifest")
    if folder != VERSIONS or number == file or not number.isdecimal():
        return None
    return _MAX_VERSION - int(number)


def is_content(name: str) -> bool:
    """Tell whether manifests name files of this sort."""
    return name.partition("/")[0] in (DATA, DELETIONS, INDICES)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a version needs: the files of its rows, and the folders of its indices."""

    files: frozenset[str]
    indices: frozenset[str]

    def has(self, name: str) -> bool:
        """Tell whether the version needs this file."""
        return name in self.files or name.rpartition("/")[0] in self.indices


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows that one write added: their data files, their number, their deletion file."""

    number: int
    data: tuple[str, ...]
    rows: int
    deletions: str | None


def needs_of(manifest: bytes) -> Needs:
    """Return what a manifest names. Raises UnknownFormat."""
    files: set[str] = set()
    for fragment in fragments_of(manifest):
        files.update(fragment.data)
        if fragment.deletions is not None:
            files.add(fragment.deletions)
    with _require_known_format():
        return Needs(frozenset(files), frozenset(_parse_indices(manifest)))


def fragments_of(manifest: bytes) -> list[Fragment]:
    """Return the fragments of a manifest's version. Raises UnknownFormat."""
    with _require_known_format():
        messages = _parse_manifest(manifest).get(_FRAGMENTS, [])
        return [_parse_fragment(_parse(message)) for message in messages]


@contextmanager
def _require_known_format() -> Iterator[None]:
    try:
        yield
    except (
        struct.error,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise UnknownFormat("a Lance manifest of another layout") from error


def _parse_manifest(manifest: bytes) -> Fields:
    footer = len(manifest) - _FOOTER.size
    position, _, _, magic = _FOOTER.unpack_from(manifest, footer)
    if magic != _MAGIC:
        raise UnknownFormat("not a Lance manifest")
    return _parse_at(manifest, position)


def _parse_fragment(fragment: Fields) -> Fragment:
    number = _integer(fragment, _FRAGMENT_ID)
    data = []
    for file in fragment.get(_DATA_FILES, []):
        (path,) = _parse(file)[_PATH]
        data.append(f"{DATA}/{path.decode()}")
    deletions = None
    for file in fragment.get(_DELETION_FILE, []):
        deletions = _deletion_name(number, _parse(file))
    rows = _integer(fragment, _PHYSICAL_ROWS)
    return Fragment(number, tuple(data), rows, deletions)


def _deletion_name(fragment: int, file: Fields) -> str:
    version = _integer(file, _READ_VERSION)
    id_ = _integer(file, _DELETION_ID)
    suffix = _DELETION_SUFFIXES[_integer(file, _FILE_TYPE)]
    return f"{DELETIONS}/{fragment}-{version}-{id_}.{suffix}"


def _parse_indices(manifest: bytes) -> Iterator[str]:
    """Yield each index's folder."""
    for position in _parse_manifest(manifest).get(_INDEX_SECTION, []):
        for index in _parse_at(manifest, position).get(_INDEX, []):
            (uuid,) = _parse(index)[_UUID]
            (stored,) = _parse(uuid)[_BYTES]
            yield f"{INDICES}/{UUID(bytes=stored)}"


def _integer(fields: Fields, number: int) -> int:
    """Return an integer field; protocol buffers leave out zeros."""
    value = fields.get(number, [0])[-1]
    if not isinstance(value, int):
        raise UnknownFormat("a field of another type")
    return value


def _parse_at(data: bytes, position: int) -> Fields:
    """Parse the message at a position, where its length comes first."""
    (length,) = _LENGTH.unpack_from(data, position)
    start = position + _LENGTH.size
    if start + length > len(data):
        raise UnknownFormat("a manifest that was cut short")
    return _parse(data[start : start + length])


def _parse(message: bytes) -> Fields:
    """Parse the fields of a protocol buffers message by its wire format."""
    fields: Fields = {}
    at = 0
    while at < len(message):
        tag, at = _parse_varint(message, at)
        values = fields.setdefault(tag >> 3, [])
        wire_type = tag & 7
        if wire_type == 0:
            value, at = _parse_varint(message, at)
            values.append(value)
            continue
        if wire_type == 2:
            size, at = _parse_varint(message, at)
        else:
            size = _BYTES_OF_WIRE_TYPE[wire_type]
        values.append(message[at : at + size])
        at += size
    return fields


def _parse_varint(message: bytes, at: int) -> tuple[int, int]:
    """Parse a base-128 number, least digits first; return it and the next position."""
    value = 0
    shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at
