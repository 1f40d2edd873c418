"""Import LanceDB without its warnings, and without its REST client.

LanceDB reads LANCEDB_LOG once, on import. Its warnings on stderr tell nothing that the
errors of this library do not; an operator's own setting stays.

`lancedb` imports `lance_namespace_urllib3_client`, whose `api` modules build several
hundred pydantic validators. They take most of the import time, and Varve never uses
that client. Stand-in modules replace it during the import.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

_CLIENT = "lance_namespace_urllib3_client"
_API = f"{_CLIENT}.api"


class _StandIn(ModuleType):
    """A stand-in module. A call of one of its classes imports the real one."""

    __path__: list[str] = []  # noqa: RUF012 - marks a package

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name[:1].isupper():
            raise AttributeError(name)

        def create(*args: Any, **kwargs: Any) -> Any:
            real = getattr(importlib.import_module(self.__name__), name)
            return real(*args, **kwargs)

        return create


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
