"""An evaluator for the roles of one agent in template.yaml; no loopback server evaluates IAM."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from tests.support import sam
from varve.adapters.credentials.scoped import tags_of
from varve.domain.identity import Scope

ROLES = ("AgentReaderRole", "AgentWorkerRole")
ACTIONS = {
    "GET": "s3:GetObject",
    "HEAD": "s3:GetObject",
    "PUT": "s3:PutObject",
    "DELETE": "s3:DeleteObject",
}

Statement = dict[str, Any]


@cache
def _read_roles() -> dict[str, tuple[Statement, ...]]:
    roles = sam.of_type(sam.load_template(sam.TEMPLATE), "AWS::IAM::Role")
    return {
        name: tuple(roles[name]["Policies"][0]["PolicyDocument"]["Statement"])
        for name in ROLES
    }


def session_statements(scope: Scope, *roles: str) -> list[Statement]:
    """Return the statements of an agent's session, of the given roles or of all."""
    return [_fill(it, scope) for name in roles or ROLES for it in _read_roles()[name]]


def _fill(value: Any, scope: Scope) -> Any:
    """Replace CloudFormation's references and the session's tags in a value."""
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        return "arn:aws:s3:::{bucket}"
    if isinstance(value, dict) and "Fn::Sub" in value:
        return _substitute(value["Fn::Sub"], scope)
    if isinstance(value, dict):
        return {name: _fill(inner, scope) for name, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, scope) for inner in value]
    return _substitute(value, scope) if isinstance(value, str) else value


def _substitute(text: str, scope: Scope) -> str:
    for tag, id_ in tags_of(scope).items():
        # Fn::Sub turns ${!x} into ${x}.
        text = text.replace("${!", "${").replace(f"${{aws:PrincipalTag/{tag}}}", id_)
    text = text.replace("${Bucket.Arn}", "arn:aws:s3:::{bucket}")
    assert "${" not in text
    return text


def allows(statements: Iterable[Statement], kind: str, bucket: str, key: str) -> bool:
    """Return whether a GET, HEAD, PUT or DELETE of the key, or a LIST of the prefix, is allowed."""
    if kind in {"LIST", "FOLDERS"}:
        return any(_lists(statement, key) for statement in statements)
    arn = f"arn:aws:s3:::{bucket}/{key}"
    return any(
        ACTIONS[kind] in _as_list(statement["Action"])
        and any(
            _matches(it.format(bucket=bucket), arn)
            for it in _as_list(statement["Resource"])
        )
        for statement in statements
    )


def reaches(statements: Iterable[Statement], bucket: str, key: str) -> bool:
    """Return whether any statement covers the key, or covers it as the prefix of a listing."""
    arn = f"arn:aws:s3:::{bucket}/{key}"
    return any(
        _lists(it, key)
        or any(
            _matches(each.format(bucket=bucket), arn)
            for each in _as_list(it["Resource"])
        )
        for it in statements
    )


def _lists(statement: Statement, prefix: str) -> bool:
    patterns = statement.get("Condition", {}).get("StringLike", {}).get("s3:prefix", [])
    return "s3:ListBucket" in _as_list(statement["Action"]) and any(
        _matches(it, prefix) for it in patterns
    )


def _matches(pattern: str, text: str) -> bool:
    """Match IAM's wildcards: `*` is any text with slashes, `?` is one character."""
    parts = {"*": ".*", "?": "."}
    return (
        re.fullmatch(
            "".join(parts.get(c, re.escape(c)) for c in pattern), text, re.DOTALL
        )
        is not None
    )


def _as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
