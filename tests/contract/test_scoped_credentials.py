"""Credentials for one agent's objects, or for its records alone, from STS on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.support.s3 import s3_server
from varve import Memory
from varve.adapters.credentials.scoped import ScopedCredentials, records_policy
from varve.domain.identity import Scope

ROLE = "arn:aws:iam::123456789012:role/reader"
ACME = Scope("acme", "support")
MAX_POLICY = 2_048
"""The most characters of a session policy (IAM User Guide, "IAM and STS quotas")."""


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[str]:
    with s3_server("memory") as endpoint:
        yield endpoint


def test_an_agent_and_its_readers_have_credentials_of_their_own_that_are_kept() -> (
    None
):
    scoped = ScopedCredentials(
        ROLE, ("memory", "root"), lambda: datetime.now(UTC)
    )
    own, shared = scoped.of(ACME), scoped.of_records(ACME)
    assert own.access_key_id != shared.access_key_id
    assert scoped.of(ACME) is own
    assert scoped.of_records(ACME) is shared
    scoped._client.close()


@pytest.mark.parametrize(
    ("role", "location", "records"),
    [
        (ROLE, ("b", "root"), "arn:aws:s3:::b/root/vectordb/acme/support/*"),
        (ROLE, ("b", ""), "arn:aws:s3:::b/vectordb/acme/support/*"),
        (
            ROLE.replace("aws:", "aws-cn:", 1),
            ("b", "x/y"),
            "arn:aws-cn:s3:::b/x/y/vectordb/acme/support/*",
        ),
    ],
)
def test_a_session_policy_names_the_records_of_one_agent(
    role: str, location: tuple[str, str], records: str
) -> None:
    reading, listing = json.loads(records_policy(role, location, ACME))[
        "Statement"
    ]
    assert reading["Action"] == "s3:GetObject"
    assert reading["Resource"] == records
    prefix = listing["Condition"]["StringLike"]["s3:prefix"]
    assert records == f"{listing['Resource']}/{prefix}"


def test_the_longest_ids_fit_into_a_session_policy() -> None:
    longest = Scope("w" * 128, "a" * 128)
    assert (
        len(records_policy(ROLE, ("b" * 63, "p" * 512), longest)) <= MAX_POLICY
    )


def test_a_search_over_a_shared_agent_gets_its_records_with_their_own_session() -> (
    None
):
    environment = {"VARVE_SCOPED_ROLE": ROLE}
    now = datetime(2026, 3, 3, tzinfo=UTC)
    own, other = (
        Memory.open(
            "s3://memory/root",
            workspace="acme",
            agent=agent,
            now=now,
            environment=environment,
        )
        for agent in ("support", "sales")
    )
    other.remember("Dana's contract ends in June.")
    other.share.grant("support", types=["turn", "fact"])
    found = own.search("When does Dana's contract end?", agents=["sales"])
    assert [result.agent_id for result in found.results] == ["sales"]
    opened = {(str(scope), sort) for scope, sort in own.sessions._scoped}
    assert opened == {("acme/support", "own"), ("acme/sales", "shared")}
    other.share.revoke("support")
    assert (
        own.search("When does Dana's contract end?", agents=["sales"]).results
        == []
    )
