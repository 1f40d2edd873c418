"""The Objects port over a directory or an S3 prefix, through obstore."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import LocalStore, ObjectStore, S3Store

from varve.adapters.disk_errors import disk_error
from varve.adapters.objects.case import CaseGuard
from varve.adapters.objects.directories import is_directory
from varve.adapters.objects.locks import DirectoryLocks
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.usage import Item
from varve.ports.meter import Meter, MeteredThreads
from varve.ports.objects import ObjectInfo, Objects, StoredObject

PARALLEL_REQUESTS = 32
"""Concurrent requests of one `exchange`."""
LISTED_AT_ONCE = 1_000
"""Entries that S3 lists in one request."""
DELETED_AT_ONCE = 1_000
"""Objects that S3 deletes in one request."""
PART_BYTES = 5 * 1024 * 1024
"""Objects over this size are put in parts of it."""


class ObstoreObjects:
    """The Objects port over any obstore backend that honours conditional puts."""

    meter: Meter | None = None
    """Counts the requests; None: they cost nothing. A retry by the client is not seen."""

    def __init__(self, store: ObjectStore, meter: Meter | None = None) -> None:
        self._store = store
        self.meter = meter

    def _count(self, item: Item, count: int = 1) -> None:
        if self.meter is not None:
            self.meter.add(item, count)

    def _guard(self, key: str) -> AbstractContextManager[None]:
        """Translate foreign errors, with the key's place in their words."""
        return _translate_errors(key)

    def get(self, key: str) -> StoredObject | None:
        with self._guard(key):
            self._count(Item.GETS)
            try:
                result = obstore.get(self._store, key)
                found = StoredObject(
                    bytes(result.bytes()), result.meta["e_tag"] or ""
                )
            except (FileNotFoundError, NotFoundError):
                return None
            self._count(Item.BYTES_READ, len(found.data))
            return found

    def part(self, key: str, start: int, length: int) -> bytes | None:
        with self._guard(key):
            self._count(Item.GETS)
            try:
                data = obstore.get_range(
                    self._store, key, start=start, length=length
                )
            except (FileNotFoundError, NotFoundError):
                return None
            self._count(Item.BYTES_READ, len(data))
            return bytes(data)

    def put(self, key: str, data: bytes) -> None:
        with self._guard(key):
            self._count(Item.PUTS, _count_puts(len(data)))
            self._count(Item.BYTES_WRITTEN, len(data))
            obstore.put(self._store, key, data, chunk_size=PART_BYTES)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        mode: Any = "create" if etag is None else {"e_tag": etag}
        with self._guard(key):
            self._count(Item.PUTS)
            self._count(Item.BYTES_WRITTEN, len(data))
            try:
                obstore.put(
                    self._store, key, data, mode=mode, use_multipart=False
                )
            except (AlreadyExistsError, PreconditionError):
                return self._retry_refused_put(key, data, etag)
            except NotFoundError:
                if etag is None:
                    raise
                return False
            return True

    def delete(self, keys: Iterable[str]) -> None:
        doomed = list(keys)
        with self._guard(doomed[0] if doomed else "nothing"):
            self._count(Item.DELETES, -(-len(doomed) // DELETED_AT_ONCE))
            try:
                obstore.delete(self._store, doomed)
            except (FileNotFoundError, NotFoundError):
                # A file system stops at the first missing file.
                for key in doomed:
                    with suppress(FileNotFoundError, NotFoundError):
                        obstore.delete(self._store, key)

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        tasks: list[Callable[[], None]] = []
        for key in fresh:
            tasks.append(partial(self.put, key, b""))
        keys = list(doomed)
        if keys:
            tasks.append(partial(self.delete, keys))
        with MeteredThreads(PARALLEL_REQUESTS) as pool:
            futures = [pool.submit(task) for task in tasks]
        for future in futures:
            future.result()

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        # S3 lists keys in order, page by page. A caller that stops early requests no more.
        with self._guard(prefix):
            self._count(Item.LISTS)
            for number, page in enumerate(
                obstore.list(self._store, prefix, chunk_size=LISTED_AT_ONCE)
            ):
                self._count(Item.LISTS, int(number > 0))
                for entry in page:
                    yield ObjectInfo(
                        entry["path"], entry["size"], entry["last_modified"]
                    )

    def folders(self, prefix: str) -> Sequence[str]:
        with self._guard(prefix):
            self._count(Item.LISTS)
            found = obstore.list_with_delimiter(self._store, prefix)
        names = []
        for folder in found["common_prefixes"]:
            names.append(folder.rstrip("/").rpartition("/")[2])
        entries = len(names) + len(found["objects"])
        self._count(Item.LISTS, max(0, entries - 1) // LISTED_AT_ONCE)
        return sorted(names)

    def _retry_refused_put(
        self, key: str, data: bytes, etag: str | None
    ) -> bool:
        """Tell whether a refused conditional put has in fact succeeded.

        The client retries a put whose answer was lost, and the retry meets the object
        that the first attempt wrote. Ceph 16 gives out tags in quotes but compares bare
        tags, so it refuses the current version. Such a put is repeated without quotes.
        """
        current = self.get(key)
        if current is None:
            return False
        if current.data == data:
            return True
        bare = current.etag.strip('"')
        if etag != current.etag or bare == current.etag:
            return False
        return self.put_if(key, data, bare)


class LocalObjects(ObstoreObjects):
    """The Objects port over a directory, which is created by the first write.

    A file system has no conditional writes, so lock files replace them.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._locks = DirectoryLocks(root)
        self._case = CaseGuard(root)

    def _guard(self, key: str) -> AbstractContextManager[None]:
        self._case.require_exact(key)
        return _translate_errors(f"{self._root}/{key}")

    def require_own_folders(self, path: str) -> None:
        """Check that no folder of any area is there under this path in another case.

        Raises Misconfigured: one is.
        """
        if not self._case.asks():
            return
        for area in self.folders(""):
            self._case.require_exact(f"{area}/{path}")

    @cached_property
    def _store(self) -> ObjectStore:  # type: ignore[override]
        return LocalStore(self._root, mkdir=True)

    def get(self, key: str) -> StoredObject | None:
        with self._guard(key):
            try:
                with open(f"{self._root}/{key}", "rb") as file:  # noqa: PTH123 - faster than Path.open
                    data = file.read()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None
        # Hash the content: a tag of inode, time and size may repeat under a coarse clock.
        return StoredObject(data, hashlib.sha256(data).hexdigest())

    def part(self, key: str, start: int, length: int) -> bytes | None:
        if not self._root.is_dir():
            return None
        return super().part(key, start, length)

    def delete(self, keys: Iterable[str]) -> None:
        if not self._root.is_dir():
            return
        doomed = list(keys)
        for key in doomed:
            self._case.require_exact(key)
        super().delete(doomed)

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        for key in fresh:
            self.put(key, b"")
        self.delete(doomed)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        if not self._root.is_dir():
            return iter(())
        return iter(sorted(super().list(prefix), key=lambda info: info.key))

    def folders(self, prefix: str) -> Sequence[str]:
        if not self._root.is_dir():
            return []
        return super().folders(prefix)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        if etag is None:
            return super().put_if(key, data, None)
        with self._locks.hold("object", [key]):
            current = self.get(key)
            if current is None:
                return False
            if current.etag != etag:
                return current.data == data
            self.put(key, data)
            return True


def _count_puts(size: int) -> int:
    """Return the requests that put an object of this size: parts, begin and end."""
    parts = -(-size // PART_BYTES)
    return 1 if parts <= 1 else parts + 2


def local_objects(root: Path) -> LocalObjects:
    """Return the objects of a directory.

    Raises Misconfigured: the path is a file, or no directory can be there.
    """
    try:
        if is_directory(root) is False:
            raise Misconfigured(f"store {root}: is a file, not a directory")
    except ValueError as error:
        raise Misconfigured(f"store {str(root)[:200]!r}: {error}") from error
    return LocalObjects(root)


def custom_endpoint() -> str | None:
    """Return the S3 endpoint that the standard AWS variables name, if any."""
    for variable in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"):
        endpoint = os.environ.get(variable)
        if endpoint:
            return endpoint
    return None


def s3_objects(
    bucket: str,
    prefix: str,
    credentials: Mapping[str, str] = MappingProxyType({}),
    meter: Meter | None = None,
) -> ObstoreObjects:
    """Return the objects of an S3 prefix; `meter` counts the requests.

    Region, endpoint and, unless given, credentials are those of the process.
    Raises Misconfigured: there are no credentials.
    """
    endpoint = custom_endpoint()
    options: dict[str, Any] = {**credentials}
    if not credentials and "AWS_ACCESS_KEY_ID" not in os.environ:
        from varve.adapters.credentials.own import credential_provider

        options["credential_provider"] = credential_provider()
    if endpoint:
        options["endpoint"] = endpoint
        options["client_options"] = {
            "allow_http": endpoint.startswith("http://")
        }
    store = S3Store(
        bucket, prefix=prefix or None, region=_find_region(), **options
    )
    return ObstoreObjects(store, meter)


def lance_options() -> dict[str, str]:
    """Return the region and endpoint of the process for LanceDB's own S3 client."""
    options = {"region": _find_region()}
    endpoint = custom_endpoint()
    if endpoint:
        allow_http = endpoint.startswith("http://")
        options["endpoint"] = endpoint
        options["allow_http"] = "true" if allow_http else "false"
    return options


def _find_region() -> str:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        region = os.environ.get(variable)
        if region:
            return region
    from varve.adapters.credentials.own import profile_region

    return profile_region() or "us-east-1"


PROBE_KEY = "probe/if-none-match"


def require_conditional_put(objects: Objects, where: str) -> None:
    """Check that the endpoint honours If-None-Match. Takes a few requests.

    LanceDB's commits and this library's own updates depend on it. An endpoint that
    ignores it loses acknowledged rows without an error.
    Raises Misconfigured: the endpoint overwrites an existing object.
    """
    for content in (b"1", b"2"):
        if not objects.put_if(PROBE_KEY, content, None):
            return
    raise Misconfigured(
        f"{where}: ignores If-None-Match on PUT. Two writers would overwrite each "
        "other's commits and lose acknowledged memories without an error. "
        "Use Amazon S3 or a server that answers 412."
    )


_OPERATOR_ERRORS = {
    "<Code>NoSuchBucket</Code>": "there is no such bucket",
    "<Code>ExpiredToken</Code>": "the credentials have expired",
    "incorrectly configured region": (
        "the bucket is in another region than AWS_REGION names"
    ),
}
"""Parts of S3's and obstore's messages, with their meaning, that no retry can mend."""


@contextmanager
def _translate_errors(key: str) -> Iterator[None]:
    """Raise Misconfigured in place of errors that need the operator, else Retryable."""
    try:
        yield
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise Misconfigured(f"store: no permission for {key}") from error
    except (BaseError, OSError) as error:
        fault = disk_error(f"store {key}", error)
        if fault is not None:
            raise fault from error
        message = str(error)
        for sign, meaning in _OPERATOR_ERRORS.items():
            if sign in message:
                raise Misconfigured(f"store: {meaning}") from error
        failure = type(error).__name__
        if "error sending request" in message:
            failure = "cannot be reached"
        raise Retryable(f"store: {failure} at {key}") from error
