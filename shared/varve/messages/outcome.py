"""The outcome of an episode: the event IngestFunction takes, and the queue message."""

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
    """How an episode ended; without `episode_id`, the conversation's last episode.

    `at` is when the outcome became known. It is required, because repeated events with the
    same statement and the same `at` count once.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True
    )

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


def is_outcome_event(event: object) -> bool:
    """Return whether an event of IngestFunction is an outcome, not a conversation."""
    return isinstance(event, Mapping) and event.get("type") == "outcome"


def parse_outcome_event(
    event: Mapping[str, Any], now: datetime
) -> tuple[Scope, Report]:
    """Return the agent and the report of an event. Raises Rejected: names the field."""
    try:
        parsed = OutcomeEvent.model_validate(event)
    except ValidationError as error:
        raise rejected(error) from error
    report = Report(
        target=parsed.episode_id or parsed.conversation_id,
        outcome=parse_outcome(parsed.outcome),
        at=parse_instant_field(parsed.at, "at"),
        created_at=now,
        correction=parsed.correction or None,
        decision=parsed.decision or None,
        resolution=parsed.resolution or None,
        used=tuple(sorted(set(parsed.used))),
        user_id=parsed.user_id,
        conversation_id=parsed.conversation_id,
    )
    scope = Scope(parsed.workspace_id, parsed.agent_id)
    return scope, check_report(report)


def check_report(report: Report) -> Report:
    """Return the report. Raises Rejected: names the first field that is not valid."""
    reference(report.target, "episode")
    if len(report.used) > MAX_USED:
        raise Rejected(
            "used", f"holds {len(report.used)} ids; the limit is {MAX_USED}"
        )
    for used in report.used:
        reference(used, "used")
    for name in ("correction", "decision", "resolution"):
        given = getattr(report, name) or ""
        text = valid_text(given, name)
        if len(text) > MAX_TEXT:
            raise Rejected(name, f"is longer than {MAX_TEXT:,} characters")
    if report.conversation_id is not None:
        path_id(report.conversation_id, "conversationId")
    if report.user_id is not None:
        reference(report.user_id, "userId")
    return report


def send_outcome(
    scope: Scope, report: Report, *, queue: Queue, objects: Objects
) -> None:
    """Send the report to the ingest queue, in its target's group. Raises Retryable."""
    content = {
        "type": "outcome",
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
    body = {**content, "createdAt": iso(report.created_at)}
    group = group_of(scope.workspace, scope.agent, report.target)
    send_body(body, group, scope, queue, objects, content=content)


def is_outcome_delivery(delivery: Delivery) -> bool:
    """Return whether a delivery of the ingest queue is an outcome.

    Raises Rejected: the body is not JSON.
    """
    if delivery.message is not None:
        return False  # outcomes are always encoded
    body = load(delivery.body)
    return isinstance(body, dict) and body.get("type") == "outcome"


def read_outcome(
    delivery: Delivery, *, objects: Objects
) -> tuple[Scope, Report] | None:
    """Return the agent and the report of a delivery, or None if it has been erased.

    Raises Rejected: not a valid outcome; Retryable.
    """
    body = read_body(delivery, objects, {"outcome", "erased"})
    if body["type"] == "erased":
        return None
    try:
        scope = Scope(body["workspaceId"], body["agentId"])
        report = report_from_json(body)
        return scope, check_report(report)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(error) from error


def report_from_json(body: Mapping[str, Any]) -> Report:
    """Return the report of JSON values.

    Raises KeyError, TypeError, ValueError, Rejected: the values are not a report's.
    """
    return Report(
        target=str(body["target"]),
        outcome=parse_outcome(body["outcome"]),
        at=parse_instant(body["at"]),
        created_at=parse_instant(body["createdAt"]),
        correction=_text(body.get("correction")),
        decision=_text(body.get("decision")),
        resolution=_text(body.get("resolution")),
        used=tuple(map(str, body.get("used") or ())),
        user_id=_text(body.get("userId")),
        conversation_id=_text(body.get("conversationId")),
    )


def parse_outcome(value: object) -> Outcome:
    """Return the outcome of a name in upper or lower case. Raises Rejected: no such name."""
    check_outcome(value, "outcome")
    return Outcome(str(value).upper())


def _text(value: object) -> str | None:
    """Return the value as text; None for None or the empty string."""
    if value is None or value == "":
        return None
    return str(value)
