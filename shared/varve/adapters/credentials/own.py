"""This process's own AWS credentials and region where no variables name them: what boto3 finds.

obstore itself knows the variables and instance roles alone: no profiles, no single sign-on.
"""

from typing import Any

import boto3
from botocore.exceptions import BotoCoreError
from obstore.auth.boto3 import Boto3CredentialProvider

from varve.domain.errors import Misconfigured


def credential_provider() -> Any:
    """What hands obstore credentials, new ones when they end. Raises Misconfigured: there are none."""
    try:
        provider = Boto3CredentialProvider(boto3.Session())
        provider()  # a sign-on that has ended is told here, by its name
    except BotoCoreError as error:
        raise Misconfigured(f"AWS credentials: {error}") from error
    except ValueError as error:
        raise Misconfigured(
            "AWS credentials: there are none; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ) from error
    return provider


def profile_region() -> str | None:
    """The profile's region. Raises Misconfigured: there is no such profile."""
    try:
        region: str | None = boto3.Session().region_name
    except BotoCoreError as error:
        raise Misconfigured(f"AWS_PROFILE: {error}") from error
    return region
