"""The stack on loopback: a translated template, created on moto and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

from tests.support.loopback import REGION
from tests.support.moto_template import (
    Template,
    from_template,
    schedules,
    strip,
)

SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
CREDENTIALS = {
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
}


class Clients:
    """The boto3 clients of one endpoint, and of S3's if that is another; they can reach nothing else."""

    def __init__(self, endpoint: str, s3: str | None = None) -> None:
        self.endpoint = endpoint
        self.s3_endpoint = s3 or endpoint
        self._clients: dict[str, Any] = {}

    def __getitem__(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self._build(service)
        return self._clients[service]

    def close(self) -> None:
        for each in self._clients.values():
            each.close()

    def _build(self, service: str) -> Any:
        config = Config(
            retries={"max_attempts": 1},
            s3={"addressing_style": "path"},
            proxies={},
        )
        endpoint = self.s3_endpoint if service == "s3" else self.endpoint
        options = {
            "endpoint_url": endpoint,
            "region_name": REGION,
            **CREDENTIALS,
        }
        return boto3.client(service, config=config, **options)


@dataclass(frozen=True)
class Function:
    """A function as deployed: the image's command for it, its environment with every reference resolved."""

    logical_id: str
    name: str
    command: str
    environment: Mapping[str, str]
    timeout: int
    memory_mb: int
    log_format: str
    role: str


@dataclass(frozen=True)
class Queue:
    """A queue as deployed, with the attributes that the service itself reports."""

    logical_id: str
    url: str
    arn: str
    attributes: Mapping[str, str]

    @property
    def fifo(self) -> bool:
        return self.attributes.get("FifoQueue") == "true"

    @property
    def redrive(self) -> dict[str, Any]:
        policy: dict[str, Any] = json.loads(
            self.attributes.get("RedrivePolicy") or "{}"
        )
        return policy


@dataclass(frozen=True)
class EventSource:
    """An event source mapping as deployed: which queue feeds which function, and how."""

    logical_id: str
    function: str
    queue: str
    batch_size: int
    reports_failures: bool


@dataclass(frozen=True)
class Schedule:
    """A schedule as the template has it: which function it invokes, and with what."""

    logical_id: str
    function: str
    expression: str
    input: str

    @property
    def grain(self) -> str | None:
        """The grain that it plans, where its Input names one."""
        grain: str | None = json.loads(self.input).get("grain")
        return grain

    def event(self, scheduled_time: str) -> dict[str, Any]:
        """What the function is invoked with when the schedule fires at that time."""
        event: dict[str, Any] = json.loads(
            self.input.replace(SCHEDULED_TIME, scheduled_time)
        )
        return event


@dataclass(frozen=True)
class Stack:
    """What a created template came to; everything is keyed by the template's logical ids."""

    name: str
    clients: Clients
    template: Template
    functions: Mapping[str, Function]
    queues: Mapping[str, Queue]
    mappings: Mapping[str, EventSource]
    schedules: Mapping[str, Schedule]
    buckets: Mapping[str, str]
    outputs: Mapping[str, str]
    skipped: Mapping[str, str]

    @property
    def bucket(self) -> str:
        """The bucket's name, where there is exactly one."""
        (name,) = self.buckets.values()
        return name

    def mapping_of(self, function: str) -> EventSource:
        (mapping,) = (
            mapping
            for mapping in self.mappings.values()
            if mapping.function == function
        )
        return mapping

    def schedule(self, name: str) -> Schedule:
        """The schedule of a logical id, or the one of a grain."""
        (found,) = (
            each
            for each in self.schedules.values()
            if name in (each.logical_id, each.grain)
        )
        return found

    def dead_letters_of(self, queue: str) -> Queue:
        target = self.queues[queue].redrive["deadLetterTargetArn"]
        (dead,) = (
            queue for queue in self.queues.values() if queue.arn == target
        )
        return dead

    @property
    def endpoint(self) -> str:
        return self.clients.endpoint

    def client(self, service: str) -> Any:
        return self.clients[service]

    def close(self) -> None:
        self.clients.close()


def create_stack(
    template: Template,
    endpoint: str,
    *,
    name: str = "varve",
    parameters: Mapping[str, str] | None = None,
    s3: str | None = None,
) -> Stack:
    """Create what moto can, then read back every resource; what is not there is an error that names it.

    The buckets are made on the server `s3`, if that is another.
    """
    kept, skipped = strip(template)
    clients = Clients(endpoint, s3)
    try:
        physical = _create(kept, clients, name, parameters or {})
        _refuse_missing(kept, physical)
        stack = _read_back(
            kept, physical, clients, name, skipped, _read_schedules(template)
        )
        _stop_polling(stack)
    except BaseException:
        clients.close()
        raise
    return stack


def _create(
    template: Template,
    clients: Clients,
    name: str,
    parameters: Mapping[str, str],
) -> dict[str, str]:
    cloudformation = clients["cloudformation"]
    cloudformation.create_stack(
        StackName=name,
        TemplateBody=json.dumps(template),
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value}
            for key, value in parameters.items()
        ],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
    )
    resources = cloudformation.describe_stack_resources(StackName=name)[
        "StackResources"
    ]
    # A skipped resource is listed as an empty entry, a permission without a physical id.
    named = [each for each in resources if "LogicalResourceId" in each]
    return {
        each["LogicalResourceId"]: each.get("PhysicalResourceId", "")
        for each in named
    }


