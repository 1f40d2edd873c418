"""Secrets from AWS Secrets Manager."""

from contextlib import closing

import boto3

from varve.adapters.aws_errors import translate_aws_errors


def read_secret(name: str) -> str:
    """Return the secret's text. Raises Misconfigured: there is none; Retryable."""
    with (
        translate_aws_errors(f"secret {name}"),
        closing(boto3.client("secretsmanager")) as client,
    ):
        return str(client.get_secret_value(SecretId=name)["SecretString"])
