"""Checkpoints: model answers kept under `payloads/`, so that a retry asks no model again."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from varve.domain.errors import Retryable
from varve.ports.objects import Objects, StoredObject

T = TypeVar("T")


def once(
    key: str,
    ask: Callable[[], T],
    *,
    encode: Callable[[T], dict[str, object]],
    decode: Callable[[Any], T],
    objects: Objects,
) -> T:
    """Return the answer kept under `key`; if there is none, ask and keep the answer.

    The answer is kept as JSON. Two concurrent callers both get the answer that was kept
    first. A checkpoint that `decode` cannot read (KeyError, TypeError, ValueError) is
    replaced. Raises what `ask` and the objects raise, and Retryable: the other caller's
    checkpoint was deleted before it could be read.
    """
    stored = objects.get(key)
    known = _decode(stored, decode)
    if known is not None:
        return known
    answer = ask()
    data = json.dumps(encode(answer), ensure_ascii=False).encode()
    etag = stored.etag if stored else None
    if objects.put_if(key, data, etag):
        return answer
    kept = _decode(objects.get(key), decode)
    if kept is None:
        raise Retryable(f"the checkpoint {key} changed while it was written")
    return kept


def _decode(
    stored: StoredObject | None, decode: Callable[[Any], T]
) -> T | None:
    """Return the stored answer; None: nothing is stored, or it cannot be read."""
    if stored is None:
        return None
    try:
        return decode(json.loads(stored.data))
    except (KeyError, TypeError, ValueError):
        return None
