"""SearchFunction's real handler on a directory, for callers that a test plays."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest


class Search(Protocol):
    """Invokes the function; `custom` is the invocation's client context."""

    def __call__(
        self, event: Any, custom: Mapping[str, Any] | None = None
    ) -> Any: ...


@contextmanager
def serve_search(
    store: Path, monkeypatch: pytest.MonkeyPatch, identities: str = "{}"
) -> Iterator[Search]:
    """Give the handler with the environment of a function."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Varve")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    monkeypatch.setenv("VARVE_STORE", str(store))
    monkeypatch.setenv("VARVE_IDENTITIES", identities)
    app = importlib.import_module("functions.search.app")
    app.sessions.cache_clear()

    def search(event: Any, custom: Mapping[str, Any] | None = None) -> Any:
        context = SimpleNamespace(
            function_name="f",
            memory_limit_in_mb=1,
            invoked_function_arn="a",
            aws_request_id="r",
            client_context=custom and SimpleNamespace(custom=custom),
        )
        return app.lambda_handler(event, context)

    yield search
    app.sessions.cache_clear()
