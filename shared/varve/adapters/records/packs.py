"""Packs: all new files of one commit in one object, for readers of the version before.

    vectordb/{workspace}/{agent}/{grain}/packs/{version before:020}.zip

A reader learns the names of a commit's files only from a listing. But it knows the name of
the pack that follows its own version, so it requests the pack and the listing together.
A pack is put after the commit and is a mere copy. Without it the reader fetches the
files one round trip later. Only a listing proves a commit. A pack is an
uncompressed ZIP archive with the files' names relative to the table.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from io import BytesIO
from struct import error as struct_error
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

from varve.ports.objects import StoredObject

PackRequest = Future[StoredObject | None]

FOLDER = "packs"
MAX_PACK_BYTES = 1024 * 1024
"""Larger commits get no pack: most readers fetch their files one by one as fast."""
_UNREADABLE = (
    BadZipFile,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct_error,
    zlib_error,
)
"""All errors that `zipfile` raises for bytes that are not a valid archive."""


def pack_name(before: int) -> str:
    """Return the pack's name for readers of this version, relative to the store."""
    return f"{FOLDER}/{before:020}.zip"


def version_before(name: str) -> int | None:
    """Return the version in a pack's name, or None for another file."""
    folder, _, file = name.partition("/")
    number = file.removesuffix(".zip")
    if folder != FOLDER or not number.isdecimal():
        return None
    return int(number)


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return the files as one archive."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(ZipInfo(name), files[name])
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a pack, or none if it is unreadable, as a pack is optional."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            return {info.filename: archive.read(info) for info in archive.infolist()}
    except _UNREADABLE:
        return {}


def unpack_all(requests: Sequence[PackRequest]) -> dict[str, bytes]:
    """Wait for the requested packs and return their files."""
    files: dict[str, bytes] = {}
    for request in requests:
        stored = request.result()
        if stored is not None:
            files |= unpack(stored.data)
    return files
