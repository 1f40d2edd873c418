"""Credentials of a role for one agent's objects, from STS AssumeRole with session tags.

The role's policy has the tags in its paths. So if the code builds a wrong path, S3 refuses
access to another agent's objects. A session policy could say the same, but it is limited
to 2,048 characters, which two ids of fifteen characters fill.
Source: IAM User Guide, "Pass session tags in AWS STS".
"""

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
    """A cache of one role's temporary credentials for each agent."""

    def __init__(self, role: str, clock: Clock) -> None:
        self._role = role
        self._clock = clock
        self._cached: OrderedDict[Scope, TemporaryCredentials] = OrderedDict()
        self._lock = Lock()

    def of(self, scope: Scope) -> TemporaryCredentials:
        """Return the agent's credentials, with at least `FRESH_FOR` left.

        Raises Misconfigured: the role cannot be assumed; Retryable.
        """
        with self._lock:
            cached = self._cached.get(scope)
        if cached is not None and cached.expires - self._clock() > FRESH_FOR:
            return cached
        credentials = self._assume_role(scope)
        with self._lock:
            self._cached[scope] = credentials
            self._cached.move_to_end(scope)
            if len(self._cached) > MAX_CACHED_AGENTS:
                self._cached.popitem(last=False)
        return credentials

    @cached_property
    def _client(self) -> Any:
        return boto3.client("sts")

    def _assume_role(self, scope: Scope) -> TemporaryCredentials:
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
