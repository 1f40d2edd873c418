"""Credentials of a role for one agent's objects, from STS AssumeRole with session tags.

The role's policy has the tags in its paths. So if the code builds a wrong path, S3 refuses
access to another agent's objects. A session policy could say the same, but it is limited
to 2,048 characters, which two ids of fifteen characters fill. It is long enough for the
one path that is left of them where an agent reads another one's records.
Source: IAM User Guide, "Pass session tags in AWS STS" and "Session policies".
"""

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock
from typing import Any

import boto3

from varve.adapters.aws_errors import translate_aws_errors
from varve.domain.identity import Scope, digest
from varve.ports.clock import Clock

FRESH_FOR = timedelta(minutes=10)
"""Credentials with less time left are replaced. A request takes less than this."""
SESSION_SECONDS = 3_600
"""One hour, the maximum when one role's session assumes another role."""
MAX_CACHED_AGENTS = 500


@dataclass(frozen=True, slots=True)
class TemporaryCredentials:
    """Temporary AWS credentials and their expiry time."""

    access_key_id: str
    secret_access_key: str
    token: str
    expires: datetime

    def for_objects(self) -> Mapping[str, str]:
        """Return them under obstore's names."""
        return {
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
            "token": self.token,
        }

    def for_lance(self) -> Mapping[str, str]:
        """Return them under LanceDB's names."""
        return {
            "aws_access_key_id": self.access_key_id,
            "aws_secret_access_key": self.secret_access_key,
            "aws_session_token": self.token,
        }


class ScopedCredentials:
    """A cache of one role's temporary credentials for each agent.

    `location` is the store's bucket and the prefix of its keys.
    """

    def __init__(
        self, role: str, location: tuple[str, str], clock: Clock
    ) -> None:
        self._role = role
        self._location = location
        self._clock = clock
        self._cached: OrderedDict[tuple[Scope, bool], TemporaryCredentials]
        self._cached = OrderedDict()
        self._lock = Lock()

    def of(self, scope: Scope) -> TemporaryCredentials:
        """Return the agent's credentials, with at least `FRESH_FOR` left.

        Raises Misconfigured: the role cannot be assumed; Retryable.
        """
        return self._get(scope, only_records=False)

    def of_records(self, scope: Scope) -> TemporaryCredentials:
        """Return credentials that read the agent's records and nothing else.

        Another agent reads with them what this one shares. Raises what `of` raises.
        """
        return self._get(scope, only_records=True)

    def _get(
        self, scope: Scope, *, only_records: bool
    ) -> TemporaryCredentials:
        key = (scope, only_records)
        with self._lock:
            cached = self._cached.get(key)
        if cached is not None and cached.expires - self._clock() > FRESH_FOR:
            return cached
        limits = {}
        if only_records:
            limits["Policy"] = records_policy(
                self._role, self._location, scope
            )
        credentials = self._assume_role(scope, limits)
        with self._lock:
            self._cached[key] = credentials
            self._cached.move_to_end(key)
            if len(self._cached) > MAX_CACHED_AGENTS:
                self._cached.popitem(last=False)
        return credentials

    @cached_property
    def _client(self) -> Any:
        return boto3.client("sts")

    def _assume_role(
        self, scope: Scope, limits: Mapping[str, str]
    ) -> TemporaryCredentials:
        tags = []
        for key, value in tags_of(scope).items():
            tags.append({"Key": key, "Value": value})
        with translate_aws_errors(f"role {self._role}"):
            answer = self._client.assume_role(
                RoleArn=self._role,
                # CloudTrail shows this name, which has at most 64 characters.
                RoleSessionName=f"varve-{digest(str(scope), length=24)}",
                Tags=tags,
                DurationSeconds=SESSION_SECONDS,
                **limits,
            )
        given = answer["Credentials"]
        return TemporaryCredentials(
            given["AccessKeyId"],
            given["SecretAccessKey"],
            given["SessionToken"],
            given["Expiration"],
        )


def tags_of(scope: Scope) -> dict[str, str]:
    """Return an agent's session tags.

    The role's policy reads them as `aws:PrincipalTag/workspace` and `/agent`.
    """
    return {"workspace": scope.workspace, "agent": scope.agent}


def records_policy(role: str, location: tuple[str, str], scope: Scope) -> str:
    """Return the session policy that leaves of the role's rights the reading of records.

    A session may do what both its role and its session policy allow. The ids have no
    character that is special in a policy.
    """
    bucket, prefix = location
    partition = role.split(":")[1] if role.startswith("arn:") else "aws"
    arn = f"arn:{partition}:s3:::{bucket}"
    records = "/".join(
        filter(None, (prefix.strip("/"), f"vectordb/{scope}/*"))
    )
    listing = {"StringLike": {"s3:prefix": records}}
    statements = [
        {
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": f"{arn}/{records}",
        },
        {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": arn,
            "Condition": listing,
        },
    ]
    policy = {"Version": "2012-10-17", "Statement": statements}
    return json.dumps(policy, separators=(",", ":"))
