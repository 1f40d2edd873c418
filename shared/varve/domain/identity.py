"""Validation of ids, the scope of one memory, and content hashes."""

import hashlib
import re
from dataclasses import dataclass

from varve.domain.errors import Rejected

_PATH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_REFERENCE = re.compile(r"[^\s/\\\x00-\x1f\x7f]{1,128}")


def path_id(value: str, field: str) -> str:
    """Return the value unchanged if it is safe as one path segment.

    Raises Rejected: not `[A-Za-z0-9][A-Za-z0-9_.-]{0,127}`, or contains `..`.
    """
    if (
        not isinstance(value, str)
        or not _PATH_ID.fullmatch(value)
        or ".." in value
    ):
        raise Rejected(
            field,
            f"{_shown(value)} is not a valid id: 1 to 128 letters, digits, '_', '.', "
            "'-', starting with a letter or digit, without '..'",
        )
    return value


def reference(value: str, field: str) -> str:
    """Return the value unchanged if it may identify a user or a message.

    These ids never become paths. They may have more characters than a path id, because
    callers bring their own ("auth0|42", "D1:3", e-mail addresses).
    Raises Rejected: empty, longer than 128 characters, or with white space, characters
    that cannot be printed, slashes or `..`.
    """
    if not isinstance(value, str) or not _is_reference(value):
        raise Rejected(
            field,
            f"{_shown(value)} is not a valid id: 1 to 128 characters "
            "without white space, slashes or '..'",
        )
    return value


def _is_reference(value: str) -> bool:
    if not _REFERENCE.fullmatch(value):
        return False
    return ".." not in value and value.isprintable()


@dataclass(frozen=True, slots=True)
class Scope:
    """One agent's memory in one workspace: the unit of storage and of isolation."""

    workspace: str
    agent: str

    def __post_init__(self) -> None:
        path_id(self.workspace, "workspaceId")
        path_id(self.agent, "agentId")

    def __str__(self) -> str:
        return f"{self.workspace}/{self.agent}"


@dataclass(frozen=True, slots=True)
class Identity:
    """The memory that a caller is bound to; with a user, that user's part of it alone."""

    scope: Scope
    user_id: str | None = None

    @classmethod
    def parse(cls, text: str, field: str) -> "Identity":
        """Return the identity of `workspace/agent` or `workspace/agent/user`.

        Raises Rejected: it has another form.
        """
        parts = text.split("/")
        if len(parts) not in (2, 3):
            raise Rejected(
                field, "must be 'workspace/agent' or 'workspace/agent/user'"
            )
        user_id = reference(parts[2], field) if len(parts) == 3 else None
        return cls(Scope(parts[0], parts[1]), user_id)


def digest(*parts: str, length: int = 64) -> str:
    """Return the first `length` hex digits of SHA-256 over the NUL-terminated parts."""
    text = "\0".join((*parts, ""))
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _shown(value: str) -> str:
    if len(str(value)) <= 40:
        return repr(value)
    return repr(str(value)[:40] + "…")
