"""A rehearsed deployment: a stack on loopback, functions as processes, queues polled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.aws import Function, Stack, create_stack
from tests.support.install import Image
from tests.support.moto_process import DEDUPLICATION_SECONDS, MotoServer
from tests.support.moto_template import Template
from tests.support.poller import Poller
from tests.support.runtime_api import LambdaPool, LambdaProcess

GATEWAY_TOOL = "memory___search_memory"


@dataclass
class Deployment:
    """A running stack for a test: ingest conversations, drain the queues, search."""

    stack: Stack
    functions: Mapping[str, LambdaPool]
    poller: Poller
    sent: list[str] = field(default_factory=list)

    def ingest(self, conversation: Mapping[str, Any]) -> Any:
        """Invoke IngestFunction directly; keep the words, so that a test can look for them in the logs."""
        self.sent += [
            str(message.get("content", ""))
            for message in conversation.get("messages", [])
        ]
        return self.functions["IngestFunction"].invoke(conversation)

    def ingest_all(self, *conversations: Mapping[str, Any]) -> None:
        for conversation in conversations:
            self.ingest(conversation)

    def run(self, max_rounds: int = 100) -> None:
        """Deliver messages until every queue is empty."""
        self.poller.until_quiet(max_rounds)

    def fire(self, schedule: str, scheduled_time: str) -> Any:
        """Invoke a function as its schedule (a logical id or a grain) does; return its answer."""
        found = self.stack.schedule(schedule)
        return self.functions[found.function].invoke(
            found.event(scheduled_time)
        )

    def search(self, workspace: str, agent: str, **arguments: Any) -> Any:
        """Invoke SearchFunction directly; return its answer."""
        event = {
            "workspaceId": workspace,
            "agentId": agent,
            "arguments": arguments,
        }
        return self.functions["SearchFunction"].invoke(event)

    def search_via_gateway(
        self,
        headers: Mapping[str, str] | None,
        tool: str = GATEWAY_TOOL,
        **arguments: Any,
    ) -> Any:
        """Invoke search as an AgentCore Gateway does: flat arguments, identity in the headers."""
        return self.functions["SearchFunction"].invoke(
            arguments, {"custom": gateway_context(headers, tool)}
        )

    def search_via_agent(
        self,
        attributes: Mapping[str, str],
        agent_id: str = "AGENT12345",
        **arguments: Any,
    ) -> Any:
        """Invoke search as a Bedrock agent does: string values, identity in the session attributes."""
        return self.functions["SearchFunction"].invoke(
            action_group_event(attributes, agent_id, arguments)
        )

    def keys(self, prefix: str = "") -> list[str]:
        """Return the keys in the bucket that begin with the prefix."""
        pages = self.stack.client("s3").get_paginator("list_objects_v2")
        found = pages.paginate(Bucket=self.stack.bucket, Prefix=prefix)
        return [
            item["Key"] for page in found for item in page.get("Contents", [])
        ]

    def read(self, key: str) -> bytes:
        body: bytes = (
            self.stack.client("s3")
            .get_object(Bucket=self.stack.bucket, Key=key)["Body"]
            .read()
        )
        return body

    @property
    def logs(self) -> dict[str, str]:
        return {name: pool.logs for name, pool in self.functions.items()}

    def metric(self, function: str, name: str) -> float:
        """The sum of what a function printed of a metric, as CloudWatch reads it from the log."""
        lines = [
            json.loads(line)
            for line in self.logs[function].splitlines()
            if '"_aws"' in line
        ]
        return sum(sum(line[name]) for line in lines if name in line)

    @property
    def root(self) -> str:
        """The store's prefix in the bucket: "memory/" of s3://bucket/memory."""
        store = self.stack.functions["WriteFunction"].environment[
            "VARVE_STORE"
        ]
        prefix = store.removeprefix(f"s3://{self.stack.bucket}").strip("/")
        return f"{prefix}/" if prefix else ""


Deploy = Callable[..., Deployment]


@contextmanager
def deployed(
    template: Template,
    image: Image,
    *,
    parameters: Mapping[str, str] | None = None,
    overrides: Mapping[str, str] | None = None,
    processes: Mapping[str, int] | None = None,
    own: Callable[[Stack, str], Mapping[str, str]] = lambda *_: {},
    deliver_twice: bool = False,
    deduplication_seconds: float = DEDUPLICATION_SECONDS,
    s3: str | None = None,
) -> Iterator[Deployment]:
    """Run a stack on its own moto server, with another server `s3` if given, until the block ends.

    Each function has one process, unless `processes` says otherwise. `overrides` replace
    variables of every function; the result of `own` replaces variables of one function.
    """
    with ExitStack() as cleanup:
        moto = cleanup.enter_context(MotoServer(deduplication_seconds))
        stack = create_stack(
            template, moto.endpoint, parameters=parameters, s3=s3
        )
        cleanup.callback(stack.close)
        environment = {
            **image.environment,
            "AWS_ENDPOINT_URL": stack.endpoint,
            **(overrides or {}),
        }
        functions = {
            name: pool(
                function,
                image,
                {**environment, **own(stack, name)},
                (processes or {}).get(name, 1),
            )
            for name, function in stack.functions.items()
        }
        for each in functions.values():
            cleanup.callback(each.stop)
        yield Deployment(
            stack, functions, Poller(stack, functions, deliver_twice)
        )


def pool(
    function: Function,
    image: Image,
    environment: Mapping[str, str],
    count: int = 1,
) -> LambdaPool:
    """Start processes of a function; `environment` replaces variables of the template."""
    return LambdaPool(
        [
            LambdaProcess(
                function.command,
                python=image.python,
                cwd=image.root,
                environment={
                    "AWS_LAMBDA_LOG_FORMAT": function.log_format,
                    **function.environment,
                    **environment,
                },
                timeout=function.timeout,
                name=function.name,
                memory_mb=function.memory_mb,
            )
            for _ in range(count)
        ]
    )


def gateway_context(
    headers: Mapping[str, str] | None, tool: str = GATEWAY_TOOL
) -> dict[str, Any]:
    """Return the custom keys that an AgentCore Gateway puts into the client context."""
    context: dict[str, Any] = {
        "bedrockAgentCoreToolName": tool,
        "bedrockAgentCoreMessageVersion": "1.0",
        "bedrockAgentCoreAwsRequestId": "9f8d0a4e-0000-4000-8000-000000000001",
        "bedrockAgentCoreMcpMessageId": "1",
        "bedrockAgentCoreGatewayId": "gateway-rehearsal",
        "bedrockAgentCoreTargetId": "TARGET0001",
    }
    return (
        context
        if headers is None
        else {**context, "bedrockAgentCorePropagatedHeaders": dict(headers)}
    )


def action_group_event(
    attributes: Mapping[str, str], agent_id: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the event that a Bedrock agent sends to an action group with function details."""
    return {
        "messageVersion": "1.0",
        "agent": {
            "name": "support",
            "id": agent_id,
            "alias": "TSTALIASID",
            "version": "DRAFT",
        },
        "inputText": "What do you know about Dana?",
        "sessionId": "session-1",
        "actionGroup": "memory",
        "function": "search_memory",
        "parameters": [
            {"name": name, "type": _type_of(value), "value": str(value)}
            for name, value in arguments.items()
        ],
        "sessionAttributes": dict(attributes),
        "promptSessionAttributes": {},
    }


def _type_of(value: Any) -> str:
    return "integer" if isinstance(value, int) else "string"
