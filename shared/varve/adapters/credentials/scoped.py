"""Credentials of a role that reach one agent's objects alone, from STS AssumeRole with session tags.

The role's policy has the tags in its paths, so whatever path the code should ever build by mistake, S3
refuses what is another's. A session policy would say the same, but may have 2,048 characters, and
two ids of fifteen fill them. Source: IAM User Guide, "Pass session tags in AWS STS".
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock
from typing import Any

import boto3

from varve.adapters.queues.sqs import translated
from varve.domain.identity import Scope, digest
from varve.ports.clock import Clock

FRESH_FOR = timedelta(minutes=10)
"""Sessions with less time left are replaced: a request takes less."""
SESSION_SECONDS = 3_600
"""An hour is the most that a role's session gets which another role's session asks for."""
MAX_KEPT = 500


@dataclass(frozen=True, slots=True)
class ScopedSession:
    """Temporary credentials, and until when they hold."""

    access_key_id: str
    secret_access_key: str
    token: str
    expires: datetime

    def for_objects(self) -> Mapping[str, str]:
        """As obstore calls them."""
        key, secret = self.access_key_id, self.secret_access_key
        return {"access_key_id": key, "secret_access_key": secret, "token": self.token}

    def for_lance(self) -> Mapping[str, str]:
        """As LanceDB calls them."""
        return {
            "aws_access_key_id": self.access_key_id,
            "aws_secret_access_key": self.secret_access_key,
            "aws_session_token": self.token,
        }


class ScopedCredentials:
    """Sessions of a role, one for each agent."""

    def __init__(self, role: str, clock: Clock) -> None:
        self._role, self._clock = role, clock
        self._sessions: OrderedDict[Scope, ScopedSession] = OrderedDict()
        self._lock = Lock()

    def of(self, scope: Scope) -> ScopedSession:
        """The agent's session, with some time left. Raises Misconfigured, Retryable."""
        with self._lock:
            kept = self._sessions.get(scope)
        if kept is not None and kept.expires - self._clock() > FRESH_FOR:
            return kept
        session = self._assume(scope)
        with self._lock:
            self._sessions[scope] = session
            self._sessions.move_to_end(scope)
            if len(self._sessions) > MAX_KEPT:
                self._sessions.popitem(last=False)
        return session

    @cached_property
    def _client(self) -> Any:
        return boto3.client("sts")

    def _assume(self, scope: Scope) -> ScopedSession:
        with translated(f"role {self._role}"):
            answer = self._client.assume_role(
                RoleArn=self._role,
                # Shown in CloudTrail; ids may be longer than the 64 characters of a name.
                RoleSessionName=f"varve-{digest(str(scope), length=24)}",
                Tags=[
                    {"Key": key, "Value": value}
                    for key, value in tags_of(scope).items()
                ],
                DurationSeconds=SESSION_SECONDS,
            )
        given = answer["Credentials"]
        return ScopedSession(
            given["AccessKeyId"],
            given["SecretAccessKey"],
            given["SessionToken"],
            given["Expiration"],
        )


def tags_of(scope: Scope) -> dict[str, str]:
    """What the role's policy knows an agent's session by, as `aws:PrincipalTag/workspace` and `/agent`."""
    return {"workspace": scope.workspace, "agent": scope.agent}
