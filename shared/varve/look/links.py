"""Targets of links, and their addresses on the server and among written files."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode

from varve.domain.errors import Rejected
from varve.domain.identity import digest

HOME = "timeline"
_NAME_LENGTH = 60
MAX_ADDRESS = 20_000
"""Characters of an address that the server reads."""

Address = Callable[["Target"], str]
"""Returns the address of a target, for a link."""


@dataclass(frozen=True, slots=True)
class Target:
    """A page: its name, its subject, and its options (filters, place in a list)."""

    page: str
    keys: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str:
        """Return an option's value without spaces around it; empty if it is not set."""
        return dict(self.options).get(name, "").strip()

    def number(self, name: str) -> int:
        """Return an option as a count, 0 if it is not set.

        Raises Rejected: it is no count.
        """
        text = self.option(name) or "0"
        if not re.fullmatch("[0-9]{1,9}", text):
            raise Rejected(name, f"{text[:40]!r} is not a count")
        return int(text)


def target(page: str, *keys: str, **options: object) -> Target:
    """Return a target; options that are None or empty are left out."""
    given = {
        name: str(value)
        for name, value in options.items()
        if value is not None
    }
    kept = sorted((name, value) for name, value in given.items() if value)
    return Target(page, keys, tuple(kept))


def name_note(path: str, user_id: str | None) -> tuple[str, ...]:
    """Return the keys of a note's page."""
    return (path,) if user_id is None else (path, user_id)


def server_address(where: Target) -> str:
    """Return the path and query of a target on the server."""
    parts = [] if where.page == HOME else [where.page, *where.keys]
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    return f"{path}?{urlencode(where.options)}" if where.options else path


def parse_address(address: str) -> Target:
    """Return the target of a path with its query. Raises Rejected: it is too long."""
    if len(address) > MAX_ADDRESS:
        raise Rejected("address", f"is longer than {MAX_ADDRESS:,} characters")
    path, _, query = address.partition("?")
    parts = [unquote(part) for part in path.strip("/").split("/")]
    options = tuple(sorted(parse_qsl(query, keep_blank_values=False)))
    page, *keys = parts
    return Target(page or HOME, tuple(keys), options)


def file_name(where: Target) -> str:
    """Return the name of the file that holds a target's page; distinct targets differ."""
    if where == Target(HOME):
        return "index.html"
    said = "-".join([where.page, *where.keys])
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", said)
    is_plain = plain == said == said.lower()  # some file systems ignore case
    if is_plain and len(said) <= _NAME_LENGTH and not where.options:
        return f"{plain}.html"
    hashed = digest(repr(where), length=12)
    return f"{plain[:_NAME_LENGTH]}-{hashed}.html"