def _refuse_missing(template: Template, physical: Mapping[str, str]) -> None:
    wanted = {
        logical
        for logical, each in template["Resources"].items()
        if "Condition" not in each
    }
    missing = {
        logical: template["Resources"][logical]["Type"]
        for logical in wanted - physical.keys()
    }
    if missing:
        raise AssertionError(
            f"moto did not create {missing}; name the types in NOT_IN_MOTO if it never does"
        )


def _read_back(
    template: Template,
    physical: Mapping[str, str],
    clients: Clients,
    name: str,
    skipped: Mapping[str, str],
    schedules: Mapping[str, Schedule],
) -> Stack:
    functions = _read_functions(template, physical, clients)
    queues = _read_queues(template, physical, clients)
    return Stack(
        name=name,
        clients=clients,
        template=template,
        functions=functions,
        queues=queues,
        mappings=_read_mappings(
            template, physical, clients, functions, queues
        ),
        schedules=schedules,
        buckets=_read_buckets(template, physical, clients),
        outputs=_read_outputs(clients, name),
        skipped=skipped,
    )


def _of_type(
    template: Template, physical: Mapping[str, str], kind: str
) -> dict[str, str]:
    named = [
        logical
        for logical, each in template["Resources"].items()
        if each["Type"] == kind
    ]
    return {
        logical: physical[logical] for logical in named if logical in physical
    }


def _read_functions(
    template: Template, physical: Mapping[str, str], clients: Clients
) -> dict[str, Function]:
    service = clients["lambda"]
    return {
        logical: _function(
            logical,
            template,
            service.get_function_configuration(FunctionName=name),
        )
        for logical, name in _of_type(
            template, physical, "AWS::Lambda::Function"
        ).items()
    }


def _function(
    logical: str, template: Template, configuration: Mapping[str, Any]
) -> Function:
    dropped = from_template(template, logical)
    return Function(
        logical_id=logical,
        name=configuration["FunctionName"],
        command=dropped.get("ImageConfig", {}).get(
            "Command", [configuration.get("Handler")]
        )[0],
        environment=_resolved(
            logical, configuration.get("Environment", {}).get("Variables", {})
        ),
        timeout=configuration["Timeout"],
        memory_mb=configuration["MemorySize"],
        log_format=dropped.get("LoggingConfig", {}).get("LogFormat", "Text"),
        role=configuration["Role"],
    )


def _resolved(logical: str, variables: Mapping[str, Any]) -> dict[str, str]:
    odd = {
        key: value
        for key, value in variables.items()
        if not isinstance(value, str) or "${" in value
    }
    if odd:
        raise AssertionError(f"{logical}: variables were not resolved: {odd}")
    return dict(variables)


def _read_queues(
    template: Template, physical: Mapping[str, str], clients: Clients
) -> dict[str, Queue]:
    service = clients["sqs"]
    return {
        logical: _queue(service, logical, url.rpartition("/")[2])
        for logical, url in _of_type(
            template, physical, "AWS::SQS::Queue"
        ).items()
    }


def _queue(service: Any, logical: str, name: str) -> Queue:
    url = service.get_queue_url(QueueName=name)["QueueUrl"]
    attributes = service.get_queue_attributes(
        QueueUrl=url, AttributeNames=["All"]
    )["Attributes"]
    return Queue(logical, url, attributes["QueueArn"], attributes)


def _read_mappings(
    template: Template,
    physical: Mapping[str, str],
    clients: Clients,
    functions: Mapping[str, Function],
    queues: Mapping[str, Queue],
) -> dict[str, EventSource]:
    service = clients["lambda"]
    by_name = {
        function.name: logical for logical, function in functions.items()
    }
    by_arn = {queue.arn: logical for logical, queue in queues.items()}
    found = {}
    for logical, uuid in _of_type(
        template, physical, "AWS::Lambda::EventSourceMapping"
    ).items():
        each = service.get_event_source_mapping(UUID=uuid)
        function = by_name[each["FunctionArn"].rpartition(":")[2]]
        reports = "ReportBatchItemFailures" in each.get(
            "FunctionResponseTypes", []
        )
        found[logical] = EventSource(
            logical,
            function,
            by_arn[each["EventSourceArn"]],
            each["BatchSize"],
            reports,
        )
    return found


def _read_schedules(template: Template) -> dict[str, Schedule]:
    return {
        logical: Schedule(
            logical,
            each["Target"]["Arn"]["Fn::GetAtt"][0],
            each["ScheduleExpression"],
            each["Target"]["Input"],
        )
        for logical, each in schedules(template).items()
    }


def _read_buckets(
    template: Template, physical: Mapping[str, str], clients: Clients
) -> dict[str, str]:
    buckets = _of_type(template, physical, "AWS::S3::Bucket")
    for name in buckets.values():
        if clients.s3_endpoint != clients.endpoint:
            clients["s3"].create_bucket(Bucket=name)
        clients["s3"].head_bucket(Bucket=name)
    return buckets


def _read_outputs(clients: Clients, name: str) -> dict[str, str]:
    (stack,) = clients["cloudformation"].describe_stacks(StackName=name)[
        "Stacks"
    ]
    return {
        each["OutputKey"]: each["OutputValue"]
        for each in stack.get("Outputs", [])
    }


def _stop_polling(stack: Stack) -> None:
    """Say in moto too that nobody but the rehearsal's poller takes messages."""
    service = stack.client("lambda")
    for each in service.list_event_source_mappings()["EventSourceMappings"]:
        service.update_event_source_mapping(UUID=each["UUID"], Enabled=False)
