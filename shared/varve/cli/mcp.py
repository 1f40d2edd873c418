"""`varve mcp`: memory as the tools of an MCP server.

It speaks on standard input and output, or over HTTP on loopback.
"""

import argparse
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from varve.api.memory import Memory
from varve.cli.entries import AddNames
from varve.cli.output import say
from varve.domain.errors import Misconfigured, Rejected

if TYPE_CHECKING:
    from varve.integrations.mcp_tools import Tools

MIN_TOKEN_CHARACTERS = 16


def add_mcp(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve mcp`."""
    command.add_argument(
        "--user",
        metavar="U",
        help="user whose words are stored; search finds memories of this user only",
    )
    command.add_argument(
        "--agents",
        metavar="A,…",
        action=AddNames,
        help="other agents that a model may name in a search, commas between; may be "
        "repeated; default: none",
    )
    command.add_argument(
        "--http",
        action="store_true",
        help="serve Streamable HTTP on loopback instead of standard input and output",
    )
    command.add_argument(
        "--port",
        metavar="N",
        type=int,
        default=0,
        help="port for --http; default: any free one",
    )
    command.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="file with the bearer token for --http; default: a new token, which is printed",
    )


def serve(options: argparse.Namespace, memory: Memory) -> None:
    """Answer one client until it closes the connection, or HTTP clients until interrupted.

    Raises Rejected: the user, the port or the token is not usable; Misconfigured: the
    MCP SDK is not installed, or the store cannot be read; Retryable.
    """
    try:
        import mcp.server.lowlevel  # noqa: F401
    except ImportError as error:
        raise Misconfigured(
            "varve mcp needs the MCP SDK: pip install 'varve-memory[mcp]'"
        ) from error
    from varve.integrations.mcp_tools import Tools

    session = None if options.http else f"mcp-{uuid4().hex}"
    agents = options.agents or ()
    tools = Tools(memory, options.user, conversation_id=session, agents=agents)
    memory.check()  # a bad store fails now, not at the first call
    try:
        if options.http:
            _serve_http(options, tools)
        else:
            _serve_stdio(tools)
    finally:
        tools.close()


def _serve_stdio(tools: "Tools") -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from varve.cli.mcp_refusals import refusing
    from varve.integrations.mcp_server import build_server

    async def run() -> None:
        server = build_server(tools)
        async with (
            stdio_server() as (incoming, outgoing),
            refusing(incoming, outgoing) as valid,
        ):
            given = server.create_initialization_options()
            await server.run(valid, outgoing, given)

    anyio.run(run)


def _serve_http(options: argparse.Namespace, tools: "Tools") -> None:
    from varve.integrations.mcp_server import LOOPBACK, PATH, serve_http

    token = _read_token(options.token_file)
    try:
        listener = socket.create_server((LOOPBACK, options.port))
    except (OSError, OverflowError) as error:
        raise Rejected(
            "--port", f"{options.port} cannot be served on"
        ) from error
    with listener:
        port = listener.getsockname()[1]
        say(f"varve: serving http://{LOOPBACK}:{port}{PATH}")
        if options.token_file is None:
            say(f"varve: Authorization: Bearer {token}")
        serve_http(tools, listener, token)


def _read_token(file: Path | None) -> str:
    if file is None:
        return secrets.token_urlsafe(32)
    try:
        token = file.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise Rejected("--token-file", f"{file} cannot be read") from error
    if (
        len(token) < MIN_TOKEN_CHARACTERS
        or not token.isascii()
        or not token.isprintable()
    ):
        reason = (
            f"must hold {MIN_TOKEN_CHARACTERS} printable characters or more"
        )
        raise Rejected("--token-file", reason)
    return token
