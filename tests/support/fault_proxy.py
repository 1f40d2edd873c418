"""A proxy between one function and everything it calls, which breaks requests by a seed.

What becomes of a request depends on the seed, the function, what is asked for and how often that was
asked before: not on the order in which parallel requests happen to come, so a seed can be played again.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from random import Random
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from tests.support.loopback import LoopbackHandler, LoopbackServer

DELAY_SECONDS = 0.02
HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "date",
    "server",
}

EVERYWHERE = ("delay", "drop", "reset", "500", "503")
OF_MODELS = ("429", "garbage")
CONDITIONAL = ("409", "twice")
"""Of a conditional put: S3's answer to a conflict, and a put that took effect before it lost."""

S3_ERRORS = {
    "500": "InternalError",
    "503": "SlowDown",
    "409": "ConditionalRequestConflict",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request: the service, what is asked without the names that differ from run to run."""

    service: str
    what: str
    faults: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.service} {self.what}"


@dataclass(frozen=True, slots=True)
class Kill:
    """SIGKILL for a function at its nth request: before it is passed on, or once it has taken effect."""

    function: str
    request: int
    after: bool


@dataclass
class Plan:
    """What goes wrong in one run: `rate` is the share of requests that meet a fault, of one sort `only`."""

    seed: int
    rate: float
    kill: Kill | None = None
    only: str | None = None
    log: list[tuple[str, str, str]] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def fate(self, function: str, call: Call) -> str | None:
        """The fault this request meets, or None."""
        with self._lock:
            self.requests[function] += 1
            self._seen[function, str(call)] += 1
            fate = self._fate(function, call)
            if fate:
                self.log.append((function, str(call), fate))
            return fate

    def _fate(self, function: str, call: Call) -> str | None:
        kill = self.kill
        if (
            kill
            and kill.function == function
            and self.requests[function] == kill.request
        ):
            return "kill after" if kill.after else "kill before"
        draw = Random(
            f"{self.seed}/{function}/{call}/{self._seen[function, str(call)]}"
        )
        faults = [fault for fault in call.faults if self.only in (None, fault)]
        return (
            draw.choice(faults)
            if faults and draw.random() < self.rate
            else None
        )


CALM = Plan(0, 0.0)


class FaultProxy(LoopbackServer):
    """Passes one function's requests on to `upstream` (host:port), as far as the plan lets it.

    Those for S3 go to `s3`, if that is another server.
    """

    def __init__(
        self, function: str, upstream: str, s3: str | None = None
    ) -> None:
        self.function, self.upstream = function, upstream
        self._s3 = s3 or upstream
        self.plan = CALM
        self.kill: Callable[[], None] = lambda: None
        self._lists: dict[str, _Reply] = {}
        super().__init__(_ProxyHandler)

    @property
    def endpoint(self) -> str:
        return f"http://{self.address}"

    def upstream_of(self, authorization: str) -> str:
        """The server for a request that is signed so: the scope of a signature names the service."""
        return (
            self._s3 if "/s3/aws4_request" in authorization else self.upstream
        )

    def start(self, plan: Plan) -> None:
        """Break requests by this plan from now on."""
        self._lists.clear()
        self.plan = plan

    def remembered(self, path: str, reply: _Reply) -> _Reply:
        """The answer that this listing had the last time, and for the next time this one."""
        before = self._lists.get(path, reply)
        self._lists[path] = reply
        return before


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes
    length: str


class _ProxyHandler(LoopbackHandler):
    """Reads a request whole, asks for its fate, and answers or does not."""

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it by this name
        self._pass()

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    @property
    def proxy(self) -> FaultProxy:
        owner: FaultProxy = self.server.owner  # type: ignore[attr-defined]  # set by LoopbackServer
        return owner

    def _pass(self) -> None:
        body = self.body()
        call = call_of(self.command, self.path, self.headers)
        fate = self.proxy.plan.fate(self.proxy.function, call)
        match fate:
            case "drop" | "kill before":
                return self._vanish(fate)
            case "409" | "429" | "500" | "503":
                return self._refuse(call, fate)
            case "garbage":
                return self.answer(
                    200, b'{"id": "chatcmpl-1", "choices": [{"ind'
                )
            case "delay":
                time.sleep(DELAY_SECONDS)
            case "twice":
                self._forward(body)
        reply = self._forward(body)
        if fate in ("reset", "kill after"):
            return self._vanish(fate)
        if call.what.startswith("LIST"):
            before = self.proxy.remembered(self.path, reply)
            reply = before if fate == "stale" else reply
        return self._relay(reply, truncated=fate == "truncated")

    def _forward(self, body: bytes) -> _Reply:
        upstream = self.proxy.upstream_of(
            self.headers.get("Authorization", "")
        )
        with closing(HTTPConnection(upstream, timeout=60)) as connection:
            connection.request(
                self.command, self.path, body, dict(self.headers.items())
            )
            # The answer has a hold of the socket of its own, which a read that fails would leave open.
            with closing(connection.getresponse()) as response:
                return _read(response)

    def _relay(self, reply: _Reply, *, truncated: bool) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", reply.length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(
                reply.body[: len(reply.body) // 2] if truncated else reply.body
            )
        self.close_connection |= truncated

    def _refuse(self, call: Call, status: str) -> None:
        if call.service == "s3":
            name = S3_ERRORS[status]
            text = f"<?xml version='1.0'?><Error><Code>{name}</Code><Message>by plan</Message></Error>"
            return self.answer(
                int(status), text.encode(), {"Content-Type": "application/xml"}
            )
        headers = {"Retry-After": "0"} if status == "429" else {}
        return self.answer_json(
            int(status),
            {"error": {"message": "by plan", "code": status}},
            headers,
        )

    def _vanish(self, fate: str) -> None:
        """Close the connection without a word; where the plan says so, the function has died of it."""
        if fate.startswith("kill"):
            self.proxy.kill()
        self.close_connection = True
        with suppress(OSError):
            self.connection.close()


def _read(response: HTTPResponse) -> _Reply:
    body = response.read()
    headers = {
        name: value
        for name, value in response.getheaders()
        if name.lower() not in HOP_BY_HOP
    }
    length = response.headers.get("Content-Length") or str(
        len(body)
    )  # a HEAD's is the object's
    return _Reply(response.status, headers, body, length)


def call_of(method: str, path: str, headers: Mapping[str, str]) -> Call:
    """What a request asks for, and which faults it can meet."""
    target = headers.get("X-Amz-Target", "")
    if target.startswith("AmazonSQS."):
        return Call("sqs", target.removeprefix("AmazonSQS."), EVERYWHERE)
    if path.startswith("/v1/"):
        return Call("model", path, (*EVERYWHERE, *OF_MODELS))
    parts = urlsplit(path)
    query = parse_qs(parts.query)
    if method == "GET" and "list-type" in query:
        return Call(
            "s3",
            f"LIST {_plain(query.get('prefix', [''])[0])}",
            (*EVERYWHERE, "stale"),
        )
    what = f"{method} {_plain(parts.path)}"
    if method == "GET":
        return Call("s3", what, (*EVERYWHERE, "truncated"))
    conditional = any(
        name in headers for name in ("If-None-Match", "If-Match")
    )
    return Call(
        "s3", what, (*EVERYWHERE, *CONDITIONAL) if conditional else EVERYWHERE
    )


def _plain(key: str) -> str:
    """The key without what is random or counts up in it."""
    return re.sub(r"[0-9a-f]{12,}|[0-9a-f-]{32,}|\d{4,}", "*", key)
