"""The functions of a deployed stack, found by its outputs and invoked through boto3."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config

from varve.adapters.aws_errors import translate_aws_errors
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.strict_json import parse_json

MAX_EVENT_BYTES = 6_000_000
"""Lambda takes 6 MB in a synchronous call; its own envelope needs some of it."""
# ForgetFunction may run for 15 minutes. TCP keepalives hold the idle connection open.
_CONFIG = Config(
    connect_timeout=10,
    read_timeout=910,
    retries={"mode": "standard"},
    tcp_keepalive=True,
)
_OURS = {"Misconfigured": Misconfigured, "Retryable": Retryable}


class StackFunctions:
    """The functions of the CloudFormation stack `stack`.

    The caller needs `cloudformation:DescribeStacks` on the stack, and
    `lambda:InvokeFunction` on the functions that it invokes.
    """

    def __init__(self, stack: str) -> None:
        self.stack = stack

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The functions' names by logical id, read from the stack's outputs on first use.

        Raises Misconfigured: there is no such stack, or it is not Varve's; Retryable.
        """
        with translate_aws_errors(f"stack {self.stack}"):
            client = boto3.client("cloudformation")
            answer = client.describe_stacks(StackName=self.stack)
        outputs = answer["Stacks"][0].get("Outputs", [])
        ending = "FunctionName"
        names = {
            one["OutputKey"].removesuffix("Name"): one["OutputValue"]
            for one in outputs
            if one["OutputKey"].endswith(ending)
        }
        if not names:
            raise Misconfigured(
                f"stack {self.stack}: has no output that ends in {ending}; "
                "deploy Varve's template"
            )
        return names

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Invoke a function by its logical id, and return its answer.

        Raises Rejected: the function refused the event, or it is too large;
        Misconfigured, Retryable.
        """
        name = self._find_name(function)
        body = json.dumps(event, ensure_ascii=False).encode()
        if len(body) > MAX_EVENT_BYTES:
            raise Rejected(
                "event",
                f"is {len(body):,} bytes; a function takes {MAX_EVENT_BYTES:,}. "
                "Send the messages in several calls",
            )
        with translate_aws_errors(f"function {name}"):
            answer = self._client.invoke(FunctionName=name, Payload=body)
            payload = parse_json(answer["Payload"].read())
        if "FunctionError" in answer:
            raise _read_failure(name, payload)
        _refuse(payload)
        return payload

    @cached_property
    def _client(self) -> Any:
        return boto3.client("lambda", config=_CONFIG)

    def _find_name(self, function: str) -> str:
        if function not in self.names:
            raise Misconfigured(f"stack {self.stack}: has no {function}")
        return self.names[function]


def _read_failure(name: str, payload: Mapping[str, Any]) -> Exception:
    """Return the error that a function ended with; a crash may be tried again."""
    kind = str(payload.get("errorType"))
    if kind in _OURS:
        return _OURS[kind](f"function {name}: {payload.get('errorMessage')}")
    return Retryable(f"function {name}: {kind}")


def _refuse(payload: object) -> None:
    """Raise Rejected if the function's answer is a refusal."""
    if isinstance(payload, Mapping) and "error" in payload:
        error = payload["error"]
        raise Rejected(error["field"], error["reason"])
