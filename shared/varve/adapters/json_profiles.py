"""Each user's profile in one JSON object, replaced under the condition that nobody else did."""

import json
from collections.abc import Iterable, Sequence

from varve.domain.damage import intact
from varve.domain.errors import Retryable
from varve.domain.identity import Scope, digest, reference
from varve.domain.profile import (
    ProfileEntry,
    entry_as_json,
    entry_from_json,
    merge_entries,
    sort_entries,
)
from varve.ports.objects import Objects

MAX_RACES = 20


class JsonProfiles:
    """ProfileReader and ProfileWriter over `profiles/{workspace}/{agent}/{hash of the user}.json`."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def entries(self, scope: Scope, user_id: str) -> list[ProfileEntry]:
        return self._load(profile_path(scope, user_id))[0]

    def users(self, scope: Scope) -> list[str]:
        keys = [info.key for info in self._objects.list(f"profiles/{scope}")]
        found = ((key, stored) for key in keys if (stored := self._objects.get(key)))
        return sorted(_whose(key, stored.data) for key, stored in found)

    def apply(self, scope: Scope, user_id: str, entries: Sequence[ProfileEntry]) -> int:
        key = profile_path(scope, user_id)
        for _ in range(MAX_RACES):
            stored, etag = self._load(key)
            known = merge_entries(stored)
            together = merge_entries(stored, entries)
            if together == known:
                return 0
            lines = [entry_as_json(entry) for entry in sort_entries(together.values())]
            data = json.dumps(
                {"userId": user_id, "entries": lines}, ensure_ascii=False, indent=1
            ).encode()
            if self._objects.put_if(key, data, etag):
                return len(together) - len(known)
        raise Retryable(f"profiles {scope}: lost {MAX_RACES} races for one of them")

    def erase(self, scope: Scope, entry_ids: Iterable[str]) -> int:
        doomed = frozenset(entry_ids)
        return sum(
            self._without(info.key, doomed)
            for info in self._objects.list(f"profiles/{scope}")
        )

    def _without(self, key: str, doomed: frozenset[str]) -> int:
        """A profile without these statements, or where it has no others none; how many there were."""
        for _ in range(MAX_RACES):
            stored = self._objects.get(key)
            with intact(key):
                body = json.loads(stored.data) if stored else {"entries": []}
                left = [
                    row
                    for row in body["entries"]
                    if entry_from_json(row).id not in doomed
                ]
            gone = len(body["entries"]) - len(left)
            if gone and not left:
                self._objects.delete([key])
                return gone
            data = json.dumps(
                body | {"entries": left}, ensure_ascii=False, indent=1
            ).encode()
            if not gone or (stored and self._objects.put_if(key, data, stored.etag)):
                return gone
        raise Retryable(f"profiles: lost {MAX_RACES} races for one of them")

    def _load(self, key: str) -> tuple[list[ProfileEntry], str | None]:
        """The statements, and the version they were read from. Raises Damaged."""
        stored = self._objects.get(key)
        if stored is None:
            return [], None
        with intact(key):
            return [
                entry_from_json(entry) for entry in json.loads(stored.data)["entries"]
            ], stored.etag


def _whose(key: str, data: bytes) -> str:
    with intact(key):
        return str(json.loads(data)["userId"])


def profile_path(scope: Scope, user_id: str) -> str:
    """Where a user's profile lies; a user's id may hold characters that no path should."""
    return f"profiles/{scope}/{digest(reference(user_id, 'userId'), length=32)}.json"
