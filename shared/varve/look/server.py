"""The server: GET only, on loopback, for the holder of the token.

The first request carries the token in its address. The answer sets a cookie and redirects,
so no later address and no Referer has it. A request for another Host is refused, which
stops DNS rebinding.
"""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

from varve.domain.errors import Misconfigured, Rejected
from varve.look.links import parse_address
from varve.look.rendering import STATIC
from varve.look.site import Site

LOOPBACK = "127.0.0.1"
ASSETS = "/static/"
CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_ASSETS = {path.name: path for path in STATIC.iterdir()}


class LookServer(ThreadingHTTPServer):
    """Serves one site on loopback; `port` 0 lets the system choose a free one.

    Raises Misconfigured: the port is taken.
    """

    daemon_threads = True

    def __init__(self, site: Site, port: int = 0) -> None:
        self.site = site
        self.token = secrets.token_urlsafe(24)
        self.session = secrets.token_urlsafe(24)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Misconfigured(
                f"--port {port}: cannot be opened ({reason})"
            ) from error

    @property
    def address(self) -> str:
        """The address that opens the pages, with the token."""
        return f"http://{LOOPBACK}:{self.server_port}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name; cookies of a host are shared by its ports."""
        return f"varve_look_{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless it is that the client went away."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


@contextmanager
def running(server: LookServer) -> Iterator[LookServer]:
    """Serve in a thread until the block ends."""
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: LookServer
    protocol_version = "HTTP/1.1"
    server_version = "varve"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        if not self._is_own_host():
            self._refuse(
                HTTPStatus.MISDIRECTED_REQUEST, "This is another host's name."
            )
        elif self._has_token():
            self._let_in()
        elif not self._has_cookie():
            reason = (
                "Open the address that `varve look` printed; it has the token."
            )
            self._refuse(HTTPStatus.FORBIDDEN, reason)
        elif self.path.startswith(ASSETS):
            self._send_asset(self.path.removeprefix(ASSETS))
        else:
            self._send_page()

    do_HEAD = do_GET  # noqa: N815 - the base class's name

    def log_message(self, *_: Any) -> None:
        """Write no log: addresses have the words of searches."""

    def _is_own_host(self) -> bool:
        port = self.server.server_port
        hosts = self.headers.get_all("Host") or []
        own = (f"{LOOPBACK}:{port}", f"localhost:{port}")
        return len(hosts) == 1 and hosts[0] in own

    def _has_token(self) -> bool:
        path, _, query = self.path.partition("?")
        given = parse_qs(query).get("token", [""])
        return path == "/" and _is_equal(given[0], self.server.token)

    def _has_cookie(self) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(self.headers.get("Cookie", ""))
        except CookieError:
            return False
        given = cookies.get(self.server.cookie_name)
        return given is not None and _is_equal(
            given.value, self.server.session
        )

    def _let_in(self) -> None:
        name, value = self.server.cookie_name, self.server.session
        cookie = f"{name}={value}; Path=/; HttpOnly; SameSite=Strict"
        self._send(HTTPStatus.SEE_OTHER, b"", Location="/", Set_Cookie=cookie)

    def _send_asset(self, name: str) -> None:
        path = _ASSETS.get(name)
        if path is None:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such file.")
            return
        kind = f"{_TYPES[path.suffix]}; charset=utf-8"
        self._send(HTTPStatus.OK, path.read_bytes(), Content_Type=kind)

    def _send_page(self) -> None:
        try:
            where = parse_address(self.path)
        except Rejected as error:
            self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG, str(error))
            return
        page = self.server.site.page(where)
        body = page.html.encode("utf-8", "replace")
        self._send(
            HTTPStatus(page.status),
            body,
            Content_Type="text/html; charset=utf-8",
        )

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True
        self._send(
            status, reason.encode(), Content_Type="text/plain; charset=utf-8"
        )

    def _send(self, status: HTTPStatus, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _is_equal(given: str, secret: str) -> bool:
    return secrets.compare_digest(
        given.encode("utf-8", "replace"), secret.encode()
    )
