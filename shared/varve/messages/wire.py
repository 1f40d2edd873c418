"""Bodies on the queues: JSON that fits a message, or under `payloads/` with a claim check in its place."""

import json
from typing import Any

from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope, digest, path_id
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, Queue

MAX_BODY_BYTES = 250_000
"""What may travel in a message, in bytes of UTF-8; more takes the claim check.

Below the 256 KiB that every SQS queue takes, leaving room for message attributes.
"""
_MAX_GROUP = 128
_REFUSED = "\ufffe\uffff"
"""What JSON leaves as it is and SQS refuses in a body (InvalidMessageContents): no characters of XML."""
_SURROGATE = b"\\ud"
"""How the escape of a surrogate begins, of a lone one or of half a pair."""


def send_body(
    body: dict[str, Any],
    content: dict[str, Any],
    group: str,
    scope: Scope,
    queue: Queue,
    objects: Objects,
) -> None:
    """Send the body, or, where it is too large, put it under `payloads/` and send a claim check.

    The deduplication id is the hash of `content`. Raises Retryable.
    """
    text = dump(body)
    key = digest(dump(content))
    if len(text.encode()) > MAX_BODY_BYTES:
        path = f"payloads/{scope.workspace}/{scope.agent}/{key}.json"
        objects.put(path, text.encode())
        stub = {
            "type": body["type"],
            "payload": path,
            "correlationId": body.get("correlationId"),
        }
        text = dump({name: value for name, value in stub.items() if value is not None})
    queue.send(text, group=group, deduplication_id=key)


def read_body(delivery: Delivery, objects: Objects, types: set[str]) -> dict[str, Any]:
    """The body, fetched from `payloads/` where the message is a claim check. Raises Rejected, Retryable."""
    body = load(delivery.body)
    if isinstance(body, dict) and "payload" in body:
        body = load(_claimed(body["payload"], objects))
    return typed(body, types)


def typed(body: Any, types: set[str]) -> dict[str, Any]:
    """The body itself. Raises Rejected: it is of no type that the queue carries."""
    if not isinstance(body, dict) or str(body.get("type")) not in types:
        raise Rejected(
            "message",
            f"is not of a type this queue carries ({', '.join(sorted(types))})",
        )
    return body


def _claimed(path: object, objects: Objects) -> bytes:
    """The payload a claim check points to; only ever below one agent's own payloads."""
    parts = path.split("/") if isinstance(path, str) else []
    if len(parts) != 4 or parts[0] != "payloads":
        raise Rejected("payload", "is not the path of a payload")
    stored = objects.get(
        "/".join(["payloads", *(path_id(part, "payload") for part in parts[1:])])
    )
    if stored is None:
        raise Retryable("payload: there is no such object (yet)")
    return stored.data


def load(text: str | bytes) -> Any:
    """JSON decoded. Raises Rejected: it is none, or holds what no store takes (NaN, lone surrogates)."""
    try:
        value = json.loads(text, parse_constant=_not_a_number)
        if _SURROGATE in (text if isinstance(text, bytes) else text.encode()).lower():
            dump(value).encode()
    except (ValueError, RecursionError) as error:
        raise Rejected("message", "is not valid JSON") from error
    return value


def _not_a_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def dump(value: object) -> str:
    """JSON in its one canonical form, so that equal values have equal hashes; all of it SQS takes."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for character in _REFUSED:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def group_of(*parts: str) -> str:
    """`workspace:agent:store`, or its hash where SQS would not take the length or the letters."""
    group = ":".join(parts)
    return group if len(group) <= _MAX_GROUP and group.isascii() else digest(group)


def malformed(error: Exception) -> Rejected:
    """What went wrong in reading a body's fields, without anything of the body but a field's name."""
    if isinstance(error, KeyError):
        return Rejected(str(error.args[0]), "is missing from the message")
    return Rejected(
        "message", f"does not have the form of its type ({type(error).__name__})"
    )
