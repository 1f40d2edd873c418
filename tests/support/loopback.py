"""HTTP servers on loopback for tests: a free port, one write per answer, a clean stop."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from threading import Thread
from typing import Any, Self

LOOPBACK = "127.0.0.1"
REGION, ACCOUNT = "us-east-1", "123456789012"  # the account that moto plays


class LoopbackHandler(BaseHTTPRequestHandler):
    """Answers in one packet: unbuffered writes under Nagle's algorithm add some 45 ms to every call."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def get(self) -> None:
        self.answer(405)

    def post(self) -> None:
        self.answer(405)

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the tests read the servers' own records instead."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(
        self,
        status: int,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_json(
        self, status: int, value: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        self.answer(status, json.dumps(value).encode(), headers)


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handler: type[LoopbackHandler]) -> None:
        self._open: set[socket] = set()
        super().__init__((LOOPBACK, 0), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for each in list(
            self._open
        ):  # kept alive by clients; their threads wait for a next request
            with suppress(OSError):
                each.shutdown(SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that died in mid-request is what some tests are about, not an error of the server's."""


class LoopbackServer:
    """A threaded server on a port of the system's choosing; handlers reach it as `self.server.owner`."""

    def __init__(self, handler: type[LoopbackHandler]) -> None:
        self._http = _QuietServer(handler)
        self._http.owner = self  # type: ignore[attr-defined]  # how a handler finds its state
        self._thread = Thread(
            target=self._http.serve_forever,
            kwargs={"poll_interval": 0.05},
            daemon=True,
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
