"""The tombstones of an agent: every batch is checked against them before it is stored."""

from collections.abc import Callable, Iterable
from uuid import uuid4

from varve.domain.erasure import Tombstones, tombstones_from_json
from varve.domain.identity import Scope
from varve.ports.objects import Objects
from varve.usecases.erasure.audit_object import AuditObject

_STORED = AuditObject(
    kind="tombstones",
    empty=Tombstones,
    encode=Tombstones.as_json,
    decode=tombstones_from_json,
)


def load(scope: Scope, *, objects: Objects) -> Tombstones:
    """Return the agent's tombstones. Raises Retryable."""
    return _STORED.read(scope, objects)


def extend(
    scope: Scope,
    change: Callable[[Tombstones], Tombstones],
    *,
    objects: Objects,
) -> Tombstones:
    """Apply `change` to an agent's tombstones; return the result.

    If another process changes them meanwhile, `change` is applied again to the new ones.
    Raises Retryable: it lost too many races.
    """

    def change_keyed(known: Tombstones) -> Tombstones:
        if not known.key:
            known = Tombstones(key=uuid4().hex)
        return change(known)

    return _STORED.change(scope, change_keyed, objects)


def bar_records(
    scope: Scope, keys: Iterable[tuple[str, ...]], *, objects: Objects
) -> Tombstones:
    """Add the tombstones of these records; return all. Raises Retryable."""
    added = list(keys)
    return extend(
        scope, lambda known: known.with_records(added), objects=objects
    )
