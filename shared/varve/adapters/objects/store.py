"""Objects under the store root: a directory or an S3 prefix, through obstore."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import obstore
from filelock import FileLock
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import LocalStore, ObjectStore, S3Store

from varve.adapters.objects.directories import is_directory
from varve.domain.errors import Misconfigured, Retryable
from varve.ports.objects import ObjectInfo, Objects, StoredObject

AT_ONCE = 32
"""Requests of one exchange that are on their way together."""


class ObstoreObjects:
    """The Objects port over any obstore backend that honours conditional puts."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def get(self, key: str) -> StoredObject | None:
        with _translated(key):
            try:
                result = obstore.get(self._store, key)
                return StoredObject(bytes(result.bytes()), result.meta["e_tag"] or "")
            except (FileNotFoundError, NotFoundError):
                return None

    def part(self, key: str, start: int, length: int) -> bytes | None:
        with _translated(key):
            try:
                return bytes(
                    obstore.get_range(self._store, key, start=start, length=length)
                )
            except (FileNotFoundError, NotFoundError):
                return None

    def put(self, key: str, data: bytes) -> None:
        with _translated(key):
            obstore.put(self._store, key, data)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        mode: Any = "create" if etag is None else {"e_tag": etag}
        with _translated(key):
            try:
                obstore.put(self._store, key, data, mode=mode, use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return self._put_all_the_same(key, data, etag)
            except NotFoundError:
                if etag is None:
                    raise
                return False
            return True

    def delete(self, keys: Iterable[str]) -> None:
        doomed = list(keys)
        with _translated(doomed[0] if doomed else "nothing"):
            try:
                obstore.delete(self._store, doomed)
            except (FileNotFoundError, NotFoundError):
                # A file system stops at the first that is missing.
                for key in doomed:
                    with suppress(FileNotFoundError, NotFoundError):
                        obstore.delete(self._store, key)

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        tasks: list[Callable[[], None]] = [partial(self.put, key, b"") for key in fresh]
        if keys := list(doomed):
            tasks.append(partial(self.delete, keys))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            started = [pool.submit(task) for task in tasks]
        for done in started:
            done.result()

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        # S3 lists in order of keys, a page at a time: who stops early asks for no more pages.
        with _translated(prefix):
            for page in obstore.list(self._store, prefix):
                for entry in page:
                    yield ObjectInfo(
                        entry["path"], entry["size"], entry["last_modified"]
                    )

    def folders(self, prefix: str) -> Sequence[str]:
        with _translated(prefix):
            found = obstore.list_with_delimiter(self._store, prefix)["common_prefixes"]
        return sorted(folder.rstrip("/").rpartition("/")[2] for folder in found)

    def _put_all_the_same(self, key: str, data: bytes, etag: str | None) -> bool:
        """Whether a conditional put that was refused has happened, or happens without the tag's quotes."""
        current = self.get(key)
        if current is None or current.data == data:
            # A put whose acknowledgement was lost is retried by the client and meets itself.
            return current is not None
        # Ceph 16 holds the bare tag against what it gave out in quotes, and refuses that very version.
        bare = current.etag.strip('"')
        return etag == current.etag != bare and self.put_if(key, data, bare)


class LocalObjects(ObstoreObjects):
    """A directory, made at the first write.

    File systems compare no tags on a write, so a lock file stands in for it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._locks = root / ".locks"

    @cached_property
    def _store(self) -> ObjectStore:  # type: ignore[override]
        return LocalStore(self._root, mkdir=True)

    def get(self, key: str) -> StoredObject | None:
        with _translated(key):
            try:
                with open(f"{self._root}/{key}", "rb") as file:  # noqa: PTH123 - each search asks for a file
                    data = file.read()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None
        # The file system's own tag is inode, time and size, which a coarse clock can make equal.
        return StoredObject(data, hashlib.sha256(data).hexdigest())

    def part(self, key: str, start: int, length: int) -> bytes | None:
        return super().part(key, start, length) if self._root.is_dir() else None

    def delete(self, keys: Iterable[str]) -> None:
        if self._root.is_dir():
            super().delete(keys)

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        for key in fresh:
            self.put(key, b"")
        self.delete(doomed)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        found = super().list(prefix) if self._root.is_dir() else iter(())
        return iter(sorted(found, key=lambda info: info.key))

    def folders(self, prefix: str) -> Sequence[str]:
        return super().folders(prefix) if self._root.is_dir() else []

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        if etag is None:
            return super().put_if(key, data, None)
        self._locks.mkdir(parents=True, exist_ok=True)
        with FileLock(self._locks / hashlib.sha256(key.encode()).hexdigest()[:16]):
            current = self.get(key)
            if current is None or current.etag != etag:
                return current is not None and current.data == data
            self.put(key, data)
            return True


def local_objects(root: Path) -> LocalObjects:
    """The objects of a directory. Raises Misconfigured: the path is a file, or none that there can be."""
    try:
        if is_directory(root) is False:
            raise Misconfigured(f"store {root}: is a file, not a directory")
    except ValueError as error:
        raise Misconfigured(f"store {str(root)[:200]!r}: {error}") from error
    return LocalObjects(root)


def custom_endpoint() -> str | None:
    """The S3 endpoint the standard AWS variables name, if they name one."""
    return (
        os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
        or None
    )


def s3_objects(
    bucket: str, prefix: str, credentials: Mapping[str, str] = MappingProxyType({})
) -> ObstoreObjects:
    """The objects of an S3 prefix; region, endpoint and, unless given, credentials are the process's own.

    Raises Misconfigured: there are no credentials.
    """
    endpoint = custom_endpoint()
    options: dict[str, Any] = {**credentials}
    if not credentials and "AWS_ACCESS_KEY_ID" not in os.environ:
        from varve.adapters.credentials.own import credential_provider

        options["credential_provider"] = credential_provider()
    if endpoint:
        options["endpoint"] = endpoint
        options["client_options"] = {"allow_http": endpoint.startswith("http://")}
    return ObstoreObjects(
        S3Store(bucket, prefix=prefix or None, region=_region(), **options)
    )


def lance_options() -> dict[str, str]:
    """The same for LanceDB's own client."""
    endpoint = custom_endpoint()
    options = {"region": _region()}
    if endpoint:
        options |= {
            "endpoint": endpoint,
            "allow_http": str(endpoint.startswith("http://")).lower(),
        }
    return options


def _region() -> str:
    if named := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        return named
    from varve.adapters.credentials.own import profile_region

    return profile_region() or "us-east-1"


PROBE_KEY = "probe/if-none-match"


def require_conditional_put(objects: Objects, where: str) -> None:
    """Make sure the endpoint refuses to overwrite under If-None-Match.

    LanceDB commits and this library's own updates rest on it: an endpoint that ignores it loses
    acknowledged rows without an error. A few requests, once per process.
    Raises Misconfigured: it does not refuse.
    """
    for content in (b"1", b"2"):
        if not objects.put_if(PROBE_KEY, content, None):
            return
    raise Misconfigured(
        f"{where}: ignores If-None-Match on PUT. Two writers would overwrite each other's commits and "
        "lose acknowledged memories without an error. Use Amazon S3 or a server that answers 412."
    )


_OPERATORS_SIGNS = {
    "<Code>NoSuchBucket</Code>": "there is no such bucket",
    "<Code>ExpiredToken</Code>": "the credentials have expired",
    "incorrectly configured region": "the bucket is in another region than AWS_REGION names",
}
"""What S3, and obstore of its redirects, say of what no retry mends."""


@contextmanager
def _translated(key: str) -> Iterator[None]:
    """obstore's errors in our words: permission is the operator's business, the rest may pass."""
    try:
        yield
    except (PermissionDeniedError, PermissionError, UnauthenticatedError) as error:
        raise Misconfigured(f"store: no permission for {key}") from error
    except (BaseError, OSError) as error:
        said = str(error)
        for sign, meaning in _OPERATORS_SIGNS.items():
            if sign in said:
                raise Misconfigured(f"store: {meaning}") from error
        what = (
            "cannot be reached"
            if "error sending request" in said
            else type(error).__name__
        )
        raise Retryable(f"store: {what} at {key}") from error
