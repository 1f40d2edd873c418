"""The composition root's targets of publishing: directories and S3 prefixes."""

from os import PathLike
from pathlib import Path

from varve.domain.errors import Rejected
from varve.ports.objects import Objects
from varve.wiring.settings import Settings

_S3 = "s3://"
_FORM = "must be a directory or s3://bucket/prefix"


def name_target(target: str | Path, settings: Settings) -> str:
    """Return the name under which a target is noted: `s3://…` or an absolute path.

    Raises Rejected: it is no path, has no bucket, or it overlaps with the store.
    """
    if not isinstance(target, str | PathLike):
        raise Rejected("target", _FORM)
    name = _normalize(str(target))
    store = _normalize(settings.store)
    if _lies_in(name, store) or _lies_in(store, name):
        raise Rejected("target", f"overlaps with the store {store}")
    return name


def open_target(target: str) -> Objects:
    """Return the objects of a named target, with the process's own credentials.

    Raises Misconfigured: there are no credentials, or the path is a file.
    """
    from varve.adapters.objects.store import local_objects, s3_objects

    if not target.startswith(_S3):
        return local_objects(Path(target))
    bucket, _, prefix = target.removeprefix(_S3).partition("/")
    return s3_objects(bucket, prefix)


def _normalize(target: str) -> str:
    if not target.startswith(_S3):
        if not target or "://" in target:
            raise Rejected("target", _FORM)
        return str(Path(target).resolve())
    parts = [part for part in target.removeprefix(_S3).split("/") if part]
    if not parts:
        raise Rejected("target", "has no bucket")
    return _S3 + "/".join(parts)


def _lies_in(inner: str, outer: str) -> bool:
    return f"{inner}/".startswith(f"{outer}/")
