"""The policies in `policies/`: enough to deploy and to call, and nothing that reads memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import cfnlint
import pytest

from tests.support import sam
from tests.support.policies import read_files

SCHEMAS = Path(cfnlint.__file__).parent / "data" / "schemas" / "resources"
"""CloudFormation's registry: each type's handlers with the permissions that they need."""
HANDLERS = ("create", "read", "update", "delete")
UNUSED = re.compile(
    "Accelerate|Analytics|AttachRole|Bearer|Boundary|Capacity|CodeSigning|Concurrency|"
    "Connection|Cors|DataProtection|DeleteBucketEncryption|DeletionProtection|Delivery|"
    "DetachRole|GroupPolicy|Index|Intelligent|Inventory|Kms|Layer|Lifecycle|Metadata|"
    "Metrics|ObjectAcl|ObjectLock|PublishVersion|Replication|ResourcePolic|RuntimeAlias|"
    "RuntimeManagement|Scaling|SchemaVersion|UserPolicy|Website"
)
"""What handlers need for properties that the template does not set."""
KEPT = {"s3:DeleteBucket", "s3:DeleteObject"}
"""Deleting the stack leaves the bucket."""
DATA = (
    "lambda:InvokeFunction",
    "lambda:InvokeFunctionUrl",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListBucket",
    "s3:PutObject",
    "secretsmanager:GetSecretValue",
    "sqs:ReceiveMessage",
    "sqs:SendMessage",
)


def list_actions(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return action if isinstance(action, list) else [action]


def find_statements(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_files()[name]["Statement"]
    return found


def list_needed(types: set[str]) -> Iterator[str]:
    """Yield the permissions of the types' handlers in the types' own services."""
    for path in SCHEMAS.glob("*.json"):
        schema = json.loads(path.read_text("utf-8"))
        if schema.get("typeName") not in types:
            continue
        service = schema["typeName"].split("::")[1].lower()
        handlers = schema.get("handlers", {})
        for name in HANDLERS:
            for one in handlers.get(name, {}).get("permissions", []):
                if one.startswith(f"{service}:"):
                    yield one


@pytest.fixture(scope="module")
def needed() -> set[str]:
    deployed = json.loads(sam.DEPLOYED.read_text("utf-8"))
    resources = deployed["Resources"].values()
    types = {one["Type"] for one in resources}
    found = {one for one in list_needed(types) if not UNUSED.search(one)}
    assert {one.split(":")[0] for one in found} == {
        type_.split("::")[1].lower() for type_ in types
    }
    return found - KEPT


def test_the_deployer_may_do_what_the_templates_resources_need(
    needed: set[str],
) -> None:
    patterns = [
        action
        for statement in find_statements("deployer")
        for action in list_actions(statement)
    ]
    missing = {
        one
        for one in needed
        if not any(fnmatchcase(one, pattern) for pattern in patterns)
    }
    assert missing == set()


def test_the_deployer_reads_and_writes_no_memory() -> None:
    for statement in find_statements("deployer"):
        if "aws-sam-cli-managed-default" in str(statement["Resource"]):
            continue
        for action in list_actions(statement):
            assert not any(fnmatchcase(one, action) for one in DATA), action


def test_the_deployers_policy_fits_into_a_managed_policy() -> None:
    text = json.dumps(read_files()["deployer"], separators=(",", ":"))
    assert len(text) <= 6_144


def test_every_statement_names_what_it_is_about() -> None:
    alone = {
        "cloudformation:GetTemplateSummary",
        "cloudformation:ValidateTemplate",
        "ecr:GetAuthorizationToken",
        "logs:DescribeIndexPolicies",
        "logs:DescribeLogGroups",
    }
    for name in read_files():
        for statement in find_statements(name):
            if statement["Resource"] == "*" and "Condition" not in statement:
                assert set(list_actions(statement)) <= alone, name
