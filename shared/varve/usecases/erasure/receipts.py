"""Receipts of erasures: counts, times, hashes and proof, but no content."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from varve.domain.calendar import iso
from varve.domain.damage import intact
from varve.domain.identity import Scope
from varve.ports.objects import Objects


def put(
    scope: Scope, at: datetime, body: Mapping[str, Any], *, objects: Objects
) -> str:
    """Store the receipt of an erasure that began at `at`; return its key. Raises Retryable."""
    began = iso(at).replace(":", "")
    key = f"{_folder(scope)}/{began}-{uuid4().hex[:8]}.json"
    objects.put(key, json.dumps(body, indent=2).encode())
    return key


def last(scope: Scope, *, objects: Objects) -> dict[str, Any] | None:
    """Return the last erasure: its receipt, its time, and if it was complete and proved.

    `proved` is None if no proof was asked for, or nothing to look for was left. None:
    nothing was erased yet. Raises Damaged: names the key; Retryable.
    """
    # The names begin with the time, and objects are listed in order.
    keys = [info.key for info in objects.list(_folder(scope))]
    return _read(keys[-1], objects) if keys else None


def of_month(
    scope: Scope, month: str, *, objects: Objects
) -> list[dict[str, Any]]:
    """Return the erasures of a UTC month such as `2026-10`, as `last` does."""
    begin = f"{_folder(scope)}/{month}"
    keys = [info.key for info in objects.list(_folder(scope))]
    read = [_read(key, objects) for key in keys if key.startswith(begin)]
    return [one for one in read if one is not None]


def _read(key: str, objects: Objects) -> dict[str, Any] | None:
    stored = objects.get(key)
    if stored is None:
        return None
    with intact(key):
        body = json.loads(stored.data)
        proof = body["verification"]
        return {
            "receipt": key,
            "forgottenAt": str(body["forgottenAt"]),
            "complete": bool(body["complete"]),
            "proved": _proved(proof["proved"]) if proof else None,
        }


def _proved(value: object) -> bool | None:
    return None if value is None else bool(value)


def _folder(scope: Scope) -> str:
    return f"audit/{scope.workspace}/receipts/{scope.agent}"
