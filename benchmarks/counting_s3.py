"""A small S3 in memory that counts: `python benchmarks/counting_s3.py` tries it with obstore and LanceDB.

It runs in a process of its own, so that its work is not in the measured one's interpreter lock, and
speaks what obstore and LanceDB use: GET with Range, HEAD, PUT with If-None-Match and If-Match,
multipart uploads, DELETE, DeleteObjects, COPY and ListObjectsV2 with delimiter and pages of 1,000. It
checks no signatures. Paths below `/-/` steer it and are not counted.
"""

import asyncio
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import count
from time import perf_counter
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

from sortedcontainers import SortedDict

BUCKET = "bench"
PAGE = 1_000
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "NO_PROXY": "*",
}
KINDS = ("GET", "HEAD", "LIST", "PUT", "DELETE")


@dataclass(frozen=True, slots=True)
class Counts:
    """What was asked since the last reset; `depth` is the longest chain of requests one after the other.

    `by_prefix` is by the first folder under the root, by the first two under `ledger/`.
    """

    by_kind: Mapping[str, int]
    by_prefix: Mapping[str, int]
    by_both: Mapping[str, int]
    bytes_in: int
    bytes_out: int
    depth: int

    @property
    def requests(self) -> int:
        """All requests."""
        return sum(self.by_kind.values())

    def kind(self, name: str) -> int:
        """The requests of one kind."""
        return self.by_kind.get(name, 0)


@dataclass(frozen=True, slots=True)
class Usage:
    """Objects and bytes under a prefix."""

    objects: int
    bytes: int


class CountingS3:
    """The server as a child process; `with CountingS3() as s3: s3.endpoint`."""

    def __enter__(self) -> Self:
        command = [sys.executable, __file__, "serve"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.endpoint = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # the child ends with its standard input
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def environment(self) -> dict[str, str]:
        """The variables that lead every S3 client here."""
        return {**CREDENTIALS, "AWS_ENDPOINT_URL": self.endpoint}

    @contextmanager
    def as_aws(self) -> Iterator[Self]:
        """This process's AWS until the block ends."""
        before = dict(os.environ)
        os.environ.update(self.environment())
        try:
            yield self
        finally:
            os.environ.clear()
            os.environ.update(before)

    def counts(self) -> Counts:
        """What was asked since the last reset."""
        return Counts(**self._ask("counts"))

    def touched(self) -> set[tuple[str, str, str]]:
        """What was asked for since the last reset: by whose access key, what kind of request, which key.

        Of a listing it is the prefix; one of the names right below it is of the kind FOLDERS.
        """
        return {
            (who, kind, key) for who, kind, key in self._ask("keys")["keys"]
        }

    def reset(self) -> None:
        """Count from zero."""
        self._ask("reset")

    def counted(self, run: Callable[[], object], delay: float) -> Counts:
        """What a run asks for while every request takes so many seconds longer, so that chains show."""
        self.reset()
        self.delay(delay)
        run()
        self.delay(0)
        return self.counts()

    def delay(self, seconds: float) -> None:
        """Let every request take so much longer from now on."""
        self._ask("delay", seconds=seconds)

    def usage(self, prefix: str = "") -> Usage:
        """What lies under a prefix of keys."""
        return Usage(**self._ask("usage", prefix=prefix))

    def clone(
        self, source: str, target: str, names: Mapping[str, Sequence[str]]
    ) -> int:
        """Clone what lies under a root into another, without a request for each; how many objects.

        `names` says which agents (`workspace/agent`, as they stand in the keys) each agent there
        becomes. It is how existing agents are put there; they share the bytes, as no object is ever
        changed in place.
        """
        return int(
            self._ask("clone", source=source, target=target, names=names)[
                "objects"
            ]
        )

    def drop(self, prefixes: Sequence[str]) -> None:
        """Remove what lies below, without a request."""
        self._ask("drop", prefixes=list(prefixes))

    def _ask(self, what: str, **arguments: Any) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.endpoint}/-/{what}", json.dumps(arguments).encode()
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=600) as reply:
            return dict(json.load(reply))


def depth(spans: Iterable[tuple[float, float]]) -> int:
    """The size of the largest set of spans of which no two overlap: the earliest end first."""
    size, free_from = 0, 0.0
    for start, end in sorted(spans, key=lambda span: span[1]):
        if start >= free_from:
            size, free_from = size + 1, end
    return size


# ---- the server's side


@dataclass(frozen=True, slots=True)
class _Stored:
    data: bytes
    tag: str
    modified: datetime

    @property
    def modified_text(self) -> str:
        return (
            self.modified.strftime("%Y-%m-%dT%H:%M:%S.")
            + f"{self.modified.microsecond // 1000:03}Z"
        )


