"""Import LanceDB without the REST client it never uses here, which takes most of its import time.

`lancedb` imports `lance_namespace_urllib3_client`, whose `api` modules build several hundred pydantic
validators when they are imported. Stand-ins take their place during the import; whoever does call
one of the classes gets the real one, loaded then.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

_CLIENT = "lance_namespace_urllib3_client"
_API = f"{_CLIENT}.api"


class _Deferred:
    """A class of the client: the real one is imported when it is first called."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(self._module), self._name)(
            *args, **kwargs
        )


class _StandIn(ModuleType):
    """A module whose classes are all deferred."""

    __path__: list[str] = []  # noqa: RUF012 - makes it a package, as the import system reads it

    def __getattr__(self, name: str) -> _Deferred:
        if not name[:1].isupper():
            raise AttributeError(name)
        return _Deferred(self.__name__, name)


@contextmanager
def without_rest_client() -> Iterator[None]:
    """Put stand-ins in place of the client's `api` modules while the block imports LanceDB.

    Does nothing where the client is loaded already or is not laid out as it is known to be.
    """
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
    return [_API, *(f"{_API}.{path.stem}" for path in sorted(folder.glob("*_api.py")))]
