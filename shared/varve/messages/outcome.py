"""The outcome of an episode, as IngestFunction is told it and as a message on the ingest queue."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from varve.domain.calendar import iso, parse_instant, parse_instant_field
from varve.domain.conversation import Reference, check_outcome
from varve.domain.errors import Rejected
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope, path_id, reference
from varve.domain.validation import rejected, valid_text
from varve.messages.wire import group_of, load, malformed, read_body, send_body
from varve.ports.objects import Objects
from varve.ports.queues import Delivery, Queue

MAX_USED = 200
MAX_TEXT = 10_000

Words = Annotated[str, Field(max_length=MAX_TEXT)]


class OutcomeEvent(BaseModel):
    """How an episode of a conversation ended, its last one where none is named.

    `at` says when that became known; the same statement with the same `at` counts once, however often the
    event comes, so it has to be told.
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    type: Literal["outcome"]
    workspace_id: str
    agent_id: str
    conversation_id: str
    outcome: str
    at: str
    episode_id: str | None = None
    user_id: Reference | None = None
    correction: Words | None = None
    decision: Words | None = None
    resolution: Words | None = None
    used: Annotated[tuple[str, ...], Field(max_length=MAX_USED)] = ()


def tells_outcome(event: object) -> bool:
    """Whether an invocation of IngestFunction is an outcome, and not a conversation."""
    return isinstance(event, Mapping) and event.get("type") == "outcome"


def read_told_outcome(event: Mapping[str, Any], now: datetime) -> tuple[Scope, Report]:
    """Whose outcome, and which. Raises Rejected: names the field."""
    try:
        told = OutcomeEvent.model_validate(event)
    except ValidationError as error:
        raise rejected(error) from error
    report = Report(
        target=told.episode_id or told.conversation_id,
        outcome=an_outcome(told.outcome),
        at=parse_instant_field(told.at, "at"),
        created_at=now,
        correction=told.correction or None,
        decision=told.decision or None,
        resolution=told.resolution or None,
        used=tuple(sorted(set(told.used))),
        user_id=told.user_id,
        conversation_id=told.conversation_id,
    )
    return Scope(told.workspace_id, told.agent_id), a_report(report)


def a_report(report: Report) -> Report:
    """The report itself. Raises Rejected: names the field that is not valid."""
    reference(report.target, "episode")
    if len(report.used) > MAX_USED:
        raise Rejected("used", f"holds {len(report.used)} ids; the limit is {MAX_USED}")
    for used in report.used:
        reference(used, "used")
    for name in ("correction", "decision", "resolution"):
        if len(valid_text(getattr(report, name) or "", name)) > MAX_TEXT:
            raise Rejected(name, f"is longer than {MAX_TEXT:,} characters")
    if report.conversation_id is not None:
        path_id(report.conversation_id, "conversationId")
    if report.user_id is not None:
        reference(report.user_id, "userId")
    return report


def send_outcome(
    scope: Scope, report: Report, *, queue: Queue, objects: Objects
) -> None:
    """Make the report durable, in a group of its target's. Raises Retryable."""
    content = {
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        "target": report.target,
        "outcome": str(report.outcome),
        "at": iso(report.at),
        "correction": report.correction,
        "decision": report.decision,
        "resolution": report.resolution,
        "used": list(report.used),
        "userId": report.user_id,
        "conversationId": report.conversation_id,
    }
    body = {"type": "outcome", **content, "createdAt": iso(report.created_at)}
    group = group_of(scope.workspace, scope.agent, report.target)
    send_body(body, {"type": "outcome", **content}, group, scope, queue, objects)


def carries_outcome(delivery: Delivery) -> bool:
    """Whether a delivery of the ingest queue is an outcome. Raises Rejected: it is no JSON."""
    body = load(delivery.body)
    return isinstance(body, dict) and body.get("type") == "outcome"


def read_outcome(
    delivery: Delivery, *, objects: Objects
) -> tuple[Scope, Report] | None:
    """Whose outcome, and which; None: it has been forgotten. Raises Rejected: it is none; Retryable."""
    body = read_body(delivery, objects, {"outcome", "erased"})
    if body["type"] == "erased":
        return None
    try:
        return Scope(body["workspaceId"], body["agentId"]), a_report(
            report_from_json(body)
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(error) from error


def report_from_json(body: Mapping[str, Any]) -> Report:
    """A report from a message's values. Raises KeyError, TypeError, ValueError, Rejected: they are none."""
    return Report(
        target=str(body["target"]),
        outcome=an_outcome(body["outcome"]),
        at=parse_instant(body["at"]),
        created_at=parse_instant(body["createdAt"]),
        correction=_text(body.get("correction")),
        decision=_text(body.get("decision")),
        resolution=_text(body.get("resolution")),
        used=tuple(map(str, body.get("used") or ())),
        user_id=_text(body.get("userId")),
        conversation_id=_text(body.get("conversationId")),
    )


def an_outcome(value: object) -> Outcome:
    """The outcome of that name, in either case of letters. Raises Rejected."""
    check_outcome(value, "outcome")
    return Outcome(str(value).upper())


def _text(value: object) -> str | None:
    return None if value is None or value == "" else str(value)