@dataclass(slots=True)
class _Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class _Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Log:
    """One row per request: kind, key prefix, bytes in, bytes out, start and end; and all keys by kind."""

    keys: set[tuple[str, str, str]] = field(default_factory=set)
    rows: list[tuple[str, str, int, int, float, float]] = field(
        default_factory=list
    )

    def counts(self) -> dict[str, Any]:
        return {
            "by_kind": Counter(row[0] for row in self.rows),
            "by_prefix": Counter(row[1] for row in self.rows),
            "by_both": Counter(f"{row[0]} {row[1]}" for row in self.rows),
            "bytes_in": sum(row[2] for row in self.rows),
            "bytes_out": sum(row[3] for row in self.rows),
            "depth": depth((row[4], row[5]) for row in self.rows),
        }


class _Bucket:
    """The objects, in order of their keys, and what S3 does with them."""

    def __init__(self) -> None:
        self.objects: Any = SortedDict()  # key -> _Stored
        self._uploads: dict[str, dict[int, bytes]] = {}
        self._numbers = count(1)

    def answer(self, request: _Request) -> tuple[str, str, _Reply]:
        """The kind of the request, the key or prefix it is about, and the reply."""
        key = unquote(request.path).partition("/")[2].partition("/")[2]
        query = request.query
        if not key and request.method == "GET":
            return "LIST", query.get("prefix", ""), self._list(query)
        if request.method == "POST" and "delete" in query:
            return "DELETE", *self._delete_several(request.body)
        if "uploads" in query or "uploadId" in query:
            return "PUT", key, self._multipart(request, key)
        if request.method == "PUT" and "x-amz-copy-source" in request.headers:
            return "PUT", key, self._copy(request, key)
        handlers = {
            "GET": self._get,
            "HEAD": self._get,
            "PUT": self._put,
            "DELETE": self._delete,
        }
        handler = handlers.get(request.method)
        return (
            request.method,
            key,
            handler(request, key) if handler else _Reply(501),
        )

    def clone(
        self, source: str, target: str, names: Mapping[str, Sequence[str]]
    ) -> int:
        fresh: dict[str, _Stored] = {}
        for key, stored in self._below(f"{source}/"):
            of = next((name for name in names if f"/{name}/" in key), None)
            head, _, tail = key.removeprefix(source).partition(f"/{of}/")
            for name in names[of] if of else ():
                fresh[f"{target}{head}/{name}/{tail}"] = stored
        self.objects.update(fresh)
        return len(fresh)

    def drop(self, prefixes: Sequence[str]) -> None:
        for prefix in prefixes:
            for key in [key for key, _ in self._below(prefix)]:
                del self.objects[key]

    def usage(self, prefix: str) -> dict[str, int]:
        objects = size = 0
        for _, stored in self._below(prefix):
            objects, size = objects + 1, size + len(stored.data)
        return {"objects": objects, "bytes": size}

    def _below(self, prefix: str) -> Iterator[tuple[str, _Stored]]:
        for key in self.objects.irange(prefix, prefix + "\U0010ffff"):
            yield key, self.objects[key]

    def _get(self, request: _Request, key: str) -> _Reply:
        stored = self.objects.get(key)
        if stored is None:
            return _error(404, "NoSuchKey")
        data, when = (
            stored.data,
            stored.modified.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        )
        headers = {
            "ETag": stored.tag,
            "Last-Modified": when,
            "Accept-Ranges": "bytes",
        }
        asked = request.headers.get("range")
        if asked is None:
            return _Reply(200, data, headers)
        start, end = _range(asked, len(data))
        if start >= len(data):
            return _error(416, "InvalidRange")
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        return _Reply(206, data[start:end], headers)

    def _put(self, request: _Request, key: str) -> _Reply:
        refused = self._refused(request, key)
        return refused or self._store(key, request.body)

    def _refused(self, request: _Request, key: str) -> _Reply | None:
        """Why a conditional put is not to be done, if so."""
        stored = self.objects.get(key)
        if request.headers.get("if-none-match") == "*" and stored is not None:
            return _error(412, "PreconditionFailed")
        wanted = request.headers.get("if-match")
        if wanted is not None and stored is None:
            return _error(404, "NoSuchKey")
        if wanted is not None and stored.tag.strip('"') != wanted.strip('"'):
            return _error(412, "PreconditionFailed")
        return None

    def _store(self, key: str, data: bytes) -> _Reply:
        tag = f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}-{next(self._numbers)}"'
        self.objects[key] = _Stored(data, tag, datetime.now(UTC))
        return _Reply(200, headers={"ETag": tag})

    def _copy(self, request: _Request, key: str) -> _Reply:
        source = (
            unquote(request.headers["x-amz-copy-source"])
            .lstrip("/")
            .partition("/")[2]
        )
        if source not in self.objects:
            return _error(404, "NoSuchKey")
        tag = self._store(key, self.objects[source].data).headers["ETag"]
        when = self.objects[key].modified_text
        return _xml(
            "CopyObjectResult",
            f"<LastModified>{when}</LastModified><ETag>{escape(tag)}</ETag>",
        )

    def _delete(self, _: _Request, key: str) -> _Reply:
        self.objects.pop(key, None)
        return _Reply(204)

    def _delete_several(self, body: bytes) -> tuple[str, _Reply]:
        keys = [
            unescape(key, {"&quot;": '"'})
            for key in re.findall(r"<Key>(.*?)</Key>", body.decode())
        ]
        for key in keys:
            self.objects.pop(key, None)
        done = "".join(
            f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys
        )
        return "\0".join(keys), _xml("DeleteResult", done)

    def _multipart(self, request: _Request, key: str) -> _Reply:
        query = request.query
        if "uploads" in query:
            upload = f"upload-{next(self._numbers)}"
            self._uploads[upload] = {}
            return _xml(
                "InitiateMultipartUploadResult",
                f"<UploadId>{upload}</UploadId>",
            )
        upload = query["uploadId"]
        if request.method == "PUT":
            self._uploads[upload][int(query["partNumber"])] = request.body
            return _Reply(200, headers={"ETag": f'"{len(request.body)}"'})
        parts = self._uploads.pop(upload, {})
        if request.method == "DELETE":
            return _Reply(204)
        refused = self._refused(request, key)
        if refused:
            return refused
        tag = self._store(
            key, b"".join(parts[number] for number in sorted(parts))
        ).headers["ETag"]
        return _xml(
            "CompleteMultipartUploadResult", f"<ETag>{escape(tag)}</ETag>"
        )

    def _list(self, query: dict[str, str]) -> _Reply:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        most = int(query.get("max-keys", PAGE))
        keys, folders, more = self._page(prefix, delimiter, after, most)
        last = max(
            [*keys[-1:], *(folder + "\U0010ffff" for folder in folders[-1:])],
            default="",
        )
        body = "".join(map(self._entry, keys))
        body += "".join(
            f"<CommonPrefixes><Prefix>{escape(f)}</Prefix></CommonPrefixes>"
            for f in folders
        )
        body += f"<KeyCount>{len(keys) + len(folders)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"  # noqa: E501
        if more:
            body += f"<NextContinuationToken>{escape(last)}</NextContinuationToken>"
        return _xml(
            "ListBucketResult",
            f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix>{body}",
        )

    def _page(
        self, prefix: str, delimiter: str, after: str, most: int
    ) -> tuple[list[str], list[str], bool]:
        keys: list[str] = []
        folders: list[str] = []
        at = max(prefix, after)
        while True:
            key = next(
                self.objects.irange(
                    at, inclusive=(at == prefix != after, True)
                ),
                None,
            )
            if key is None or not key.startswith(prefix):
                return keys, folders, False
            if len(keys) + len(folders) == most:
                return keys, folders, True
            cut = key.find(delimiter, len(prefix)) if delimiter else -1
            if cut < 0 and not delimiter:
                return self._plain_page(key, prefix, most)
            if cut < 0:
                keys.append(key)
                at = key
            else:
                folders.append(key[: cut + len(delimiter)])
                at = folders[-1] + "\U0010ffff"

    def _plain_page(
        self, first: str, prefix: str, most: int
    ) -> tuple[list[str], list[str], bool]:
        keys: list[str] = []
        for key in self.objects.irange(first):
            if not key.startswith(prefix):
                return keys, [], False
            if len(keys) == most:
                return keys, [], True
            keys.append(key)
        return keys, [], False

    def _entry(self, key: str) -> str:
        stored = self.objects[key]
        return (
            f"<Contents><Key>{escape(key)}</Key><LastModified>{stored.modified_text}</LastModified>"
            f"<ETag>{escape(stored.tag)}</ETag><Size>{len(stored.data)}</Size></Contents>"
        )


