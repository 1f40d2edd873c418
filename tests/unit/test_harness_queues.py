"""The stack, its queues and the poller with toy functions: what SQS and Lambda promise each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.aws import Stack, create_stack
from tests.support.moto_process import MotoServer
from tests.support.moto_template import Template, references, strip
from tests.support.poller import NotQuietError, Poller, failures
from tests.support.runtime_api import FunctionError

TRUST = {
    "Effect": "Allow",
    "Principal": {"Service": "lambda.amazonaws.com"},
    "Action": "sts:AssumeRole",
}
ROLE = {"Version": "2012-10-17", "Statement": [TRUST]}


def queue(name: str, **properties: Any) -> dict[str, Any]:
    fixed = {
        "FifoQueue": True,
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
    }
    return {
        "Type": "AWS::SQS::Queue",
        "Properties": {"QueueName": f"{name}.fifo", **fixed, **properties},
    }


def toy_template(batch_size: int = 10) -> Template:
    redrive = {
        "deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]},
        "maxReceiveCount": 3,
    }
    function = {
        "Code": {
            "ImageUri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/toy:1"
        },
        "PackageType": "Image",
        "ImageConfig": {"Command": ["functions.toy.app.lambda_handler"]},
        "Role": {"Fn::GetAtt": ["ToyRole", "Arn"]},
        "Timeout": 9,
        "Environment": {
            "Variables": {
                "BUCKET": {"Fn::Sub": "s3://${Store}/root"},
                "QUEUE": {"Ref": "Work"},
            }
        },
    }
    mapping = {
        "EventSourceArn": {"Fn::GetAtt": ["Work", "Arn"]},
        "FunctionName": {"Ref": "Toy"},
        "BatchSize": batch_size,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }
    return {
        "Resources": {
            "Dead": queue("dead"),
            "Work": queue("work", RedrivePolicy=redrive, VisibilityTimeout=60),
            "Store": {"Type": "AWS::S3::Bucket"},
            "ToyRole": {
                "Type": "AWS::IAM::Role",
                "Properties": {"AssumeRolePolicyDocument": ROLE},
            },
            "Toy": {
                "Type": "AWS::Lambda::Function",
                "Properties": function,
                "DependsOn": "ToyAlarm",
            },
            "ToyFeed": {
                "Type": "AWS::Lambda::EventSourceMapping",
                "Properties": mapping,
            },
            "ToyAlarm": {
                "Type": "AWS::CloudWatch::Alarm",
                "Properties": {"MetricName": {"Ref": "Toy"}},
            },
        },
        "Outputs": {
            "Alarm": {"Value": {"Ref": "ToyAlarm"}},
            "Queue": {"Value": {"Ref": "Work"}},
        },
    }


class Toy:
    """A function in this process: keeps what it got, and fails for the bodies it is told to."""

    def __init__(self, fails: Callable[[str], bool] = lambda _: False) -> None:
        self.fails = fails
        self.batches: list[list[str]] = []

    def invoke(self, event: Any) -> Any:
        bodies = [record["body"] for record in event["Records"]]
        self.batches.append(bodies)
        return {
            "batchItemFailures": [
                {"itemIdentifier": name}
                for name in self._failed(event["Records"])
            ]
        }

    def _failed(self, records: list[Any]) -> Iterator[str]:
        stopped: set[str] = set()
        for record in records:
            group = record["attributes"]["MessageGroupId"]
            if group in stopped or self.fails(record["body"]):
                stopped.add(group)
                yield record["messageId"]


@pytest.fixture(scope="module")
def moto() -> Iterator[MotoServer]:
    with MotoServer() as server:
        yield server


@pytest.fixture
def stack(moto: MotoServer) -> Iterator[Stack]:
    created = create_stack(toy_template(), moto.endpoint, name="toy")
    yield created
    created.client("cloudformation").delete_stack(StackName="toy")
    created.close()


def fill(poller: Poller, *bodies: str, group: str = "a") -> None:
    for body in bodies:
        poller.send("Work", body, group, f"{group}-{body}")


def test_the_stack_reads_back_what_the_template_says(stack: Stack) -> None:
    toy = stack.functions["Toy"]
    assert (toy.command, toy.timeout) == (
        "functions.toy.app.lambda_handler",
        9,
    )
    assert toy.environment["BUCKET"] == f"s3://{stack.bucket}/root"
    assert stack.queues["Work"].redrive["maxReceiveCount"] == 3
    assert stack.dead_letters_of("Work").logical_id == "Dead"
    mapping = stack.mapping_of("Toy")
    assert (mapping.queue, mapping.batch_size, mapping.reports_failures) == (
        "Work",
        10,
        True,
    )


def test_what_moto_cannot_create_is_left_out_by_name(stack: Stack) -> None:
    assert stack.skipped == {"ToyAlarm": "AWS::CloudWatch::Alarm"}
    assert stack.outputs.keys() == {"Queue"}


def test_a_type_that_moto_skips_in_silence_is_an_error(
    moto: MotoServer,
) -> None:
    template = {
        "Resources": {
            "Strange": {"Type": "AWS::Pipes::Pipe", "Properties": {}}
        }
    }
    with pytest.raises(AssertionError, match="Strange"):
        create_stack(template, moto.endpoint, name="strange")


def test_a_resource_that_needs_a_skipped_one_is_an_error() -> None:
    template = toy_template()
    template["Resources"]["Dead"]["Properties"]["Tags"] = [
        {"Key": "a", "Value": {"Fn::Sub": "of ${ToyAlarm.Arn}"}}
    ]
    assert "ToyAlarm" in references(template["Resources"]["Dead"])
    with pytest.raises(AssertionError, match="Dead refers to"):
        strip(template)


def test_messages_go_to_the_function_in_batches_and_in_order(
    stack: Stack,
) -> None:
    toy = Toy()
    poller = Poller(stack, {"Toy": toy})
    fill(poller, *(str(number) for number in range(12)))
    deliveries = poller.until_quiet()
    assert toy.batches == [[str(number) for number in range(10)], ["10", "11"]]
    numbers = [
        record["attributes"]["SequenceNumber"]
        for each in deliveries
        for record in each.records
    ]
    assert numbers == sorted(numbers)


def test_the_records_look_like_lambdas(stack: Stack) -> None:
    poller = Poller(stack, {"Toy": Toy()})
    poller.send("Work", "{}", "a", "1", reason="because")
    (delivery,) = poller.until_quiet()
    (record,) = delivery.records
    assert record.keys() == {
        "messageId", "receiptHandle", "body", "attributes", "messageAttributes",
        "md5OfBody", "eventSource", "eventSourceARN", "awsRegion",
    }  # fmt: skip
    assert record["messageAttributes"]["reason"]["stringValue"] == "because"
    assert record["attributes"].keys() >= {
        "ApproximateReceiveCount", "SentTimestamp", "SequenceNumber", "MessageGroupId",
        "MessageDeduplicationId",
    }  # fmt: skip


def test_returned_messages_come_again_in_order_and_the_poisoned_one_is_redriven(
    stack: Stack,
) -> None:
    toy = Toy(fails=lambda body: body == "poison")
    poller = Poller(stack, {"Toy": toy})
    fill(poller, "1", "poison")
    fill(poller, "other", group="b")
    poller.until_quiet()
    assert toy.batches == [["1", "poison", "other"], ["poison"], ["poison"]]
    (dead,) = poller.dead_letters("Work")
    assert dead["body"] == "poison"
    poller.take("Dead")
    assert poller.depths() == {"Dead": (0, 0, 0), "Work": (0, 0, 0)}


def test_a_group_waits_while_its_first_message_fails(stack: Stack) -> None:
    tries = iter([True, True, False])
    toy = Toy(fails=lambda body: body == "1" and next(tries))
    poller = Poller(stack, {"Toy": toy})
    fill(poller, "1", "2", "3")
    deliveries = poller.until_quiet()
    assert toy.batches == [["1", "2", "3"]] * 3
    assert not any(delivery.broken_groups for delivery in deliveries)


def test_a_group_that_goes_on_after_a_failure_is_told(stack: Stack) -> None:
    class Careless(Toy):
        def _failed(self, records: list[Any]) -> Iterator[str]:
            return (
                record["messageId"]
                for record in records
                if self.fails(record["body"])
            )

    tries = iter([True, False])
    poller = Poller(
        stack,
        {"Toy": Careless(fails=lambda body: body == "1" and next(tries))},
    )
    fill(poller, "1", "2")
    first, _ = poller.until_quiet()
    assert first.broken_groups == ["a"]


def test_an_error_of_the_function_returns_the_whole_batch(
    stack: Stack,
) -> None:
    class Broken(Toy):
        def invoke(self, event: Any) -> Any:
            if not self.batches:
                self.batches.append([])
                raise FunctionError("ValueError", "no")
            return super().invoke(event)

    poller = Poller(stack, {"Toy": Broken()})
    fill(poller, "1", "2")
    first, second = poller.until_quiet()
    assert (len(first.failed), first.error and first.error.message) == (
        2,
        "no",
    )
    assert not second.failed


def test_every_message_can_be_delivered_twice(stack: Stack) -> None:
    toy = Toy()
    poller = Poller(stack, {"Toy": toy}, deliver_twice=True)
    fill(poller, "1", "2")
    first, second = poller.until_quiet()
    assert toy.batches == [["1", "2"], ["1", "2"]]
    assert (first.records, second.repeated) == (second.records, True)


def test_queues_that_never_fall_quiet_are_reported(stack: Stack) -> None:
    poller = Poller(stack, {"Toy": Toy(fails=lambda _: True)})
    fill(poller, "1")
    with pytest.raises(NotQuietError, match=r"Work: \(1, 0, 0\)"):
        poller.until_quiet(max_rounds=2)
    poller.take("Work")


def test_everything_can_be_taken_off_a_queue_in_order(stack: Stack) -> None:
    poller = Poller(stack, {})
    fill(poller, *(str(number) for number in range(13)))
    assert [record["body"] for record in poller.take("Work")] == [
        str(number) for number in range(13)
    ]
    assert poller.depth("Work") == (0, 0, 0)


def test_deduplication_outlives_the_message_and_stays_in_its_group(
    stack: Stack,
) -> None:
    toy = Toy()
    poller = Poller(stack, {"Toy": toy})
    for group in ("a", "b"):
        poller.send("Work", f"of {group}", group, "same")
    poller.until_quiet()
    poller.send("Work", "again", "a", "same")
    poller.until_quiet()
    assert toy.batches == [["of a", "of b"]]


def test_without_memory_every_send_comes_through() -> None:
    with MotoServer(deduplication_seconds=0) as server:
        toy = Toy()
        stack = create_stack(toy_template(), server.endpoint)
        poller = Poller(stack, {"Toy": toy})
        for _ in range(2):
            poller.send("Work", "1", "a", "same")
        poller.until_quiet()
        stack.close()
        assert toy.batches == [["1", "1"]]


def test_a_group_whose_visibility_ran_out_keeps_its_order(
    stack: Stack,
) -> None:
    poller = Poller(stack, {"Toy": Toy()})
    fill(poller, "1", "2", "3")
    sqs, url = stack.client("sqs"), stack.queues["Work"].url
    sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=1
    )
    deadline = time.monotonic() + 10
    while poller.depth("Work")[0] < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    again = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)[
        "Messages"
    ]
    assert [message["Body"] for message in again] == ["1", "2", "3"]
    poller.take("Work")


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()),
        ({}, set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "1"}]}, {"1"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"1", "2"}),
        ({"batchItemFailures": [{"itemIdentifier": "unknown"}]}, {"1", "2"}),
        ({"batchItemFailures": [{"wrong": "1"}]}, {"1", "2"}),
    ],
)
def test_partial_batch_responses_mean_what_lambda_takes_them_for(
    answer: Any, failed: set[str]
) -> None:
    assert failures(answer, [{"messageId": "1"}, {"messageId": "2"}]) == failed
