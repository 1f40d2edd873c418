"""What template.yaml's roles for one agent at a time allow; no server on loopback evaluates that."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tests.support import sam
from varve.adapters.credentials.scoped import tags_of
from varve.domain.identity import Scope

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
ROLES = ("AgentReaderRole", "AgentWorkerRole")
ACTIONS = {
    "GET": "s3:GetObject",
    "HEAD": "s3:GetObject",
    "PUT": "s3:PutObject",
    "DELETE": "s3:DeleteObject",
}

Statement = dict[str, Any]


@cache
def _written() -> dict[str, tuple[Statement, ...]]:
    roles = sam.of_type(sam.load_template(TEMPLATE), "AWS::IAM::Role")
    return {
        name: tuple(roles[name]["Policies"][0]["PolicyDocument"]["Statement"])
        for name in ROLES
    }


def session_statements(scope: Scope, *roles: str) -> list[Statement]:
    """The statements of an agent's session, of these roles or of all together."""
    return [_filled(it, scope) for name in roles or ROLES for it in _written()[name]]


def _filled(value: Any, scope: Scope) -> Any:
    """The value with CloudFormation's references and the session's tags in place."""
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        return "arn:aws:s3:::{bucket}"
    if isinstance(value, dict) and "Fn::Sub" in value:
        return _substituted(value["Fn::Sub"], scope)
    if isinstance(value, dict):
        return {name: _filled(inner, scope) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, scope) for inner in value]
    return _substituted(value, scope) if isinstance(value, str) else value


def _substituted(text: str, scope: Scope) -> str:
    for tag, id_ in tags_of(scope).items():
        # Fn::Sub turns ${!x} into ${x}.
        text = text.replace("${!", "${").replace(f"${{aws:PrincipalTag/{tag}}}", id_)
    text = text.replace("${Bucket.Arn}", "arn:aws:s3:::{bucket}")
    assert "${" not in text
    return text


def allows(statements: Iterable[Statement], kind: str, bucket: str, key: str) -> bool:
    """Whether a GET, HEAD, PUT or DELETE of the key, or a LIST of it as the prefix, is allowed."""
    if kind in {"LIST", "FOLDERS"}:
        return any(_lists(statement, key) for statement in statements)
    arn = f"arn:aws:s3:::{bucket}/{key}"
    return any(
        ACTIONS[kind] in _several(statement["Action"])
        and any(
            _matches(it.format(bucket=bucket), arn)
            for it in _several(statement["Resource"])
        )
        for statement in statements
    )


def reaches(statements: Iterable[Statement], bucket: str, key: str) -> bool:
    """Whether the key, or the prefix of a listing, is of those that the statements are about at all."""
    arn = f"arn:aws:s3:::{bucket}/{key}"
    return any(
        _lists(it, key)
        or any(
            _matches(each.format(bucket=bucket), arn)
            for each in _several(it["Resource"])
        )
        for it in statements
    )


def _lists(statement: Statement, prefix: str) -> bool:
    patterns = statement.get("Condition", {}).get("StringLike", {}).get("s3:prefix", [])
    return "s3:ListBucket" in _several(statement["Action"]) and any(
        _matches(it, prefix) for it in patterns
    )


def _matches(pattern: str, text: str) -> bool:
    """IAM's wildcards: `*` is any text, slashes and all, `?` one character."""
    parts = {"*": ".*", "?": "."}
    return (
        re.fullmatch(
            "".join(parts.get(c, re.escape(c)) for c in pattern), text, re.DOTALL
        )
        is not None
    )


def _several(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
