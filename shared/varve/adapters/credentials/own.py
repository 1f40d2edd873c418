"""The AWS credentials and region that boto3 finds for this process.

They apply if the environment variables are not set. obstore itself knows only the
variables and instance roles, not profiles or single sign-on.
"""

from typing import Any

import boto3
from botocore.exceptions import BotoCoreError
from obstore.auth.boto3 import Boto3CredentialProvider

from varve.domain.errors import Misconfigured


def credential_provider() -> Any:
    """Build the provider that gives obstore credentials and renews them on expiry.

    Raises Misconfigured: there are no credentials.
    """
    try:
        provider = Boto3CredentialProvider(boto3.Session())
        provider()  # an expired sign-on fails here, with its own message
    except BotoCoreError as error:
        raise Misconfigured(f"AWS credentials: {error}") from error
    except ValueError as error:
        raise Misconfigured(
            "AWS credentials: there are none; "
            "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ) from error
    return provider


def profile_region() -> str | None:
    """Return the profile's region. Raises Misconfigured: there is no such profile."""
    try:
        region: str | None = boto3.Session().region_name
    except BotoCoreError as error:
        raise Misconfigured(f"AWS_PROFILE: {error}") from error
    return region
