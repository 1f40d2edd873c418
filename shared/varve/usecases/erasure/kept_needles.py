"""The needles of erasures, kept as traces until a run finds none of them.

An erasure destroys the words that its proof searches for. So a later run could find
nothing to look for, and would prove nothing. The traces hold hashes and no content.
"""

from collections.abc import Mapping, Set
from typing import Any

from varve.domain.identity import Scope
from varve.domain.traces import Traces, traces_from_json
from varve.ports.objects import Objects
from varve.usecases.erasure.audit_object import AuditObject

KeptNeedles = dict[str, Traces]
"""The traces of each subject, by the subject's hash."""


def _encode(kept: KeptNeedles) -> dict[str, Any]:
    return {subject: traces.as_json() for subject, traces in kept.items()}


def _decode(bodies: Mapping[str, Any]) -> KeptNeedles:
    return {
        subject: traces_from_json(body) for subject, body in bodies.items()
    }


_STORED: AuditObject[KeptNeedles] = AuditObject(
    kind="needles", empty=dict, encode=_encode, decode=_decode
)


def load(scope: Scope, *, objects: Objects) -> KeptNeedles:
    """Return the needles that no run has searched for in vain. Raises Retryable."""
    return _STORED.read(scope, objects)


def keep(
    scope: Scope, subject: str, traces: Traces, *, objects: Objects
) -> None:
    """Keep the traces of a subject, beside those of its earlier erasures.

    All are made with the key of the agent's tombstones. Raises Retryable.
    """
    if not traces:
        return

    def add(kept: KeptNeedles) -> KeptNeedles:
        known = kept.get(subject, Traces(traces.key))
        return {**kept, subject: known.union(traces)}

    _STORED.change(scope, add, objects)


def drop_all_but(scope: Scope, found: Set[str], *, objects: Objects) -> None:
    """Drop the needles of all subjects but those of which a proof has found some.

    Raises Retryable.
    """
    gone = load(scope, objects=objects).keys() - found
    if not gone:
        return

    def remove(kept: KeptNeedles) -> KeptNeedles:
        return {
            subject: one
            for subject, one in kept.items()
            if subject not in gone
        }

    _STORED.change(scope, remove, objects)
