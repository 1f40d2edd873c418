"""The tombstones of an agent: every batch is checked against them before it is stored."""

import json
from collections.abc import Callable
from uuid import uuid4

from varve.domain.erasure import Tombstones, tombstones_from_json
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.ports.objects import Objects

MAX_TOMBSTONE_RACES = 20


def load(scope: Scope, *, objects: Objects) -> Tombstones:
    """Return the agent's tombstones. Raises Retryable."""
    return _read(scope, objects)[0]


def extend(
    scope: Scope, change: Callable[[Tombstones], Tombstones], *, objects: Objects
) -> Tombstones:
    """Apply `change` to an agent's tombstones; return the result.

    If another process changes them meanwhile, `change` is applied again to the new ones.
    Raises Retryable: it lost `MAX_TOMBSTONE_RACES` races.
    """
    for _ in range(MAX_TOMBSTONE_RACES):
        known, etag = _read(scope, objects)
        changed = change(known if known.key else Tombstones(key=uuid4().hex))
        if changed == known:
            return known
        data = json.dumps(changed.as_json(), separators=(",", ":")).encode()
        if objects.put_if(_key(scope), data, etag):
            return changed
    raise Retryable(f"tombstones of {scope}: lost {MAX_TOMBSTONE_RACES} races")


def _read(scope: Scope, objects: Objects) -> tuple[Tombstones, str | None]:
    stored = objects.get(_key(scope))
    if stored is None:
        return Tombstones(), None
    try:
        return tombstones_from_json(json.loads(stored.data)), stored.etag
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        # Without them, forgotten data could be stored again.
        raise Retryable(f"tombstones of {scope}: the object is not readable") from error


def _key(scope: Scope) -> str:
    return f"audit/{scope.workspace}/tombstones/{scope.agent}.json"
