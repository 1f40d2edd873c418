"""User profiles, one JSON object each, replaced by conditional puts."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from varve.domain.damage import intact
from varve.domain.errors import Contended
from varve.domain.identity import Scope, digest, reference
from varve.domain.profile import (
    ProfileEntry,
    entry_as_json,
    entry_from_json,
    merge_entries,
    sort_entries,
)
from varve.ports.objects import Objects

MAX_PROFILE_RACES = 20


class JsonProfiles:
    """The ProfileReader and ProfileWriter ports over JSON objects.

    Their keys are `profiles/{workspace}/{agent}/{hash of the user's id}.json`.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def entries(self, scope: Scope, user_id: str) -> list[ProfileEntry]:
        entries, _ = self._load(profile_path(scope, user_id))
        return entries

    def users(self, scope: Scope) -> list[str]:
        users = []
        for info in list(self._objects.list(f"profiles/{scope}")):
            stored = self._objects.get(info.key)
            if stored is not None:
                user_id = _read_user(info.key, stored.data)
                users.append(user_id)
        return sorted(users)

    def apply(
        self, scope: Scope, user_id: str, entries: Sequence[ProfileEntry]
    ) -> int:
        key = profile_path(scope, user_id)
        for _ in range(MAX_PROFILE_RACES):
            stored, etag = self._load(key)
            before = merge_entries(stored)
            after = merge_entries(before.values(), entries)
            if after == before:
                return 0
            ordered = sort_entries(after.values())
            rows = [entry_as_json(entry) for entry in ordered]
            data = _encode({"userId": user_id, "entries": rows})
            if self._objects.put_if(key, data, etag):
                return len(after) - len(before)
        raise Contended(
            f"profiles {scope}: lost {MAX_PROFILE_RACES} races for one of them"
        )

    def erase(self, scope: Scope, entry_ids: Iterable[str]) -> int:
        doomed = frozenset(entry_ids)
        erased = 0
        for info in self._objects.list(f"profiles/{scope}"):
            erased += self._erase_from(info.key, doomed)
        return erased

    def _erase_from(self, key: str, doomed: frozenset[str]) -> int:
        """Remove these entries from one profile; return how many there were.

        A profile without entries is deleted.
        """
        for _ in range(MAX_PROFILE_RACES):
            stored = self._objects.get(key)
            if stored is None:
                return 0
            with intact(key):
                body = json.loads(stored.data)
                rows = body["entries"]
                left = [
                    row
                    for row in rows
                    if entry_from_json(row).id not in doomed
                ]
            erased = len(rows) - len(left)
            if not erased:
                return 0
            if not left:
                self._objects.delete([key])
                return erased
            data = _encode(body | {"entries": left})
            if self._objects.put_if(key, data, stored.etag):
                return erased
        raise Contended(
            f"profiles: lost {MAX_PROFILE_RACES} races for one of them"
        )

    def _load(self, key: str) -> tuple[list[ProfileEntry], str | None]:
        """Return the entries and the etag they were read under. Raises Damaged."""
        stored = self._objects.get(key)
        if stored is None:
            return [], None
        with intact(key):
            rows = json.loads(stored.data)["entries"]
            return [entry_from_json(row) for row in rows], stored.etag


def _encode(body: dict[str, Any]) -> bytes:
    # Without indentation: Python's fast encoder has none.
    text = json.dumps(body, ensure_ascii=False)
    return text.encode()


def _read_user(key: str, data: bytes) -> str:
    with intact(key):
        body = json.loads(data)
        return str(body["userId"])


def profile_path(scope: Scope, user_id: str) -> str:
    """Return the key of a user's profile.

    The user's id is hashed, because it may hold characters that a path must not have.
    """
    name = digest(reference(user_id, "userId"), length=32)
    return f"profiles/{scope}/{name}.json"
