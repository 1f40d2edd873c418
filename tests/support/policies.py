"""The policies of template.yaml's roles, and an evaluator for them.

moto does not evaluate IAM. A Ceph RADOS gateway does; tests/contract/test_roles.py holds
the evaluator against it. `python -m tests.support.policies` prints every role's policy,
and those in `policies/`, as JSON for `make policies`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from tests.support import sam
from varve.adapters.credentials.scoped import tags_of
from varve.domain.identity import Scope

ROLES = ("AgentReaderRole", "AgentCallerRole", "AgentWorkerRole")
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
    return [
        _fill(it, scope)
        for name in roles or ROLES
        for it in _read_roles()[name]
    ]


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
        text = text.replace("${!", "${").replace(
            f"${{aws:PrincipalTag/{tag}}}", id_
        )
    text = text.replace("${Bucket.Arn}", "arn:aws:s3:::{bucket}")
    assert "${" not in text
    return text


def allows(
    statements: Iterable[Statement], kind: str, bucket: str, key: str
) -> bool:
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
    patterns = (
        statement.get("Condition", {})
        .get("StringLike", {})
        .get("s3:prefix", [])
    )
    return "s3:ListBucket" in _as_list(statement["Action"]) and any(
        _matches(it, prefix) for it in _as_list(patterns)
    )


def _matches(pattern: str, text: str) -> bool:
    """Match IAM's wildcards: `*` is any text with slashes, `?` is one character."""
    return _compile(pattern).fullmatch(text) is not None


@cache  # two hundred tenants have more patterns than `re` keeps
def _compile(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile(
        "".join(parts.get(c, re.escape(c)) for c in pattern), re.DOTALL
    )


def _as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def role_documents(
    *, scoped: bool = False, bucket: str = "memory"
) -> dict[str, Any]:
    """Return the policy of every role of the template as IAM would receive it.

    References become ARNs of example resources; the bucket is `bucket`. With `scoped`,
    the template's ScopedCredentials are on.
    """
    roles = sam.of_type(sam.load_template(sam.TEMPLATE), "AWS::IAM::Role")
    documents = {}
    for name, properties in roles.items():
        for policy in properties.get("Policies", []):
            document = _concrete(policy["PolicyDocument"], scoped, bucket)
            documents[name] = document
    return documents


def s3_document(document: Statement) -> Statement:
    """Return the policy with its S3 statements only."""
    kept = []
    for statement in document["Statement"]:
        actions = _as_list(statement["Action"])
        if all(action.startswith("s3:") for action in actions):
            kept.append(statement)
    return {**document, "Statement": kept}


def _concrete(value: Any, scoped: bool, bucket: str) -> Any:
    if isinstance(value, list):
        concrete = [_concrete(inner, scoped, bucket) for inner in value]
        return [inner for inner in concrete if inner is not None]
    if not isinstance(value, dict):
        return value
    if "Fn::If" in value:
        condition, yes, no = value["Fn::If"]
        holds = {"IsUnscoped": not scoped, "IsScoped": scoped}.get(
            condition, True
        )
        return _concrete(yes if holds else no, scoped, bucket)
    if "Ref" in value or "Fn::GetAtt" in value or "Fn::Sub" in value:
        return _example_arn(value, bucket)
    return {
        name: _concrete(inner, scoped, bucket) for name, inner in value.items()
    }


def _example_arn(reference: dict[str, Any], bucket: str) -> str | None:
    """Return the ARN that a reference of a policy stands for."""
    if "Fn::Sub" in reference:
        return _example_text(reference["Fn::Sub"], bucket)
    name = reference.get("Ref") or reference["Fn::GetAtt"][0]
    if name == "AWS::NoValue":
        return None
    for ending, arn in _EXAMPLES.items():
        if name.endswith(ending):
            return arn.format(name=name, bucket=bucket)
    raise ValueError(f"no example of {name}")


def _example_text(text: str, bucket: str) -> str:
    constants = {
        "Partition": "aws",
        "Region": "us-east-1",
        "AccountId": _ACCOUNT,
    }
    for name, value in constants.items():
        text = text.replace(f"${{AWS::{name}}}", value)
    text = text.replace("${Bucket.Arn}", f"arn:aws:s3:::{bucket}")
    # Fn::Sub turns ${!x} into ${x}, which is IAM's own variable.
    return text.replace("${!", "${")


_ACCOUNT = "123456789012"
_EXAMPLES = {
    "LogGroup": f"arn:aws:logs:us-east-1:{_ACCOUNT}:log-group:{{name}}:*",
    "Queue": f"arn:aws:sqs:us-east-1:{_ACCOUNT}:{{name}}.fifo",
    "Bucket": "arn:aws:s3:::{bucket}",
    "SecretArn": f"arn:aws:secretsmanager:us-east-1:{_ACCOUNT}:secret:model-key",
    "Function": f"arn:aws:lambda:us-east-1:{_ACCOUNT}:function:{{name}}",
}


def read_files() -> dict[str, Any]:
    """Return the policies of the folder `policies` by name."""
    return {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted((sam.TEMPLATE.parent / "policies").glob("*.json"))
    }


if __name__ == "__main__":
    print(
        json.dumps(
            {
                "unscoped": role_documents(),
                "scoped": role_documents(scoped=True),
                "file": read_files(),
            }
        )
    )
