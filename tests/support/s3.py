"""An S3 server on loopback for the stores' contract suites: moto, or the one that VARVE_TEST_S3 names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import boto3
import pytest

from tests.support.loopback import REGION
from tests.support.moto_process import MotoServer

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
    "NO_PROXY": "*",
}


@contextmanager
def s3_server(bucket: str) -> Iterator[str]:
    """The server's endpoint, which is this process's AWS until the block ends, with an empty bucket."""
    with ExitStack() as opened:
        given = os.environ.get("VARVE_TEST_S3")
        if given:
            endpoint = given
        else:
            server = MotoServer()
            opened.callback(server.stop)
            endpoint = server.endpoint
        patch = opened.enter_context(pytest.MonkeyPatch.context())
        for name, value in {
            **CREDENTIALS,
            "AWS_ENDPOINT_URL": endpoint,
        }.items():
            patch.setenv(name, value)
        _make_empty(bucket)
        yield endpoint


def _make_empty(bucket: str) -> None:
    client = boto3.client("s3")
    client.create_bucket(Bucket=bucket)
    for page in client.get_paginator("list_objects_v2").paginate(
        Bucket=bucket
    ):
        for found in page.get("Contents", []):
            client.delete_object(Bucket=bucket, Key=found["Key"])
    client.close()
