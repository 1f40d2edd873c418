"""What a model answered, kept under `payloads/`, so that what is delivered again is not asked again."""

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
    """What is kept under the key, or else the answer, which is kept there as JSON values.

    Of two callers at once both use what the first one kept. A checkpoint that `decode` cannot read
    (KeyError, TypeError, ValueError) is replaced. Raises what `ask` and the objects do, and Retryable:
    another caller's checkpoint was lost between its write and our read.
    """
    stored = objects.get(key)
    known = _decoded(stored, decode)
    if known is not None:
        return known
    answer = ask()
    data = json.dumps(encode(answer), ensure_ascii=False).encode()
    if objects.put_if(key, data, stored.etag if stored else None):
        return answer
    winners = _decoded(objects.get(key), decode)
    if winners is None:
        raise Retryable(f"the checkpoint {key} changed while it was written")
    return winners


def _decoded(stored: StoredObject | None, decode: Callable[[Any], T]) -> T | None:
    """None: nothing is stored, or nothing that can be read."""
    if stored is None:
        return None
    try:
        return decode(json.loads(stored.data))
    except (KeyError, TypeError, ValueError):
        return None
