"""The part of a translated template that moto can create, and the part only the template shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Template = dict[str, Any]
Resource = dict[str, Any]

# Types that moto skips in silence: it reports CREATE_COMPLETE and creates nothing. For any other
# type that it does not create, the tests fail.
NOT_IN_MOTO = frozenset(
    {
        "AWS::ApiGatewayV2::Api",
        "AWS::ApiGatewayV2::Stage",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::Url",
        "AWS::S3::BucketPolicy",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
        "AWS::Scheduler::ScheduleGroup",
    }
)

# Properties that moto drops or changes in silence, so a test cannot read them back. The rehearsal
# takes the first two from the template; for the others a test can only check the template.
FROM_TEMPLATE = {
    "AWS::Lambda::Function": (
        "ImageConfig",
        "LoggingConfig",
        "PackageType",
        "Architectures",
        "EphemeralStorage",
    ),
    "AWS::S3::Bucket": (
        "PublicAccessBlockConfiguration",
        "OwnershipControls",
        "LifecycleConfiguration",
    ),
    "AWS::SQS::Queue": ("RedriveAllowPolicy",),
}


def strip(template: Template) -> tuple[Template, dict[str, str]]:
    """Return the template without the types moto skips, and the skipped types by logical id."""
    resources: dict[str, Resource] = template["Resources"]
    skipped = {
        name: each["Type"]
        for name, each in resources.items()
        if each["Type"] in NOT_IN_MOTO
    }
    kept = {
        name: _without_needs(each, skipped)
        for name, each in resources.items()
        if name not in skipped
    }
    _refuse_dangling(kept, skipped)
    outputs = template.get("Outputs", {})
    outputs = {
        name: each
        for name, each in outputs.items()
        if not references(each) & skipped.keys()
    }
    return {**template, "Resources": kept, "Outputs": outputs}, skipped


def references(value: Any) -> set[str]:
    """Return the logical ids that a part of a template names by Ref, Fn::GetAtt or Fn::Sub."""
    return set(_references(value))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _named(key, each)
            yield from _references(each)


def _named(key: str, value: Any) -> Iterator[str]:
    if key == "Ref":
        yield value
    if key == "Fn::GetAtt":
        yield value[0] if isinstance(value, list) else value.partition(".")[0]
    if key == "Fn::Sub":
        text = value[0] if isinstance(value, list) else value
        yield from (
            part.partition("}")[0].partition(".")[0]
            for part in text.split("${")[1:]
        )


def _without_needs(resource: Resource, skipped: Mapping[str, str]) -> Resource:
    depends = resource.get("DependsOn", [])
    depends = [depends] if isinstance(depends, str) else depends
    return {
        **resource,
        "DependsOn": [
            logical for logical in depends if logical not in skipped
        ],
    }


def _refuse_dangling(
    kept: Mapping[str, Resource], skipped: Mapping[str, str]
) -> None:
    for logical, resource in kept.items():
        dangling = references(resource.get("Properties")) & skipped.keys()
        if dangling:
            raise AssertionError(
                f"{logical} refers to resources that moto cannot create: {sorted(dangling)}"
            )


def from_template(template: Template, logical: str) -> dict[str, Any]:
    """Return the properties of a resource that moto drops, as the template states them."""
    resource = template["Resources"][logical]
    dropped = FROM_TEMPLATE.get(resource["Type"], ())
    return {
        key: value
        for key, value in resource.get("Properties", {}).items()
        if key in dropped
    }


def schedules(template: Template) -> dict[str, dict[str, Any]]:
    """Return the properties of every EventBridge schedule by logical id; moto creates none."""
    type_name = "AWS::Scheduler::Schedule"
    return {
        name: each["Properties"]
        for name, each in template["Resources"].items()
        if each["Type"] == type_name
    }
