"""`varve look`: memory as pages, on a loopback server or as files."""

import argparse
import sys
from pathlib import Path

from varve.api.memory import Memory
from varve.cli.output import format_count, print_result, say
from varve.cli.progress import show_progress
from varve.domain.errors import Rejected

MAX_PORT = 65_535


def add_look(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve look`."""
    command.add_argument(
        "--port", metavar="N", help="port to serve on; default: any free one"
    )
    command.add_argument(
        "--out",
        metavar="DIR",
        help="write the pages as files into a directory and serve nothing",
    )


def look(options: argparse.Namespace, memory: Memory) -> None:
    """Serve the pages until interrupted, or write them.

    Raises Rejected: the port or the directory is not usable; Misconfigured: Jinja2 is
    not installed, or the port is taken.
    """
    if options.out is not None:
        _write(options, memory)
    else:
        serve_pages(options, memory, _parse_port(options.port))


def _write(options: argparse.Namespace, memory: Memory) -> None:
    from varve.look.files import write_pages

    store = memory.sessions.settings.store
    with show_progress() as progress:
        written = write_pages(memory, store, Path(options.out), progress)
    value = {"pages": written.pages, "index": str(written.index)}
    pages = format_count(written.pages, "page")
    print_result(options, value, [f"{pages}; open {written.index}"])


def serve_pages(
    options: argparse.Namespace, memory: Memory, port: int
) -> None:
    """Print the address of the pages, and serve them until interrupted.

    Raises Misconfigured: Jinja2 is not installed, or the port is taken.
    """
    from varve.look.links import server_address
    from varve.look.server import ASSETS, LookServer
    from varve.look.site import Site

    store = memory.sessions.settings.store
    site = Site(memory, store, server_address, assets=ASSETS)
    site.require_templates()
    with LookServer(site, port) as server:
        lines = [f"{memory.scope} is at {server.address}", "Ctrl-C ends it."]
        try:
            print_result(options, {"address": server.address}, lines)
            sys.stdout.flush()  # a program that reads the address waits for it
            server.serve_forever()
        except KeyboardInterrupt:
            say("varve: stopped")


def _parse_port(text: str | None) -> int:
    if text is None:
        return 0
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise Rejected(
            "--port", f"{text[:40]!r} is not a port, 0 to {MAX_PORT:,}"
        )
    return int(text)
