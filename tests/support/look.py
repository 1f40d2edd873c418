"""Memories to look at, and a client of the pages."""

from __future__ import annotations

import http.cookiejar
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from varve import Memory
from varve.look.links import Target, server_address, target
from varve.look.server import ASSETS, LookServer, running
from varve.look.site import Page, Site

NOW = datetime(2026, 4, 20, 10, tzinfo=UTC)
SAID = (
    (
        "2025-11-03T09:00:00Z",
        "u-dana",
        "Dana",
        "I'm Dana Whitfield. I live in Leeds.",
    ),
    ("2026-02-23T09:15:00Z", "u-dana", "Dana", "I moved to Lisbon last week."),
    (
        "2026-03-02T09:15:00Z",
        "u-marco",
        "Marco",
        "I work at Kestrel Logistics.",
    ),
    (
        "2026-04-14T18:00:00Z",
        "u-dana",
        "Dana",
        "I moved to Porto. I like fado.",
    ),
    ("2026-04-19T08:30:00Z", None, "Guest", "The boiler was repaired."),
)
"""What was said, by whom and when; each line is a conversation."""


def conversation(
    number: int, at: str, user: str | None, name: str, content: str
) -> dict[str, Any]:
    message = {
        "id": f"m-{number}",
        "role": "user",
        "name": name,
        "content": content,
        "timestamp": at,
        "state": "planning",
    }
    given = {"conversationId": f"c-{number}", "messages": [message]}
    return given if user is None else {**given, "userId": user}


def open_empty(store: Path) -> Memory:
    """A memory without a word, in a workspace that keeps all."""
    memory = Memory.open(
        store, workspace="acme", agent="support", now=NOW, environment={}
    )
    for grain in (
        "working",
        "daily",
        "weekly",
        "monthly",
        "quarterly",
        "yearly",
    ):
        memory.configure(f"retention.{grain}", "50 years")
    return memory


def open_told(store: Path) -> Memory:
    """A memory of five conversations, with its summaries and an episode's outcome."""
    memory = open_empty(store)
    memory.ingest([conversation(n, *line) for n, line in enumerate(SAID)])
    memory.record_outcome("c-1", "SUCCESS", decision="Booked the movers.")
    memory.notes.put("projects/lisbon.md", "Dana rents a flat in Graça.")
    put = memory.notes.put("kestrel.md", "Ask for HR.", user_id="u-marco")
    memory.notes.put(
        put.path, "Ask for Ana.", version=put.version, user_id="u-marco"
    )
    memory.set_profile("location", "Porto", user_id="u-dana")
    memory.summarize()
    return memory


def open_costly(store: Path) -> Memory:
    """An empty memory whose agent has asked models, this month and the one before."""
    memory = open_empty(store)
    count_models(memory)
    return memory


def count_models(memory: Memory) -> None:
    """Count a million tokens of a model, and some of one without a price."""
    meter = memory.sessions.meter
    used = SimpleNamespace(prompt_tokens=1_000_000)
    with meter.serve(memory.scope, "summarize", NOW - timedelta(days=40)):
        meter.add_model("gpt-4o-mini", used)
    with meter.serve(memory.scope, "extract", NOW):
        meter.add_model("gpt-4.1-mini", used)
        meter.add_model("gpt-4o-mini", used)
        meter.add_embedding("home-grown", used)
    memory.close()


def site_of(memory: Memory) -> Site:
    return Site(memory, "./memory", server_address, assets=ASSETS)


def page_of(memory: Memory, page: str, *keys: str, **options: object) -> Page:
    where: Target = target(page, *keys, **options)
    return site_of(memory).page(where)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """A browser's part: it keeps cookies, and follows redirects unless `follows` is False."""

    def __init__(self, server: LookServer, *, follows: bool = True) -> None:
        self.base = f"http://127.0.0.1:{server.server_port}"
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        handlers = [jar] if follows else [jar, _NoRedirect()]
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        request = urllib.request.Request(self.base + path, method=method)
        for name, value in headers.items():
            request.add_header(name, value)
        try:
            with self._opener.open(request) as response:
                body = response.read().decode()
                return Answer(response.status, dict(response.headers), body)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(
                    error.code, dict(error.headers), error.read().decode()
                )


@contextmanager
def served(memory: Memory) -> Iterator[LookServer]:
    """Serve a memory's pages until the block ends."""
    with running(LookServer(site_of(memory))) as server:
        yield server


def let_in(server: LookServer) -> Client:
    """Return a client that has opened the address with the token."""
    client = Client(server)
    assert client.get(f"/?token={server.token}").status == 200
    return client
