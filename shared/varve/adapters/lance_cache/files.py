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
# DataFile and IndexFile,
_PATH = 1
# DeletionFile,
_FILE_TYPE = 1
_READ_VERSION = 2
_DELETION_ID = 3
# IndexSection and IndexMetadata.
_INDEX = 1
_UUID = 1
_INDEX_FILES = 10

_BYTES_OF_WIRE_TYPE = {1: 8, 5: 4}

Fields = list[tuple[int, int | bytes]]
"""Field numbers and values of a protocol buffers message, in the order of the message."""


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
    """The content files that a version needs; `indices` are the folders of its indices."""

    files: frozenset[str]
    indices: frozenset[str]

    def has(self, name: str) -> bool:
        """Tell whether the version needs this file."""
        if name in self.files:
            return True
        folder, _, _ = name.rpartition("/")
        return folder in self.indices


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows that one write added: their data files, their number, their deletion file."""

    number: int
    data: tuple[str, ...]
    rows: int
    deletions: str | None

    @property
    def files(self) -> tuple[str, ...]:
        """All files of the fragment."""
        if self.deletions is None:
            return self.data
        return (*self.data, self.deletions)


def needs_of(manifest: bytes) -> Needs:
    """Return the files that a manifest names. Raises UnknownFormat."""
    files: set[str] = set()
    for fragment in fragments_of(manifest):
        files.update(fragment.files)
    folders = set()
    with _require_known_format():
        for folder, names in _parse_indices(manifest):
            folders.add(folder)
            files.update(f"{folder}/{name}" for name in names)
    return Needs(frozenset(files), frozenset(folders))


def fragments_of(manifest: bytes) -> list[Fragment]:
    """Return the fragments of a manifest's version. Raises UnknownFormat."""
    with _require_known_format():
        messages = _messages(_parse_manifest(manifest), _FRAGMENTS)
        return [_parse_fragment(message) for message in messages]


@contextmanager
def _require_known_format() -> Iterator[None]:
    try:
        yield
    except (struct.error, ArithmeticError, LookupError, ValueError) as error:
        raise UnknownFormat("a Lance manifest of another layout") from error


def _parse_manifest(manifest: bytes) -> Fields:
    footer = len(manifest) - _FOOTER.size
    position, _, _, magic = _FOOTER.unpack_from(manifest, footer)
    if magic != _MAGIC:
        raise UnknownFormat("not a Lance manifest")
    return _parse_fields(_message_at(manifest, position))


def _parse_fragment(message: bytes) -> Fragment:
    fields = _parse_fields(message)
    numbers = _numbers(fields)
    number = numbers.get(_FRAGMENT_ID, 0)
    data = []
    for file in _messages(fields, _DATA_FILES):
        path = dict(_parse_fields(file)).get(_PATH)
        if isinstance(path, bytes):
            data.append(f"{DATA}/{path.decode()}")
    deletion_files = _messages(fields, _DELETION_FILE)
    deletions = (
        _deletion_name(number, deletion_files[0]) if deletion_files else None
    )
    return Fragment(
        number, tuple(data), numbers.get(_PHYSICAL_ROWS, 0), deletions
    )


def _deletion_name(fragment: int, message: bytes) -> str:
    numbers = _numbers(_parse_fields(message))
    version = numbers.get(_READ_VERSION, 0)
    id_ = numbers.get(_DELETION_ID, 0)
    suffix = _DELETION_SUFFIXES[numbers.get(_FILE_TYPE, 0)]
    return f"{DELETIONS}/{fragment}-{version}-{id_}.{suffix}"


def _parse_indices(manifest: bytes) -> Iterator[tuple[str, list[str]]]:
    """Yield each index's folder, and its files if the manifest lists them."""
    for number, position in _parse_manifest(manifest):
        if number == _INDEX_SECTION and isinstance(position, int):
            section = _parse_fields(_message_at(manifest, position))
            for index in _messages(section, _INDEX):
                yield _parse_index(_parse_fields(index))


def _parse_index(fields: Fields) -> tuple[str, list[str]]:
    uuids = []
    for message in _messages(fields, _UUID):
        uuids += [v for _, v in _parse_fields(message) if isinstance(v, bytes)]
    files = []
    for message in _messages(fields, _INDEX_FILES):
        paths = _messages(_parse_fields(message), _PATH)
        files += [path.decode() for path in paths]
    return f"{INDICES}/{UUID(bytes=uuids[0])}", files


def _numbers(fields: Fields) -> dict[int, int]:
    """Return the integer fields by number."""
    return {
        number: value for number, value in fields if isinstance(value, int)
    }


def _messages(fields: Fields, wanted: int) -> list[bytes]:
    """Return the values of a field that hold messages or strings."""
    values = [value for number, value in fields if number == wanted]
    return [value for value in values if isinstance(value, bytes)]


def _message_at(data: bytes, position: int) -> bytes:
    (length,) = _LENGTH.unpack_from(data, position)
    start = position + _LENGTH.size
    if start + length > len(data):
        raise UnknownFormat("a manifest that was cut short")
    return data[start : start + length]


def _parse_fields(message: bytes) -> Fields:
    """Parse the fields of a protocol buffers message by its wire format."""
    fields: Fields = []
    at = 0
    while at < len(message):
        tag, at = _parse_varint(message, at)
        number = tag >> 3
        wire_type = tag & 7
        if wire_type == 0:
            value, at = _parse_varint(message, at)
            fields.append((number, value))
            continue
        if wire_type == 2:
            size, at = _parse_varint(message, at)
        else:
            size = _BYTES_OF_WIRE_TYPE[wire_type]
        fields.append((number, message[at : at + size]))
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
