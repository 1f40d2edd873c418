"""Requests to a Lambda Function URL that IAM has authenticated, and their answers.

Shape: AWS Lambda, "Request and response payloads" (format 2.0), and IAM, "IAM ARNs" and
"Assumed-role session principals".
"""

import json
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.identity import Identity

_ASSUMED = ":assumed-role/"


@dataclass(frozen=True, slots=True)
class UrlRequest:
    """One HTTP request, and the ARN of the principal who signed it."""

    caller: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


def parse_url_event(event: Any) -> UrlRequest:
    """Return the request of a Function URL's event. Raises Rejected: it is not signed."""
    try:
        context = event["requestContext"]
        caller = context["authorizer"]["iam"]["userArn"]
        http = context["http"]
        body = event.get("body") or ""
        is_encoded = event.get("isBase64Encoded", False)
        return UrlRequest(
            caller=caller,
            method=http["method"],
            path=event.get("rawPath", "/"),
            headers=dict(event["headers"]),
            body=b64decode(body) if is_encoded else body.encode(),
        )
    except (
        AttributeError,
        KeyError,
        NotBase64,
        TypeError,
        ValueError,
    ) as error:
        raise Rejected(
            "event", "is not a request that IAM has authenticated"
        ) from error


def find_caller(caller: str, identities: Mapping[str, Identity]) -> Identity:
    """Return the memory that a principal is bound to.

    A session of a role is bound by its own ARN or, without an entry, by that of its role:
    `arn:aws:iam::111122223333:role/NAME`, without a path, which sessions do not tell.
    Raises Rejected: nothing binds the principal.
    """
    for name in _names_of(caller):
        if name in identities:
            return identities[name]
    raise Rejected("caller", "is bound to no memory (VARVE_IDENTITIES)")


def _names_of(caller: str) -> list[str]:
    if _ASSUMED not in caller:
        return [caller]
    account, _, session = caller.partition(_ASSUMED)
    role = session.partition("/")[0]
    return [caller, f"{account.replace(':sts:', ':iam:')}:role/{role}"]


def build_url_answer(
    status: int, body: str, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return an answer as a Function URL takes it."""
    return {"statusCode": status, "headers": dict(headers or {}), "body": body}


def refuse_url_request(error: Rejected) -> dict[str, Any]:
    """Return the answer to a caller without a memory: 403 with the reason."""
    body = json.dumps(
        {"error": {"field": error.field, "reason": error.reason}}
    )
    return build_url_answer(403, body, {"content-type": "application/json"})