def _credential(request: _Request) -> str:
    """The access key that signed the request; signatures are not checked."""
    found = re.search(
        r"Credential=([^/,]+)/", request.headers.get("authorization", "")
    )
    return found[1] if found else ""


def _range(text: str, size: int) -> tuple[int, int]:
    """From and until, of `bytes=0-9`, `bytes=10-` or `bytes=-10`."""
    first, _, last = text.removeprefix("bytes=").partition("-")
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(size, int(last) + 1) if last else size


def _xml(name: str, inner: str) -> _Reply:
    body = f'<?xml version="1.0" encoding="UTF-8"?><{name}>{inner}</{name}>'
    return _Reply(200, body.encode(), {"Content-Type": "application/xml"})


def _error(status: int, code: str) -> _Reply:
    return _Reply(
        status,
        _xml("Error", f"<Code>{code}</Code><Message>{code}</Message>").body,
    )


def _prefix(key: str) -> str:
    """`memory/ledger/due/daily/…` is `ledger/due`: the first folder under the root, two of the ledger."""
    parts = key.split("/")[1:]
    return (
        "/".join(parts[:2]) if parts[:1] == ["ledger"] else (parts or [""])[0]
    )


class _Server:
    """HTTP/1.1 on loopback, a coroutine per connection."""

    def __init__(self) -> None:
        self._bucket = _Bucket()
        self._log = _Log()
        self._delay = 0.0

    async def serve(self) -> None:
        server = await asyncio.start_server(
            self._connection, "127.0.0.1", 0, limit=1 << 20
        )
        print(
            f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}",
            flush=True,
        )
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        os._exit(
            0
        )  # its parent is done; open connections are nobody's any more

    async def _connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while request := await _read(reader):
                started = perf_counter()
                reply = await self._answer(request, started)
                writer.write(_encode(reply, head=request.method == "HEAD"))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: _Request, started: float) -> _Reply:
        if request.path.startswith("/-/"):
            return self._steer(
                request.path[3:], json.loads(request.body or b"{}")
            )
        if self._delay:
            await asyncio.sleep(self._delay)
        kind, key, reply = self._bucket.answer(request)
        asked = (
            "FOLDERS"
            if kind == "LIST" and request.query.get("delimiter")
            else kind
        )
        self._log.keys |= {
            (_credential(request), asked, each) for each in key.split("\0")
        }
        out = 0 if kind == "HEAD" else len(reply.body)
        self._log.rows.append(
            (
                kind,
                _prefix(key),
                len(request.body),
                out,
                started,
                perf_counter(),
            )
        )
        return reply

    def _steer(self, what: str, arguments: dict[str, Any]) -> _Reply:
        result: dict[str, Any] = {}
        if what == "counts":
            result = self._log.counts()
        elif what == "keys":
            result = {"keys": sorted(self._log.keys)}
        elif what == "reset":
            self._log = _Log()
        elif what == "delay":
            self._delay = arguments["seconds"]
        elif what == "usage":
            result = self._bucket.usage(f"{arguments['prefix']}")
        elif what == "drop":
            self._bucket.drop(**arguments)
        elif what == "clone":
            result = {"objects": self._bucket.clone(**arguments)}
        return _Reply(200, json.dumps(result).encode())


