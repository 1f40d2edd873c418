"""What LanceDB asks of S3, passed on to a meter."""

from collections import Counter
from threading import Lock

from lancedb.otel import (
    register_lancedb_metrics_recorder,
    snapshot_lancedb_metrics,
)

from varve.domain.usage import Item
from varve.ports.meter import Meter

_ITEMS = {
    ("lance_object_store_requests_total", "get"): Item.GETS,
    ("lance_object_store_requests_total", "head"): Item.GETS,
    ("lance_object_store_requests_total", "put"): Item.PUTS,
    ("lance_object_store_requests_total", "list"): Item.LISTS,
    ("lance_object_store_requests_total", "delete"): Item.DELETES,
    ("lance_object_store_request_bytes_total", "get"): Item.BYTES_READ,
    ("lance_object_store_request_bytes_total", "put"): Item.BYTES_WRITTEN,
}
_reported: Counter[Item] = Counter()
_lock = Lock()


def count_requests(meter: Meter | None) -> None:
    """Count what LanceDB has asked of S3 since the last call, for the caller's purpose.

    LanceDB counts for the process: the sums are exact, and what threads ask at the same
    time may be counted for either's purpose. A retry by the client is not seen.
    """
    if meter is None or not register_lancedb_metrics_recorder():
        return
    for item, number in _take_fresh().items():
        meter.add(item, number)


def begin_counting(meter: Meter | None) -> None:
    """Start to count for a meter: what was asked before belongs to no purpose of it."""
    if meter is not None and register_lancedb_metrics_recorder():
        _take_fresh()


def _take_fresh() -> Counter[Item]:
    with _lock:
        current: Counter[Item] = Counter()
        for point in snapshot_lancedb_metrics():
            item = _ITEMS.get(
                (point.name, point.attributes.get("operation", ""))
            )
            if item and point.attributes.get("base") == "s3":
                current[item] += int(point.value)
        fresh = current - _reported
        _reported.update(fresh)
    return fresh
