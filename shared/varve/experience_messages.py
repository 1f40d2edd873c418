"""The outcome of an episode as a message on the ingest queue."""

from varve.domain.calendar import iso, parse_instant
from varve.domain.conversation import OUTCOMES
from varve.domain.errors import Rejected
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope, path_id, reference
from varve.ports import Delivery, Objects, Queue
from varve.wire import group_of, load, malformed, read_body, send_body

MAX_USED = 200
MAX_TEXT = 10_000


def a_report(report: Report) -> Report:
    """The report itself. Raises Rejected: names the field that is not valid."""
    reference(report.target, "episode")
    if len(report.used) > MAX_USED:
        raise Rejected("used", f"holds {len(report.used)} ids; the limit is {MAX_USED}")
    for used in report.used:
        reference(used, "used")
    for name in ("correction", "decision", "resolution"):
        if len(getattr(report, name) or "") > MAX_TEXT:
            raise Rejected(name, f"is longer than {MAX_TEXT:,} characters")
    if report.conversation_id is not None:
        path_id(report.conversation_id, "conversationId")
    if report.user_id is not None:
        reference(report.user_id, "userId")
    return report


def send_outcome(scope: Scope, report: Report, *, queue: Queue, objects: Objects) -> None:
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


def read_outcome(delivery: Delivery, *, objects: Objects) -> tuple[Scope, Report]:
    """Whose outcome, and which. Raises Rejected: it is none; Retryable."""
    body = read_body(delivery, objects, {"outcome"})
    try:
        scope = Scope(body["workspaceId"], body["agentId"])
        report = Report(
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
        return scope, a_report(report)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(error) from error


def an_outcome(value: object) -> Outcome:
    """The outcome of that name, in either case of letters. Raises Rejected."""
    if not isinstance(value, str) or value.upper() not in OUTCOMES:
        raise Rejected("outcome", f"must be one of {', '.join(OUTCOMES)}, not {str(value)[:40]!r}")
    return Outcome(value.upper())


def _text(value: object) -> str | None:
    return None if value is None or value == "" else str(value)
