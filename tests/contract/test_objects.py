"""The contract of Objects for every adapter, then tests of single adapters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from tests.support.loopback import LoopbackHandler, LoopbackServer
from tests.support.s3 import CREDENTIALS, s3_server
from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.objects.store import (
    PROBE_KEY,
    lance_options,
    local_objects,
    require_conditional_put,
    s3_objects,
)
from varve.domain.errors import Misconfigured, Retryable
from varve.ports.objects import Objects

BUCKET = "varve-test"
prefixes = (f"prefix-{number}" for number in count())


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3_server(BUCKET) as endpoint:
        yield endpoint


def point_aws_at(endpoint: str, patch: pytest.MonkeyPatch) -> None:
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": endpoint}.items():
        patch.setenv(name, value)


def in_memory(_: Path) -> Callable[[], Objects]:
    shared = InMemoryObjects()
    return lambda: shared


def directory(root: Path) -> Callable[[], Objects]:
    return lambda: local_objects(root / "store")


def s3(_: Path) -> Callable[[], Objects]:
    prefix = next(prefixes)
    return lambda: s3_objects(BUCKET, prefix)


@pytest.fixture(
    params=[in_memory, directory, s3], ids=["memory", "directory", "s3"]
)
def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[], Objects]:
    """Open the same store again, as another process would."""
    if request.param is s3:
        request.getfixturevalue("moto")
    opener: Callable[[], Objects] = request.param(tmp_path)
    return opener


@pytest.fixture
def objects(opened: Callable[[], Objects]) -> Objects:
    return opened()


def data_of(objects: Objects, key: str) -> bytes:
    stored = objects.get(key)
    assert stored is not None
    return stored.data


def etag_of(objects: Objects, key: str) -> str:
    stored = objects.get(key)
    assert stored is not None
    return stored.etag


class TestReadingAndWriting:
    @pytest.mark.parametrize(
        "data", [b"", b"words", bytes(range(256)), b"x" * 3_000_000]
    )
    def test_get_returns_the_bytes_that_were_put(
        self, objects: Objects, data: bytes
    ) -> None:
        objects.put("a/b", data)
        assert data_of(objects, "a/b") == data

    def test_another_process_reads_them_immediately(
        self, opened: Callable[[], Objects]
    ) -> None:
        opened().put("a/b", b"1")
        assert data_of(opened(), "a/b") == b"1"

    def test_a_missing_object_is_none(self, objects: Objects) -> None:
        assert objects.get("a/b") is None
        objects.put("a/b", b"1")
        assert objects.get("a/bc") is None
        assert objects.get("b/b") is None

    def test_part_returns_a_range_of_the_bytes(self, objects: Objects) -> None:
        objects.put("a/b", b"0123456789")
        assert objects.part("a/b", 0, 10) == b"0123456789"
        assert objects.part("a/b", 3, 4) == b"3456"
        assert objects.part("a/b", 8, 2) == b"89"
        assert objects.part("a/c", 0, 1) is None

    def test_a_put_replaces_the_earlier_object(self, objects: Objects) -> None:
        objects.put("a", b"first and longer")
        objects.put("a", b"second")
        assert data_of(objects, "a") == b"second"

    def test_the_tag_changes_with_the_bytes(self, objects: Objects) -> None:
        tags = set()
        for number in range(50):
            objects.put("a", b"%03d" % number)
            tags.add(etag_of(objects, "a"))
        assert len(tags) == 50

    def test_keys_may_hold_every_character_of_an_id(
        self, objects: Objects
    ) -> None:
        keys = [
            "A.b_c-9/x",
            "a.b_c-9/x",
            "0",
            "a.json",
            "a.json.json",
            "-/_",
            f"{'i' * 128}/{'j' * 128}.json",
        ]
        for key in keys:
            objects.put(key, key.encode())
        assert [data_of(objects, key) for key in keys] == [
            key.encode() for key in keys
        ]


class TestConditionalPut:
    def test_creates_a_missing_object(self, objects: Objects) -> None:
        assert objects.put_if("a/b", b"mine", None)
        assert data_of(objects, "a/b") == b"mine"

    def test_creating_an_existing_object_is_refused_and_changes_nothing(
        self, objects: Objects
    ) -> None:
        objects.put("a", b"theirs")
        assert not objects.put_if("a", b"mine", None)
        assert data_of(objects, "a") == b"theirs"

    def test_replaces_the_version_that_was_read(
        self, objects: Objects
    ) -> None:
        objects.put("a", b"one")
        assert objects.put_if("a", b"two", etag_of(objects, "a"))
        assert data_of(objects, "a") == b"two"

    def test_replacing_an_outdated_version_is_refused_and_changes_nothing(
        self, objects: Objects
    ) -> None:
        objects.put("a", b"one")
        stale = etag_of(objects, "a")
        objects.put("a", b"two")
        assert not objects.put_if("a", b"mine", stale)
        assert data_of(objects, "a") == b"two"

    def test_replacing_a_missing_object_is_refused_and_creates_nothing(
        self, objects: Objects
    ) -> None:
        objects.put("other", b"one")
        assert not objects.put_if("a", b"mine", etag_of(objects, "other"))
        assert objects.get("a") is None

    def test_a_create_whose_answer_was_lost_succeeds_on_retry(
        self, objects: Objects
    ) -> None:
        assert objects.put_if("a", b"mine", None)
        assert objects.put_if("a", b"mine", None)

    def test_a_replacement_whose_answer_was_lost_succeeds_on_retry(
        self, objects: Objects
    ) -> None:
        objects.put("a", b"one")
        read = etag_of(objects, "a")
        assert objects.put_if("a", b"two", read)
        assert objects.put_if("a", b"two", read)
        assert not objects.put_if("a", b"three", read)

    def test_exactly_one_of_several_threads_creates_an_object(
        self, opened: Callable[[], Objects]
    ) -> None:
        for number in range(12):
            key = f"race/{number}"
            winners = race(
                opened,
                lambda objects, me, key=key: objects.put_if(
                    key, b"by %d" % me, None
                ),
            )
            assert len(winners) == 1
            assert data_of(opened(), key) == b"by %d" % winners[0]

    def test_exactly_one_of_several_threads_replaces_a_version(
        self, opened: Callable[[], Objects]
    ) -> None:
        opened().put("race", b"start")
        for _ in range(12):
            read = etag_of(opened(), "race")
            winners = race(
                opened,
                lambda objects, me, read=read: objects.put_if(
                    "race", os.urandom(8) + b"by %d" % me, read
                ),
            )
            assert len(winners) == 1
            assert data_of(opened(), "race").endswith(b"by %d" % winners[0])

    def test_a_counter_with_four_writers_loses_no_increment(
        self, opened: Callable[[], Objects]
    ) -> None:
        opened().put("counter", b"0000")

        def add(objects: Objects, _: int) -> bool:
            for _ in range(10):
                while True:
                    stored = objects.get("counter")
                    assert stored is not None
                    # The writer's mark, for equal bytes would count as one's own lost acknowledgement.
                    value = b"%04d" % (int(stored.data[:4]) + 1) + os.urandom(
                        4
                    )
                    if objects.put_if("counter", value, stored.etag):
                        break
            return True

        race(opened, add)
        assert data_of(opened(), "counter")[:4] == b"0040"


def race(
    opened: Callable[[], Objects],
    act: Callable[[Objects, int], bool],
    threads: int = 4,
) -> list[int]:
    """Run threads together, each with its own store; return those whose call is True."""
    start = Barrier(threads)

    def run(me: int) -> bool:
        objects = opened()
        start.wait()
        return act(objects, me)

    with ThreadPoolExecutor(threads) as pool:
        return [
            me for me, won in enumerate(pool.map(run, range(threads))) if won
        ]


class TestListing:
    def test_lists_objects_below_a_prefix_in_order_of_keys(
        self, objects: Objects
    ) -> None:
        for key in ("a/b/d", "a/b-c", "a/B", "a/b.c/x", "a/b/c/e", "z", "0"):
            objects.put(key, key.encode())
        listed = [info.key for info in objects.list("a")]
        assert listed == ["a/B", "a/b-c", "a/b.c/x", "a/b/c/e", "a/b/d"]

    def test_a_prefix_ends_at_a_slash(self, objects: Objects) -> None:
        for key in ("a/x", "ab/x", "a-b/x", "b/a/x", "A/x"):
            objects.put(key, b"1")
        assert [info.key for info in objects.list("a")] == ["a/x"]

    def test_an_object_is_not_below_its_own_key(
        self, objects: Objects
    ) -> None:
        objects.put("a/b", b"1")
        assert list(objects.list("a/b")) == []

    def test_a_listing_has_the_size_and_an_aware_time(
        self, objects: Objects
    ) -> None:
        objects.put("a/b", b"12345")
        (info,) = objects.list("a")
        assert info.size == 5
        assert info.last_modified.tzinfo is not None

    def test_a_prefix_without_objects_lists_nothing(
        self, objects: Objects
    ) -> None:
        assert list(objects.list("a")) == []
        objects.put("b/c", b"1")
        assert list(objects.list("a")) == []

    def test_lists_more_objects_than_one_page_holds(
        self, objects: Objects
    ) -> None:
        keys = [f"a/{number:04d}" for number in range(1_050)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda key: objects.put(key, b""), keys))
        assert [info.key for info in objects.list("a")] == keys


class TestDeletingAndFolders:
    def test_deletes_existing_objects_and_ignores_missing_ones(
        self, objects: Objects
    ) -> None:
        for key in ("a/1", "a/2", "a/3"):
            objects.put(key, b"x")
        objects.delete(["a/1", "a/missing", "a/3"])
        assert [info.key for info in objects.list("a")] == ["a/2"]
        objects.delete([])
        objects.delete(["b/never"])
        assert [info.key for info in objects.list("a")] == ["a/2"]

    def test_an_exchange_puts_and_deletes_and_ignores_missing_objects(
        self, objects: Objects
    ) -> None:
        for key in ("a/old", "a/older", "a/other"):
            objects.put(key, b"x")
        objects.exchange(
            [f"a/new-{number}" for number in range(3)],
            ["a/old", "a/older", "a/never"],
        )
        assert [info.key for info in objects.list("a")] == [
            "a/new-0",
            "a/new-1",
            "a/new-2",
            "a/other",
        ]
        objects.exchange([], [])

    def test_folders_are_the_names_that_have_objects_below_them(
        self, objects: Objects
    ) -> None:
        for key in (
            "v/w1/a/x",
            "v/w1/b/x",
            "v/w1/b/y/z",
            "v/w2/c/x",
            "v/w1/file",
        ):
            objects.put(key, b"x")
        assert list(objects.folders("v/w1")) == ["a", "b"]
        assert list(objects.folders("v")) == ["w1", "w2"]
        assert list(objects.folders("nothing")) == []


class TestDirectory:
    def test_reading_does_not_create_the_directory(
        self, tmp_path: Path
    ) -> None:
        root = tmp_path / "store"
        objects = local_objects(root)
        assert objects.get("a/b") is None
        assert list(objects.list("a")) == []
        assert not objects.put_if("a/b", b"1", "some tag")
        assert not any(root.glob("a/*"))
        unread = local_objects(tmp_path / "unread")
        assert unread.get("a/b") is None
        assert list(unread.list("a")) == []
        assert not (tmp_path / "unread").exists()

    def test_the_first_write_creates_the_directory_and_its_parents(
        self, tmp_path: Path
    ) -> None:
        local_objects(tmp_path / "some" / "where").put("a/b", b"1")
        assert (tmp_path / "some" / "where" / "a" / "b").read_bytes() == b"1"

    def test_a_file_in_place_of_the_directory_is_refused(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "store").write_text("not a directory")
        with pytest.raises(Misconfigured, match=r"store: is a file"):
            local_objects(tmp_path / "store")

    def test_the_tag_depends_on_the_bytes_not_on_the_clock(
        self, tmp_path: Path
    ) -> None:
        objects = local_objects(tmp_path)
        objects.put("a", b"one")
        read = etag_of(objects, "a")
        was = (tmp_path / "a").stat()
        (tmp_path / "a").write_bytes(
            b"two"
        )  # same inode, size and, on a coarse clock, time
        os.utime(tmp_path / "a", ns=(was.st_atime_ns, was.st_mtime_ns))
        assert not objects.put_if("a", b"mine", read)
        assert data_of(objects, "a") == b"two"

    def test_no_reader_sees_half_an_object(self, tmp_path: Path) -> None:
        objects = local_objects(tmp_path)
        objects.put("a", b"0" * 500_000)

        def write(_: Objects, me: int) -> bool:
            for number in range(30):
                if me == 0:
                    objects.put("a", b"%d" % (number % 10) * 500_000)
                elif len(set(data_of(objects, "a"))) != 1:
                    return False
            return True

        assert race(lambda: objects, write, threads=3) == [0, 1, 2]


class FakeS3(LoopbackServer):
    """The part of S3 that a put needs; ignores If-None-Match, or answers `status`.

    Like Ceph's gateway, it holds the tag of If-Match as it came against its own without quotes.
    """

    def __init__(self, status: int | None = None) -> None:
        super().__init__(_FakeS3Handler)
        self.status = status
        self.stored: dict[str, bytes] = {}
        self.puts = 1


class _FakeS3Handler(LoopbackHandler):
    def do_PUT(self) -> None:  # noqa: N802 - the name http.server looks for
        owner = self._owner
        body = self.body()
        if self.headers.get("If-Match", str(owner.puts)) != str(owner.puts):
            return self.answer(412, b"")
        owner.stored[self.path] = body
        owner.puts += 1
        return self._reply(b"")

    def get(self) -> None:
        self._reply(self._owner.stored.get(self.path.partition("?")[0], b""))

    def _reply(self, body: bytes) -> None:
        headers = {
            "ETag": f'"{self._owner.puts}"',
            "Last-Modified": "Sat, 01 Aug 2026 00:00:00 GMT",
        }
        self.answer(
            self._owner.status or 200,
            b"" if self._owner.status else body,
            headers,
        )

    @property
    def _owner(self) -> Any:
        return self.server.owner  # type: ignore[attr-defined]


class TestS3:
    def test_a_server_that_ignores_if_none_match_is_refused_every_time(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with FakeS3() as server:
            point_aws_at(f"http://{server.address}", monkeypatch)
            for _ in range(3):
                with pytest.raises(
                    Misconfigured, match="If-None-Match"
                ) as raised:
                    require_conditional_put(
                        s3_objects(BUCKET, "p"), f"http://{server.address}"
                    )
                assert server.address in str(raised.value)
            assert [key for key in server.stored if PROBE_KEY in key]

    def test_a_server_that_honours_if_none_match_is_accepted_every_time(
        self, moto: str
    ) -> None:
        prefix = next(prefixes)
        for _ in range(3):
            require_conditional_put(s3_objects(BUCKET, prefix), moto)
        assert [
            info.key for info in s3_objects(BUCKET, prefix).list("probe")
        ] == [PROBE_KEY]

    def test_concurrent_probes_all_accept_the_server(self, moto: str) -> None:
        for _ in range(5):
            prefix = next(prefixes)
            passed = race(
                lambda prefix=prefix: s3_objects(BUCKET, prefix),
                lambda objects, _: (
                    require_conditional_put(objects, moto) is None
                ),
            )
            assert passed == [0, 1, 2, 3]

    def test_a_server_that_wants_tags_without_quotes_gets_them_so(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with FakeS3() as server:
            point_aws_at(f"http://{server.address}", monkeypatch)
            objects = s3_objects(BUCKET, "p")
            objects.put("a/b", b"1")
            before = etag_of(objects, "a/b")
            assert objects.put_if("a/b", b"2", before)
            assert data_of(objects, "a/b") == b"2"
            assert not objects.put_if("a/b", b"3", before)
            assert data_of(objects, "a/b") == b"2"

    def test_a_prefix_does_not_see_other_prefixes(self, moto: str) -> None:
        ours, theirs = (
            s3_objects(BUCKET, "one"),
            s3_objects(BUCKET, "one-more"),
        )
        theirs.put("a/b", b"theirs")
        assert ours.get("a/b") is None
        assert list(ours.list("a")) == []
        assert data_of(s3_objects(BUCKET, ""), "one-more/a/b") == b"theirs"

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_missing_permission_is_misconfigured(
        self, monkeypatch: pytest.MonkeyPatch, status: int
    ) -> None:
        with FakeS3(status) as server:
            point_aws_at(f"http://{server.address}", monkeypatch)
            objects = s3_objects(BUCKET, "p")
            for act in (
                lambda: objects.get("a/b"),
                lambda: objects.put("a/b", b"1"),
                lambda: objects.put_if("a/b", b"1", None),
            ):
                with pytest.raises(
                    Misconfigured, match="no permission for a/b"
                ):
                    act()

    def test_a_bucket_in_another_region_is_misconfigured(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with FakeS3(status=301) as elsewhere:
            point_aws_at(f"http://{elsewhere.address}", monkeypatch)
            with pytest.raises(Misconfigured, match="another region"):
                s3_objects("a-bucket", "").get("a")

    def test_an_outage_is_retryable(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server = FakeS3()
        server.close()
        point_aws_at(f"http://{server.address}", monkeypatch)
        with pytest.raises(Retryable, match="cannot be reached at a/b"):
            s3_objects(BUCKET, "p").get("a/b")

    def test_a_missing_bucket_is_not_an_empty_store(self, moto: str) -> None:
        missing = s3_objects("no-such-bucket", "p")
        for ask in (
            lambda: missing.put("a/b", b"1"),
            lambda: list(missing.list("a")),
        ):
            with pytest.raises(Misconfigured, match="no such bucket"):
                ask()


class TestOwnCredentials:
    """Credentials and region from a profile, and the error without credentials."""

    @pytest.fixture
    def at_home(
        self, moto: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Path:
        point_aws_at(moto, monkeypatch)
        for name in CREDENTIALS:
            if name.startswith("AWS_"):
                monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv(
            "AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials")
        )
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
        return tmp_path

    def test_a_profile_provides_credentials(
        self, at_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (at_home / "credentials").write_text(
            "[work]\naws_access_key_id=a\naws_secret_access_key=b\n"
        )
        (at_home / "config").write_text("[profile work]\nregion=eu-west-1\n")
        monkeypatch.setenv("AWS_PROFILE", "work")
        objects = s3_objects(BUCKET, next(prefixes))
        objects.put("a", b"1")
        assert data_of(objects, "a") == b"1"
        assert lance_options()["region"] == "eu-west-1"

    def test_without_credentials_the_error_names_the_settings(
        self, at_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(
            Misconfigured, match="AWS_PROFILE, or AWS_ACCESS_KEY_ID"
        ):
            s3_objects(BUCKET, "")
        monkeypatch.setenv("AWS_PROFILE", "nobody")
        with pytest.raises(Misconfigured, match="nobody"):
            s3_objects(BUCKET, "")
