"""The versioning state of an S3 bucket, which decides whether deletion is physical."""

from contextlib import closing

import boto3

from varve.adapters.aws_errors import translate_aws_errors
from varve.domain.errors import Misconfigured


def read_bucket_versioning(bucket: str) -> str:
    """Return Enabled, Suspended or Disabled, or Unknown without the right to ask.

    Raises Retryable.
    """
    try:
        with (
            translate_aws_errors(f"bucket {bucket}"),
            closing(boto3.client("s3")) as client,
        ):
            answer = client.get_bucket_versioning(Bucket=bucket)
            return str(answer.get("Status", "Disabled"))
    except Misconfigured:
        return "Unknown"
