"""`varve share`: which agents of the workspace may read which of an agent's records."""

import argparse
from collections.abc import Callable, Iterator

from varve.api.memory import Memory
from varve.api.sharing import Share
from varve.cli.output import print_result
from varve.domain.errors import Rejected
from varve.domain.grants import SHARED_TYPES, Grant
from varve.domain.search.query import MemoryTypeName, split_names
from varve.usecases.sharing import Shares


def add_share(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve share`."""
    command.add_argument(
        "action",
        choices=list(_ACTIONS),
        help="let another AGENT read some of this agent's records (grant), take it back "
        "(revoke), or list what is granted in both directions (list)",
    )
    command.add_argument(
        "reader", nargs="?", metavar="AGENT", help="agent that may read"
    )
    types = ", ".join(SHARED_TYPES)
    command.add_argument(
        "--types",
        metavar="T,…",
        help=f"memory types that it may read, commas between: {types} (grant)",
    )
    command.add_argument(
        "--user",
        metavar="U",
        action="append",
        dest="users",
        help="only records of this user; may be repeated; default: all records (grant)",
    )


def share(options: argparse.Namespace, memory: Memory) -> None:
    """Grant reading to another agent, revoke it, or list the grants."""
    _ACTIONS[options.action](options, memory.share)


def _grant(options: argparse.Namespace, book: Share) -> None:
    reader = _require_reader(options)
    if not options.types:
        raise Rejected(
            "--types", "is required: name the memory types to share"
        )
    grant = book.grant(
        reader, types=_read_types(options.types), users=options.users
    )
    print_result(options, grant.to_dict(), [_format_grant(grant)])


def _read_types(text: str) -> list[MemoryTypeName]:
    """Return the named types. Raises Rejected: one is not a memory type that is shared."""
    by_name = {name: name for name in SHARED_TYPES}
    types: list[MemoryTypeName] = []
    for name in split_names(text):
        if name not in by_name:
            known = ", ".join(SHARED_TYPES)
            raise Rejected("--types", f"{name[:40]!r} is none of {known}")
        types.append(by_name[name])
    return types


def _revoke(options: argparse.Namespace, book: Share) -> None:
    reader = _require_reader(options)
    revoked = book.revoke(reader)
    said = (
        f"{reader} may no longer read this memory"
        if revoked
        else f"{reader} had no grant"
    )
    print_result(options, {"revoked": revoked}, [said])


def _list(options: argparse.Namespace, book: Share) -> None:
    shares = book.list()
    print_result(options, shares.to_dict(), _format_shares(shares))


_ACTIONS: dict[str, Callable[[argparse.Namespace, Share], None]] = {
    "grant": _grant,
    "revoke": _revoke,
    "list": _list,
}


def _require_reader(options: argparse.Namespace) -> str:
    if not options.reader:
        raise Rejected(f"share {options.action}", "needs AGENT")
    reader: str = options.reader
    return reader


def _format_shares(shares: Shares) -> Iterator[str]:
    for grant in (*shares.granted, *shares.received):
        yield _format_grant(grant)
    if not (shares.granted or shares.received):
        yield "no grants yet"


def _format_grant(grant: Grant) -> str:
    users = "all users" if grant.users is None else ", ".join(grant.users)
    types = ", ".join(grant.types)
    day = grant.granted_at.date()
    return (
        f"{grant.to} may read {types} of {grant.agent} ({users}), since {day}"
    )
