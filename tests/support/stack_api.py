"""CloudFormation's DescribeStacks and Lambda's Invoke on loopback, for a client of a stack.

Shapes: the query protocol's XML, and the REST path of Invoke, as boto3 sends and reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote

from tests.support.loopback import LoopbackHandler, LoopbackServer
from tests.support.runtime_api import FunctionError

Invoke = Callable[[Any], Any]
_NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"


class _StackHandler(LoopbackHandler):
    def post(self) -> None:
        api: StackApi = self.server.owner  # type: ignore[attr-defined]
        body = self.body()
        if self.path == "/":
            self.describe(api, parse_qs(body.decode()))
            return
        name = unquote(self.path.split("/")[3])
        api.seen.append(("lambda:InvokeFunction", name))
        self.invoke(api.functions[name], json.loads(body))

    def describe(self, api: StackApi, asked: Mapping[str, list[str]]) -> None:
        name = asked["StackName"][0]
        api.seen.append((f"cloudformation:{asked['Action'][0]}", name))
        if name != api.stack:
            error = f"<Code>ValidationError</Code><Message>Stack with id {name} does not exist</Message>"
            text = f'<ErrorResponse xmlns="{_NAMESPACE}"><Error>{error}</Error></ErrorResponse>'
            self.answer(400, text.encode(), {"Content-Type": "text/xml"})
            return
        outputs = "".join(
            f"<member><OutputKey>{key}</OutputKey><OutputValue>{value}</OutputValue></member>"
            for key, value in api.outputs.items()
        )
        stack = f"<member><StackName>{name}</StackName><Outputs>{outputs}</Outputs></member>"
        result = f"<DescribeStacksResult><Stacks>{stack}</Stacks></DescribeStacksResult>"
        text = f'<DescribeStacksResponse xmlns="{_NAMESPACE}">{result}</DescribeStacksResponse>'
        self.answer(200, text.encode(), {"Content-Type": "text/xml"})

    def invoke(self, function: Invoke, event: Any) -> None:
        try:
            self.answer_json(200, function(event))
        except FunctionError as error:
            failure = {
                "errorType": error.error_type,
                "errorMessage": error.message,
            }
            headers = {"X-Amz-Function-Error": "Unhandled"}
            self.answer_json(200, failure, headers)


class StackApi(LoopbackServer):
    """Serves one stack: its functions by logical id, named as CloudFormation names them.

    `seen` lists the calls: the IAM action, and the stack's or the function's name.
    """

    def __init__(self, stack: str, functions: Mapping[str, Invoke]) -> None:
        self.stack = stack
        self.outputs = {
            f"{logical}Name": f"{stack}-{logical}-1A2B"
            for logical in functions
        }
        self.functions = {
            f"{stack}-{logical}-1A2B": invoke
            for logical, invoke in functions.items()
        }
        self.seen: list[tuple[str, str]] = []
        super().__init__(_StackHandler)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which boto3 finds this server."""
        return {
            "AWS_ENDPOINT_URL": f"http://{self.address}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
