"""Translation of boto3's errors into Varve's."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from varve.domain.errors import Misconfigured, Retryable

_OPERATOR_ERRORS = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "InvalidClientTokenId",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
        "ValidationError",  # CloudFormation: there is no such stack
    }
)
"""Errors that the operator must correct: missing rights and wrong names."""


@contextmanager
def translate_aws_errors(subject: str) -> Iterator[None]:
    """Raise Misconfigured in place of an operator's error, Retryable for any other.

    `subject` begins the message, as in `queue https://…`.
    """
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code in _OPERATOR_ERRORS:
            raise Misconfigured(f"{subject}: {code}") from error
        raise Retryable(f"{subject}: {code}") from error
    except BotoCoreError as error:
        raise Retryable(f"{subject}: {type(error).__name__}") from error
