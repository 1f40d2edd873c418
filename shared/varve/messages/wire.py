"""Message bodies on the queues: JSON, or a claim check that names an object.

A body that is too large for a message is stored under `payloads/`, and the message carries
only its path.
"""

import json
from typing import Any

from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope, digest, path_id
from varve.domain.strict_json import parse_json
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, Queue

Body = dict[str, Any]
"""A message's decoded JSON object."""

MAX_BODY_BYTES = 250_000
"""The largest body sent in a message, in bytes of UTF-8; a larger one is a claim check.

Below the 256 KiB that every SQS queue takes, leaving room for message attributes.
"""
_MAX_GROUP = 128
_REFUSED = "\ufffe\uffff"
"""Characters valid in JSON but not in XML: SQS refuses them (InvalidMessageContents)."""
_SURROGATE = b"\\ud"
"""The first characters of an escaped surrogate, paired or lone."""


def send_body(
    body: Body,
    group: str,
    scope: Scope,
    queue: Queue,
    objects: Objects,
    *,
    content: Body | None = None,
) -> None:
    """Send a body, or store it under `payloads/` and send a claim check if too large.

    The deduplication id is the hash of `content`, by default of the body. `content` leaves
    out fields that may differ between two sends of the same message. Raises Retryable.
    """
    text = dump(body)
    data = text.encode()
    key = digest(text if content is None else dump(content))
    if len(data) > MAX_BODY_BYTES:
        path = f"payloads/{scope.workspace}/{scope.agent}/{key}.json"
        objects.put(path, data)
        text = dump(_claim_check(body, path))
    queue.send(text, group=group, deduplication_id=key)


def send_write(
    type_: str,
    scope: Scope,
    store: str,
    fields: Body,
    queue: Queue,
    objects: Objects,
) -> None:
    """Send a message to the write queue, in the store's group. Raises Retryable."""
    owner = {"workspaceId": scope.workspace, "agentId": scope.agent}
    body = {"type": type_, **owner, **fields}
    group = group_of(scope.workspace, scope.agent, store)
    send_body(body, group, scope, queue, objects)


def _claim_check(body: Body, path: str) -> Body:
    stub = {"type": body["type"], "payload": path}
    if body.get("correlationId") is not None:
        stub["correlationId"] = body["correlationId"]
    return stub


def read_body(delivery: Delivery, objects: Objects, types: set[str]) -> Body:
    """Return a message's body, loaded from `payloads/` if the message is a claim check.

    Raises Rejected, Retryable.
    """
    body = load(delivery.body)
    if isinstance(body, dict) and "payload" in body:
        body = load(_load_payload(body["payload"], objects))
    return require_type(body, types)


def require_type(body: Any, types: set[str]) -> Body:
    """Return the body. Raises Rejected: its type is not one of `types`."""
    if not isinstance(body, dict) or str(body.get("type")) not in types:
        names = ", ".join(sorted(types))
        raise Rejected(
            "message", f"is not of a type this queue carries ({names})"
        )
    return body


def _load_payload(path: object, objects: Objects) -> bytes:
    """Return the object a claim check names; the path must lie in one agent's payloads."""
    parts = path.split("/") if isinstance(path, str) else [""]
    folder, *names = parts
    if folder != "payloads" or len(names) != 3:
        raise Rejected("payload", "is not the path of a payload")
    checked = [path_id(name, "payload") for name in names]
    key = "/".join(["payloads", *checked])
    stored = objects.get(key)
    if stored is None:
        raise Retryable("payload: there is no such object (yet)")
    return stored.data


def load(text: str | bytes) -> Any:
    """Decode JSON.

    Raises Rejected: not JSON, a key twice in one object, or values that no store can
    hold (NaN, lone surrogates).
    """
    try:
        value = parse_json(text)
        encoded = text if isinstance(text, bytes) else text.encode()
        if _SURROGATE in encoded.lower():
            dump(value).encode()  # raises for a lone surrogate
    except (ValueError, RecursionError) as error:
        raise Rejected("message", "is not valid JSON") from error
    return value


def dump(value: object) -> str:
    """Encode JSON in canonical form, so that equal values have equal hashes.

    Characters that SQS refuses are escaped.
    """
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    for character in _REFUSED:
        escaped = f"\\u{ord(character):04x}"
        text = text.replace(character, escaped)
    return text


def group_of(*parts: str) -> str:
    """Return the message group `workspace:agent:store`.

    It is hashed if SQS would refuse its length or its characters.
    """
    group = ":".join(parts)
    if len(group) > _MAX_GROUP or not group.isascii():
        return digest(group)
    return group


def group_scope(group: str) -> Scope | None:
    """Return the scope that a message group names; None: it is hashed, or names none."""
    workspace, _, rest = group.partition(":")
    agent = rest.partition(":")[0]
    try:
        return Scope(workspace, agent)
    except Rejected:
        return None


def malformed(error: Exception) -> Rejected:
    """Return a Rejected for an error in decoding; it names a field but quotes no content."""
    if isinstance(error, KeyError):
        return Rejected(str(error.args[0]), "is missing from the message")
    reason = f"does not have the form of its type ({type(error).__name__})"
    return Rejected("message", reason)
