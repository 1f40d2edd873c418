"""What an S3 bucket says of itself: its versioning, and the time of its server."""

from contextlib import closing
from datetime import datetime
from email.utils import parsedate_to_datetime

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


def read_bucket_time(bucket: str) -> datetime:
    """Return the time of the bucket's server, in UTC and whole seconds.

    Raises Misconfigured: there is no such bucket, or no right to it; Retryable.
    """
    with (
        translate_aws_errors(f"bucket {bucket}"),
        closing(boto3.client("s3")) as client,
    ):
        answer = client.head_bucket(Bucket=bucket)
    return parsedate_to_datetime(
        answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    )
