"""The record in the store of where a workspace is published, so that erasure goes there."""

import json
from collections.abc import Callable

from varve.domain.damage import intact
from varve.domain.publishing import Targets, targets_from_json
from varve.ports.objects import Objects
from varve.usecases.write.contention import change_object


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

    Raises Contended: other processes changed it too often meanwhile; Damaged, Retryable.
    """
    return change_object(
        targets_key(workspace),
        lambda: _read(workspace, objects),
        change,
        _encode,
        objects=objects,
    )


def _encode(targets: Targets) -> bytes:
    return json.dumps(targets.as_json(), indent=2).encode()


def _read(workspace: str, objects: Objects) -> tuple[Targets, str | None]:
    key = targets_key(workspace)
    stored = objects.get(key)
    if stored is None:
        return Targets(), None
    with intact(key):
        return targets_from_json(json.loads(stored.data)), stored.etag
