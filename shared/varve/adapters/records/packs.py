"""Packs: all new files of one commit in one object, for readers who hold the version before.

    vectordb/{workspace}/{agent}/{grain}/packs/{version before:020}.zip

A reader cannot know the names of a commit's files before it has listed them, but it can know the name
of the pack that follows its own version, so it asks for that beside the listing. A pack is put after
the commit and is a mere copy: without it the reader fetches the files one round trip later. The
listing alone says what is committed. The form is an uncompressed ZIP whose names are those of the
files within the table.
"""

from collections.abc import Mapping
from io import BytesIO
from struct import error as struct_error
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

FOLDER = "packs"
MAX_BYTES = 1024 * 1024
"""Larger commits get none: most readers fetch each file of such a commit as quickly."""
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
"""All that `zipfile` raises at bytes that are no archive, or no longer one."""


def pack_name(before: int) -> str:
    """The name of the pack for who holds this version, within the store."""
    return f"{FOLDER}/{before:020}.zip"


def version_before(name: str) -> int | None:
    """The version that a pack's name says; None for other files."""
    folder, _, file = name.partition("/")
    number = file.removesuffix(".zip")
    return int(number) if folder == FOLDER and number.isdecimal() else None


def pack(files: Mapping[str, bytes]) -> bytes:
    """The files as one object."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(ZipInfo(name), files[name])
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of a pack; none of one that cannot be read, as it is only a shorter way."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            return {info.filename: archive.read(info) for info in archive.infolist()}
    except _UNREADABLE:
        return {}
