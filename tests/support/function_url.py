"""A Lambda Function URL with IAM authentication, on loopback; and a client's signature.

It checks each request's SigV4 signature, and hands the function the event that AWS does.
Shape: AWS Lambda, "Request and response payloads", format 2.0.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.support.loopback import (
    ACCOUNT,
    REGION,
    LoopbackHandler,
    LoopbackServer,
)

Invoke = Callable[[dict[str, Any]], Mapping[str, Any]]
_KEY_ID = re.compile(r"Credential=([^/]+)/")
_SIGNED = re.compile(r"SignedHeaders=([^,]+)")
_DATE = "x-amz-date"


@dataclass(frozen=True)
class Principal:
    """Who signs: the ARN as Lambda tells it, and the key that signs."""

    arn: str
    key_id: str

    @property
    def secret(self) -> str:
        return f"secret of {self.key_id}"


def role_session(role: str, session: str = "one") -> Principal:
    arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{session}"
    key_id = hashlib.sha256(arn.encode()).hexdigest()[:16].upper()
    return Principal(arn, f"ASIA{key_id}")


class SignedAuth(httpx2.Auth):
    """Signs each request with SigV4 for the service `lambda`, as a caller in AWS does."""

    requires_request_body = True

    def __init__(self, principal: Principal) -> None:
        self._principal = principal

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        signed = AWSRequest(
            method=request.method,
            url=str(request.url),
            data=request.content,
            headers={"content-type": request.headers.get("content-type", "")},
        )
        _sign(self._principal, signed)
        for name in ("Authorization", "X-Amz-Date"):
            request.headers[name] = signed.headers[name]
        yield request


def _sign(principal: Principal, request: AWSRequest) -> None:
    credentials = Credentials(principal.key_id, principal.secret)
    SigV4Auth(credentials, "lambda", REGION).add_auth(request)


class _UrlHandler(LoopbackHandler):
    def post(self) -> None:
        url: FunctionUrl = self.server.owner  # type: ignore[attr-defined]
        body = self.body()
        principal = url.authenticate(self, body)
        if principal is None:
            self.answer_json(403, {"Message": "Forbidden"})
            return
        event = _build_event(self, body, principal)
        answer = url.invoke(event)
        self.answer(
            answer["statusCode"],
            answer["body"].encode(),
            _without_length(answer),
        )


class FunctionUrl(LoopbackServer):
    """Serves a function to the principals that it knows."""

    def __init__(self, invoke: Invoke, principals: list[Principal]) -> None:
        self.invoke = invoke
        self._principals = {one.key_id: one for one in principals}
        super().__init__(_UrlHandler)

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    def authenticate(
        self, handler: LoopbackHandler, body: bytes
    ) -> Principal | None:
        """Return who signed the request; None: no principal of the account."""
        given = handler.headers.get("Authorization", "")
        key_id, signed = _KEY_ID.search(given), _SIGNED.search(given)
        if (
            key_id is None
            or signed is None
            or key_id[1] not in self._principals
        ):
            return None
        principal = self._principals[key_id[1]]
        expected = AWSRequest(
            method=handler.command,
            url=f"http://{self.address}{handler.path}",
            data=body,
            headers={
                name: handler.headers.get(name, "")
                for name in signed[1].split(";")
                if name not in ("host", _DATE)
            },
        )
        expected.context["timestamp"] = handler.headers.get(_DATE, "")
        auth = SigV4Auth(
            Credentials(principal.key_id, principal.secret), "lambda", REGION
        )
        expected.headers["X-Amz-Date"] = expected.context["timestamp"]
        wanted = auth.signature(
            auth.string_to_sign(expected, auth.canonical_request(expected)),
            expected,
        )
        return principal if given.endswith(f"Signature={wanted}") else None


def _build_event(
    handler: LoopbackHandler, body: bytes, principal: Principal
) -> dict[str, Any]:
    headers = {name.lower(): value for name, value in handler.headers.items()}
    path, _, query = handler.path.partition("?")
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": ACCOUNT,
            "authorizer": {
                "iam": {
                    "accessKey": principal.key_id,
                    "accountId": ACCOUNT,
                    "callerId": f"AROA:{principal.key_id}",
                    "userArn": principal.arn,
                    "userId": f"AROA:{principal.key_id}",
                }
            },
            "http": {
                "method": handler.command,
                "path": path,
                "protocol": "HTTP/1.1",
            },
            "stage": "$default",
        },
        "body": body.decode(),
        "isBase64Encoded": False,
    }


def _without_length(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the answer's headers; Lambda sets the length itself."""
    return {
        name: value
        for name, value in answer["headers"].items()
        if name.lower() not in ("content-length", "content-type")
    }