async def _read(reader: asyncio.StreamReader) -> _Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    url = urlsplit(target)
    query = {
        name: values[0]
        for name, values in parse_qs(url.query, keep_blank_values=True).items()
    }
    return _Request(method, url.path, query, headers, body)


def _encode(reply: _Reply, head: bool) -> bytes:
    headers = {**reply.headers, "Content-Length": str(len(reply.body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    start = f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}\r\n{lines}\r\n".encode(
        "latin-1"
    )
    return start if head else start + reply.body


def _try_out() -> None:
    import lancedb
    import obstore
    from obstore.store import S3Store

    with CountingS3() as s3, s3.as_aws():
        options: Any = {
            "endpoint": s3.endpoint,
            "client_options": {"allow_http": True},
        }
        store = S3Store(BUCKET, prefix="root", region="us-east-1", **options)
        for number in range(2_500):
            obstore.put(store, f"many/{number:05}", b"x")
        assert sum(len(page) for page in obstore.list(store, "many")) == 2_500
        obstore.delete(store, [f"many/{number:05}" for number in range(2_400)])
        found = obstore.list_with_delimiter(store)
        assert found["common_prefixes"] == ["many"], found["common_prefixes"]
        s3.reset()
        lance = {
            "endpoint": s3.endpoint,
            "allow_http": "true",
            "region": "us-east-1",
        }
        table = lancedb.connect(
            f"s3://{BUCKET}/root/db", storage_options=lance
        ).create_table(
            "t",
            [{"id": n, "vector": [float(n)] * 2_000} for n in range(5_000)],
        )
        assert table.search([1.0] * 2_000).limit(3).to_arrow().num_rows == 3
        print(json.dumps(s3._ask("counts"), indent=2), s3.usage("root/"))


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(_Server().serve())
    else:
        _try_out()
