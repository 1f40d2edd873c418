"""Import LanceDB without its warnings, and without its REST client.

LanceDB reads LANCEDB_LOG once, on import. Its warnings on stderr tell nothing that the
errors of this library do not; an operator's own setting stays.

The REST client takes most of the import time.

`lancedb` imports `lance_namespace_urllib3_client`, whose `api` modules build several
hundred pydantic validators on import. Varve never uses that client. Stand-in modules
replace it during the import. Calling one of their classes imports the real one.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

_CLIENT = "lance_namespace_urllib3_client"
_API = f"{_CLIENT}.api"


class _Deferred:
    """A stand-in for a class of the client; imports the real class when called."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        real = getattr(importlib.import_module(self._module), self._name)
        return real(*args, **kwargs)


class _StandIn(ModuleType):
    """A stand-in module whose classes are all deferred."""

    __path__: list[str] = []  # noqa: RUF012 - marks a package

    def __getattr__(self, name: str) -> _Deferred:
        if not name[:1].isupper():
            raise AttributeError(name)
        return _Deferred(self.__name__, name)


@contextmanager
def without_rest_client() -> Iterator[None]:
    """Replace the client's `api` modules by stand-ins while the block imports LanceDB.

    Does nothing if the client is already loaded or has an unknown layout.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    names = [] if _API in sys.modules else _api_modules()
    sys.modules.update({name: _StandIn(name) for name in names})
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def _api_modules() -> list[str]:
    spec = importlib.util.find_spec(_CLIENT)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent / "api"
    names = sorted(path.stem for path in folder.glob("*_api.py"))
    return [_API, *(f"{_API}.{name}" for name in names)]
