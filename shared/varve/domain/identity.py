"""Who owns a memory, and which ids may become part of a path."""

import hashlib
import re
from dataclasses import dataclass

from varve.domain.errors import Rejected

_PATH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_REFERENCE = re.compile(r"[^\s/\\\x00-\x1f\x7f]{1,128}")


def path_id(value: str, field: str) -> str:
    """The value itself, if it is safe as one path segment; never a cleaned one.

    Raises Rejected: not `[A-Za-z0-9][A-Za-z0-9_.-]{0,127}`, or contains `..`.
    """
    if not isinstance(value, str) or not _PATH_ID.fullmatch(value) or ".." in value:
        raise Rejected(
            field,
            f"{_shown(value)} is not a valid id: 1 to 128 letters, digits, '_', '.', '-', "
            "starting with a letter or digit, without '..'",
        )
    return value


def reference(value: str, field: str) -> str:
    """The value itself, if it may name a user or a message; such ids never become paths.

    Wider than a path id, because callers bring their own ("auth0|42", "D1:3", e-mail addresses).
    Raises Rejected: empty, longer than 128 characters, white space, slashes or `..` in it.
    """
    if (
        not isinstance(value, str)
        or not _REFERENCE.fullmatch(value)
        or ".." in value
        or not value.isprintable()
    ):
        raise Rejected(
            field,
            f"{_shown(value)} is not a valid id: 1 to 128 characters without white space, slashes or '..'",
        )
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """One agent's memory inside one workspace: the unit of storage and of isolation."""

    workspace: str
    agent: str

    def __post_init__(self) -> None:
        path_id(self.workspace, "workspaceId")
        path_id(self.agent, "agentId")

    def __str__(self) -> str:
        return f"{self.workspace}/{self.agent}"


def digest(*parts: str, length: int = 64) -> str:
    """The first `length` hex digits of SHA-256 over the parts, each ended by a NUL byte."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.encode())
        sha.update(b"\0")
    return sha.hexdigest()[:length]


def _shown(value: str) -> str:
    return repr(value if len(str(value)) <= 40 else str(value)[:40] + "…")
