"""The template's roles where IAM is evaluated: policies, `s3:prefix`, and STS AssumeRole.

A Ceph RADOS gateway evaluates them; `make contract-rgw` starts one and names it in
VARVE_TEST_IAM. Ceph 16 refuses a policy with the variables `aws:PrincipalTag/…`, so an
agent's session has a role whose policy holds the ids already.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.policies import (
    allows,
    role_documents,
    s3_document,
    session_statements,
)
from varve.domain.identity import Scope

ENDPOINT = os.environ.get("VARVE_TEST_IAM", "")
KEY = "testing"
BUCKET = "memory"
ACME = Scope("acme", "support")
FUNCTION_ROLES = (
    "IngestRole",
    "ExtractRole",
    "WriteRole",
    "SummarizeRole",
    "CleanupRole",
    "SearchRole",
    "McpRole",
    "ForgetRole",
)
AGENT_ROLES = ("AgentReaderRole", "AgentCallerRole", "AgentWorkerRole")
AREAS = (
    "costs/{}/{}/2026-11.json",
    "audit/{}/proposals/{}.json",
    "audit/{}/tombstones/{}.json",
    "grants/{}/{}/grants.json",
    "graphs/{}/{}/facts.parquet",
    "ledger/conversations/{}/{}/c-1.json",
    "ledger/due/daily/2026-03-02/{}/{}/t",
    "ledger/marks/{}/{}/daily/2026-03-02/t",
    "notes/{}/{}/all/x.json",
    "payloads/{}/{}/x.json",
    "searches/{}/{}/2026-03-02/x.jsonl",
    "profiles/{}/{}/u.json",
    "timeline/{}/{}/2026-03-02/c-1/x.jsonl",
    "vectordb/{}/{}/daily/memories.lance/x",
    "workspaces/{}/config.json",
)
SCOPES = (("acme", "support"), ("acme", "sales"), ("rival", "support"))
KEYS = [
    *(f"memory/{area}".format(*scope) for area in AREAS for scope in SCOPES),
    "elsewhere/x",
]
PREFIXES = ["", "memory/", *(f"{key.rpartition('/')[0]}/" for key in KEYS)]
KINDS = ("GET", "PUT", "DELETE", "LIST")

pytestmark = pytest.mark.skipif(
    not ENDPOINT, reason="VARVE_TEST_IAM names no gateway"
)


def client(service: str, **credentials: str) -> Any:
    given = credentials or {
        "aws_access_key_id": KEY,
        "aws_secret_access_key": KEY,
    }
    return boto3.client(
        service, endpoint_url=ENDPOINT, region_name="us-east-1", **given
    )


def compact(document: Any) -> str:
    # Ceph 16 does not read a `+` of a form as a space.
    return json.dumps(document, separators=(",", ":"))


@pytest.fixture(scope="module", autouse=True)
def bucket() -> Any:
    owner = client("s3")
    owner.create_bucket(Bucket=BUCKET)
    return owner


@cache
def assume(role: str, scoped: bool) -> Any:
    """Return an S3 client with a session of the role."""
    iam = client("iam")
    name = f"{role}-{uuid4().hex}"
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": ["arn:aws:iam:::user/tests"]},
                "Action": ["sts:AssumeRole"],
            }
        ],
    }
    created = iam.create_role(
        RoleName=name, AssumeRolePolicyDocument=compact(trust)
    )
    document = {"Version": "2012-10-17", "Statement": statements(role, scoped)}
    iam.put_role_policy(
        RoleName=name, PolicyName="template", PolicyDocument=compact(document)
    )
    answer = client("sts").assume_role(
        RoleArn=created["Role"]["Arn"], RoleSessionName="contract"
    )
    given = answer["Credentials"]
    return client(
        "s3",
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )


def statements(role: str, scoped: bool) -> list[dict[str, Any]]:
    if role in AGENT_ROLES:
        text = json.dumps(session_statements(ACME, role))
        filled: list[dict[str, Any]] = json.loads(
            text.replace("{bucket}", BUCKET)
        )
        return filled
    document = s3_document(role_documents(scoped=scoped, bucket=BUCKET)[role])
    kept: list[dict[str, Any]] = document["Statement"]
    return kept


def passes(session: Any, kind: str, key: str) -> bool:
    """Make the call; return whether the gateway lets it through."""
    calls: dict[str, Callable[[], Any]] = {
        "GET": lambda: session.get_object(Bucket=BUCKET, Key=key),
        "PUT": lambda: session.put_object(Bucket=BUCKET, Key=key, Body=b"1"),
        "DELETE": lambda: session.delete_object(Bucket=BUCKET, Key=key),
        "LIST": lambda: session.list_objects_v2(Bucket=BUCKET, Prefix=key),
    }
    try:
        calls[kind]()
    except ClientError as error:
        if error.response["Error"]["Code"] != "AccessDenied":
            raise
        return False
    return True


ALL = [
    *((role, False) for role in FUNCTION_ROLES),
    *((role, True) for role in ("ExtractRole", "SummarizeRole", "McpRole")),
    *((role, True) for role in AGENT_ROLES),
]


@pytest.mark.parametrize(("role", "scoped"), ALL)
def test_invariant_7_a_role_lets_through_what_its_policy_says_and_nothing_else(
    bucket: Any, role: str, scoped: bool
) -> None:
    session = assume(role, scoped)
    granted = statements(role, scoped)
    wrong = []
    for kind in KINDS:
        for key in PREFIXES if kind == "LIST" else KEYS:
            if kind in {"GET", "DELETE"}:
                bucket.put_object(Bucket=BUCKET, Key=key, Body=b"1")
            expected = allows(granted, kind, BUCKET, key)
            if passes(session, kind, key) != expected:
                wrong.append((kind, key, expected))
    assert wrong == []


@pytest.mark.parametrize(
    ("role", "kind", "area", "allowed"),
    [
        ("IngestRole", "PUT", "payloads/acme/support/x.json", True),
        ("IngestRole", "GET", "vectordb/acme/support/daily/memories.lance/x", False),
        ("ExtractRole", "PUT", "timeline/acme/support/2026-03-02/c-1/x.jsonl", True),
        ("ExtractRole", "PUT", "vectordb/acme/support/daily/memories.lance/x", False),
        ("WriteRole", "DELETE", "vectordb/acme/support/daily/memories.lance/x", True),
        ("WriteRole", "GET", "timeline/acme/support/2026-03-02/c-1/x.jsonl", False),
        ("WriteRole", "GET", "notes/acme/support/all/x.json", True),
        ("AgentCallerRole", "GET", "notes/acme/support/all/x.json", True),
        ("AgentCallerRole", "GET", "notes/acme/sales/all/x.json", False),
        ("SummarizeRole", "PUT", "vectordb/acme/support/daily/memories.lance/x", False),
        ("CleanupRole", "LIST", "ledger/expiry/", True),
        ("CleanupRole", "GET", "ledger/marks/acme/support/daily/2026-03-02/t", False),
        ("SearchRole", "GET", "vectordb/acme/support/daily/memories.lance/x", True),
        ("SearchRole", "PUT", "timeline/acme/support/2026-03-02/c-1/x.jsonl", False),
        ("ForgetRole", "DELETE", "timeline/acme/support/2026-03-02/c-1/x.jsonl", True),
        ("ForgetRole", "DELETE", "vectordb/acme/support/daily/memories.lance/x", False),
        ("AgentReaderRole", "GET", "timeline/acme/support/2026-03-02/c-1/x.jsonl", True),
        ("AgentReaderRole", "GET", "timeline/acme/sales/2026-03-02/c-1/x.jsonl", False),
        ("AgentReaderRole", "GET", "timeline/rival/support/2026-03-02/c-1/x.jsonl", False),
        ("AgentReaderRole", "GET", "grants/acme/sales/grants.json", True),
        ("AgentReaderRole", "PUT", "grants/acme/support/grants.json", False),
        ("AgentReaderRole", "GET", "grants/rival/support/grants.json", False),
        ("AgentReaderRole", "LIST", "vectordb/acme/support/", True),
        ("AgentReaderRole", "LIST", "vectordb/acme/", False),
        ("AgentReaderRole", "LIST", "vectordb/acme/support-2/", False),
        ("McpRole", "PUT", "audit/acme/proposals/support.json", True),
        ("McpRole", "PUT", "audit/acme/tombstones/support.json", False),
        ("AgentCallerRole", "PUT", "audit/acme/proposals/support.json", True),
        ("AgentCallerRole", "PUT", "audit/acme/proposals/sales.json", False),
        ("AgentCallerRole", "GET", "timeline/acme/sales/2026-03-02/c-1/x.jsonl", False),
        ("AgentWorkerRole", "PUT", "timeline/acme/support/2026-03-02/c-1/x.jsonl", True),
        ("AgentWorkerRole", "PUT", "vectordb/acme/support/daily/memories.lance/x", False),
        ("AgentWorkerRole", "DELETE", "ledger/due/daily/2026-03-02/acme/sales/t", False),
    ],
)  # fmt: skip
def test_invariant_7_calls_that_must_pass_and_calls_that_must_be_refused(
    bucket: Any, role: str, kind: str, area: str, allowed: bool
) -> None:
    key = f"memory/{area}"
    if kind in {"GET", "DELETE"}:
        bucket.put_object(Bucket=BUCKET, Key=key, Body=b"1")
    assert passes(assume(role, role in AGENT_ROLES), kind, key) == allowed


def test_a_missing_key_that_a_function_may_read_is_missing_and_not_forbidden() -> (
    None
):
    with pytest.raises(ClientError) as refused:
        assume("SearchRole", False).get_object(
            Bucket=BUCKET, Key="memory/workspaces/none/config.json"
        )
    assert refused.value.response["Error"]["Code"] == "NoSuchKey"
