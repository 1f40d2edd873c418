"""The objects that hold logged questions: `searches/{workspace}/{agent}/{day}/….jsonl`.

Each has the rows of one flush. `key.json` beside the days is the key of the hashes.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from uuid import uuid4

from varve.domain.calendar import Grain
from varve.domain.damage import intact
from varve.domain.identity import Scope
from varve.domain.retention import oldest_kept, timeline_limit
from varve.domain.searches import SearchRow, search_row_from_json
from varve.ports.objects import Objects
from varve.usecases.session import Session

AREA = "searches"
_ROWS = ".jsonl"


def put_rows(
    scope: Scope, day: str, rows: Iterable[SearchRow], *, objects: Objects
) -> None:
    """Store the rows of a local day as a new object. Raises Retryable."""
    name = f"{uuid4().hex}{_ROWS}"
    objects.put(f"{AREA}/{scope}/{day}/{name}", _encode(rows))


def read_rows(
    scope: Scope, *, objects: Objects
) -> Iterator[tuple[str, list[SearchRow]]]:
    """Yield each object's key and rows, by day. Raises Damaged, Retryable."""
    for info in objects.list(f"{AREA}/{scope}"):
        stored = objects.get(info.key) if info.key.endswith(_ROWS) else None
        if stored is not None:
            with intact(info.key):
                values = map(json.loads, stored.data.splitlines())
                yield info.key, list(map(search_row_from_json, values))


def drop_rows(
    scope: Scope, is_gone: Callable[[SearchRow], bool], *, objects: Objects
) -> set[str]:
    """Delete the rows for which `is_gone` is true; return their ids. Raises Retryable."""
    gone: set[str] = set()
    for key, rows in list(read_rows(scope, objects=objects)):
        kept = [row for row in rows if not is_gone(row)]
        if len(kept) == len(rows):
            continue
        left = {row.id for row in kept}
        gone.update({row.id for row in rows} - left)
        # Without a row it stays empty: a function that logs may delete nothing.
        objects.put(key, _encode(kept))
    return gone


def read_key(scope: Scope, *, objects: Objects) -> str:
    """Return the key of the agent's hashes, made on its first use. Raises Retryable."""
    place = f"{AREA}/{scope}/key.json"
    stored = objects.get(place)
    if stored is None:
        made = json.dumps({"key": uuid4().hex})
        objects.put_if(place, made.encode(), None)
        stored = objects.get(place)
    with intact(place):
        return str(json.loads(stored.data)["key"]) if stored else ""


def expire_searches(session: Session) -> None:
    """Delete the days past the timeline's limit. Raises Retryable."""
    config = session.config
    own = config.retention.timeline_limit
    limit = timeline_limit(config.plan, own, session.now, session.zone)
    oldest = oldest_kept(Grain.DAILY, limit, session.now, session.zone).label
    folder = f"{AREA}/{session.scope}"
    expired: list[str] = []
    for day in session.objects.folders(folder):
        if day < oldest:
            expired += [
                info.key for info in session.objects.list(f"{folder}/{day}")
            ]
    if expired:
        session.objects.delete(expired)


def _encode(rows: Iterable[SearchRow]) -> bytes:
    lines = [
        json.dumps(row.as_json(), ensure_ascii=False) + "\n" for row in rows
    ]
    return "".join(lines).encode()
