"""Import LanceDB without its warnings, and without its REST client.

LanceDB reads LANCEDB_LOG once, on import. Its warnings on stderr tell nothing that the
errors of this library do not; an operator's own setting stays.

`lancedb` imports `lance_namespace_urllib3_client`, whose `api` and `models` modules build
several hundred pydantic validators and models. They take most of the import time, and
Varve never uses that client. Stand-in modules replace them during the import.
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
_PACKAGES = ("api", "models")


class _LateClass(type):
    """The type of a class that stands for one of a module not yet imported."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._real()(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._real())

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(cls._real(), name)

    def _real(cls) -> Any:
        return getattr(importlib.import_module(cls.__module__), cls.__name__)


class _StandIn(ModuleType):
    """A stand-in module. The first use of one of its classes imports the real one."""

    __path__: list[str] = []  # noqa: RUF012 - marks a package

    def __getattr__(self, name: str) -> type:
        if not name[:1].isupper():
            raise AttributeError(name)
        return _LateClass(name, (), {"__module__": self.__name__})


@contextmanager
def without_rest_client() -> Iterator[None]:
    """Replace the client's `api` and `models` modules by stand-ins while the block imports LanceDB.

    Does nothing if the client is already loaded or has an unknown layout.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    names = [] if _API in sys.modules else _list_modules()
    sys.modules.update({name: _StandIn(name) for name in names})
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def _list_modules() -> list[str]:
    spec = importlib.util.find_spec(_CLIENT)
    if spec is None or spec.origin is None:
        return []
    names: list[str] = []
    for package in _PACKAGES:
        folder = Path(spec.origin).parent / package
        modules = sorted(path.stem for path in folder.glob("[a-z]*.py"))
        names.append(f"{_CLIENT}.{package}")
        names += [f"{_CLIENT}.{package}.{module}" for module in modules]
    return names
