"""The contract of profiles, on a directory, on S3 and in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest

from tests.support.builders import MORNING
from tests.support.s3 import s3_server
from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.json_profiles import (
    MAX_PROFILE_RACES,
    JsonProfiles,
    profile_path,
)
from varve.adapters.objects.store import local_objects, s3_objects
from varve.domain.current_profile import select_current_entries
from varve.domain.damage import Damaged
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.profile import ProfileEntry, sort_entries
from varve.ports.objects import Objects, StoredObject

SCOPE = Scope("acme", "support")
BUCKET = "varve-test"
prefixes = (f"prefix-{number}" for number in count())
Opener = Callable[[], Objects]


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


@pytest.fixture(params=["memory", "directory", "s3"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Open the same store again, as another process would."""
    if request.param == "memory":
        shared = InMemoryObjects()
        return lambda: shared
    if request.param == "directory":
        return lambda: local_objects(tmp_path / "store")
    request.getfixturevalue("moto")
    prefix = next(prefixes)
    return lambda: s3_objects(BUCKET, prefix)


def said(value: str, number: int = 0, **given: object) -> ProfileEntry:
    entry = ProfileEntry(
        "u-42",
        "preferences",
        value,
        MORNING,
        MORNING,
        "c-1",
        (f"m{number}",),
        "Dana",
    )
    return replace(entry, **given)  # type: ignore[arg-type]


def test_another_process_reads_the_entries_in_order(opened: Opener) -> None:
    told = [
        said("tea “strong” 用", 1),
        said("short answers", 2, event_time=MORNING.replace(hour=1)),
    ]
    assert JsonProfiles(opened()).apply(SCOPE, "u-42", told) == 2
    assert JsonProfiles(opened()).entries(SCOPE, "u-42") == sort_entries(told)


def test_a_user_without_entries_has_no_profile(opened: Opener) -> None:
    profiles = JsonProfiles(opened())
    assert profiles.entries(SCOPE, "u-42") == []
    assert profiles.apply(SCOPE, "u-42", []) == 0
    assert list(opened().list("profiles")) == []


def test_invariant_2_applying_again_writes_nothing(opened: Opener) -> None:
    profiles = JsonProfiles(opened())
    profiles.apply(SCOPE, "u-42", [said("tea")])
    before = opened().get(profile_path(SCOPE, "u-42"))
    assert (
        profiles.apply(
            SCOPE,
            "u-42",
            [said("tea"), said("tea", created_at=MORNING.replace(year=2030))],
        )
        == 0
    )
    assert opened().get(profile_path(SCOPE, "u-42")) == before


def test_each_user_and_agent_has_a_separate_profile(opened: Opener) -> None:
    profiles, other = JsonProfiles(opened()), Scope("acme", "sales")
    profiles.apply(SCOPE, "u-42", [said("tea")])
    profiles.apply(SCOPE, "u-4", [said("coffee", user_id="u-4")])
    profiles.apply(other, "u-42", [said("water")])
    assert [e.value for e in profiles.entries(SCOPE, "u-42")] == ["tea"]
    assert [e.value for e in profiles.entries(SCOPE, "u-4")] == ["coffee"]
    assert [e.value for e in profiles.entries(other, "u-42")] == ["water"]
    assert len(list(opened().list(f"profiles/{SCOPE}"))) == 2


def test_invariant_4_concurrent_writers_lose_nothing(opened: Opener) -> None:
    start = Barrier(4)

    def write(number: int) -> int:
        profiles = JsonProfiles(opened())
        start.wait()
        return sum(
            profiles.apply(SCOPE, "u-42", [said(f"{number}-{n}", number)])
            for n in range(3)
        )

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(write, range(4))) == 12
    held = select_current_entries(
        JsonProfiles(opened()).entries(SCOPE, "u-42"), MORNING
    )
    assert {entry.value for entry in held} == {
        f"{number}-{n}" for number in range(4) for n in range(3)
    }


def test_erase_removes_entries_and_empty_profiles(opened: Opener) -> None:
    JsonProfiles(opened()).apply(
        SCOPE, "auth0|42", [said("tea", user_id="auth0|42")]
    )
    stored = opened().get(profile_path(SCOPE, "auth0|42"))
    assert stored is not None
    document = json.loads(stored.data)
    assert document["userId"] == "auth0|42"
    assert [
        (e["conversationId"], e["messageIds"]) for e in document["entries"]
    ] == [("c-1", ["m0"])]


def test_an_invalid_id_is_refused_before_any_path_is_built(
    opened: Opener,
) -> None:
    for user_id in ("", "a/b", "..", "a b"):
        with pytest.raises(Rejected, match="userId"):
            JsonProfiles(opened()).apply(SCOPE, user_id, [said("tea")])


class AlwaysLate(InMemoryObjects):
    """Objects that another writer changes before every conditional put."""

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        return False

    def get(self, key: str) -> StoredObject | None:
        return None


def test_a_writer_that_loses_every_race_raises_retryable() -> None:
    entries: Sequence[ProfileEntry] = [said("tea")]
    with pytest.raises(Retryable, match=str(MAX_PROFILE_RACES)):
        JsonProfiles(AlwaysLate()).apply(SCOPE, "u-42", entries)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"entries": [{}]}']
)
def test_every_method_names_a_damaged_profile(data: bytes) -> None:
    objects = InMemoryObjects()
    profiles, key = JsonProfiles(objects), profile_path(SCOPE, "u-42")
    objects.put(key, data)
    for verb in (
        lambda: profiles.entries(SCOPE, "u-42"),
        lambda: profiles.users(SCOPE),
        lambda: profiles.erase(SCOPE, ["profile-1"]),
    ):
        with pytest.raises(Damaged, match=key):
            verb()
