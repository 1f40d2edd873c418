"""The record in the store of where a workspace is published, so that erasure goes there."""

import json
from collections.abc import Callable

from varve.domain.damage import intact
from varve.domain.errors import Contended
from varve.domain.publishing import Targets, targets_from_json
from varve.ports.objects import Objects

MAX_RACES = 20


def targets_key(workspace: str) -> str:
    """Return the key of the record."""
    return f"audit/{workspace}/published.json"


def read_targets(workspace: str, *, objects: Objects) -> Targets:
    """Return where the workspace is published. Raises Damaged, Retryable."""
    return _read(workspace, objects)[0]


def change_targets(
    workspace: str, change: Callable[[Targets], Targets], *, objects: Objects
) -> Targets:
    """Apply `change` to the record; return the result.

    If another process changes it meanwhile, `change` is applied again to the new one.
    Raises Contended: it lost `MAX_RACES` races; Damaged, Retryable.
    """
    for _ in range(MAX_RACES):
        known, etag = _read(workspace, objects)
        changed = change(known)
        if changed == known:
            return known
        data = json.dumps(changed.as_json(), indent=2).encode()
        if objects.put_if(targets_key(workspace), data, etag):
            return changed
    raise Contended(f"publish targets of {workspace}: lost {MAX_RACES} races")


def _read(workspace: str, objects: Objects) -> tuple[Targets, str | None]:
    key = targets_key(workspace)
    stored = objects.get(key)
    if stored is None:
        return Targets(), None
    with intact(key):
        return targets_from_json(json.loads(stored.data)), stored.etag
