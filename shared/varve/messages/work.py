"""The work queue's messages: summarize a period; clean, curate or catch up an agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.identity import Scope, digest
from varve.domain.summary import PeriodPart
from varve.messages.encoding import notes_from_json
from varve.messages.wire import (
    Body,
    dump,
    group_of,
    load,
    malformed,
    require_type,
)
from varve.ports.queues import Delivery, Queue


@dataclass(frozen=True, slots=True)
class CleanAgent:
    """An agent to clean up: `notes` name the periods that are expired at `planned_at`."""

    scope: Scope
    notes: tuple[str, ...]
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class CurateAgent:
    """An agent whose lessons to curate, as noted in the ledger under these months."""

    scope: Scope
    months: tuple[str, ...]
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class SummarizePeriod:
    """A period of one agent to summarize, as planned at `planned_at`.

    `part` are the users that an earlier message has left; None: all of them.
    """

    scope: Scope
    period: Period
    planned_at: datetime
    part: PeriodPart | None = None


@dataclass(frozen=True, slots=True)
class CatchUpAgent:
    """An agent whose words wait for the model's budget."""

    scope: Scope
    planned_at: datetime


WorkMessage = SummarizePeriod | CleanAgent | CurateAgent | CatchUpAgent


def send_work(
    message: SummarizePeriod, marks: Sequence[str], *, queue: Queue
) -> None:
    """Send a period to the work queue, in the agent's group.

    One group an agent means that two workers never build the same summary. The
    deduplication id covers `marks`, the reasons the period is due, and the time of planning.
    Raises Retryable.
    """
    fields: Body = {
        "grain": str(message.period.grain),
        "period": message.period.label,
    }
    if message.part:
        fields["after"] = message.part.after
        fields["version"] = message.part.version
    _send_work("summarize", message, fields, sorted(marks), queue)


def send_cleaning(message: CleanAgent, *, queue: Queue) -> None:
    """Send an agent's cleanup to the work queue, in its group. Raises Retryable."""
    _send_work("clean", message, {"notes": list(message.notes)}, (), queue)


def send_curation(message: CurateAgent, *, queue: Queue) -> None:
    """Send a curation of lessons to the work queue, in its group. Raises Retryable."""
    _send_work("curate", message, {"months": list(message.months)}, (), queue)


def send_catch_up(
    message: CatchUpAgent, done: int = 0, *, queue: Queue
) -> None:
    """Send a catch-up to the work queue, in the agent's group; `done` tells runs apart.

    Raises Retryable.
    """
    _send_work("catch-up", message, {}, (str(done),), queue)


def read_work(delivery: Delivery) -> WorkMessage:
    """Decode a delivery of the work queue. Raises Rejected: not valid."""
    body = require_type(
        load(delivery.body), {"summarize", "clean", "curate", "catch-up"}
    )
    try:
        scope = Scope(body["workspaceId"], body["agentId"])
        planned_at = parse_instant(body["plannedAt"])
        if body["type"] == "clean":
            notes = notes_from_json(body["notes"], scope)
            return CleanAgent(scope, notes, planned_at)
        if body["type"] == "catch-up":
            return CatchUpAgent(scope, planned_at)
        if body["type"] == "curate":
            months = _months_from_json(body["months"])
            return CurateAgent(scope, months, planned_at)
        period = Period.parse(body["period"], Grain(body["grain"]))
        return SummarizePeriod(
            scope, period, planned_at, _part_from_json(body)
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(error) from error


def _part_from_json(body: Body) -> PeriodPart | None:
    if "after" not in body:
        return None
    version = body["version"]
    return PeriodPart(
        str(body["after"]), None if version is None else int(version)
    )


def _months_from_json(labels: Sequence[str]) -> tuple[str, ...]:
    months = [Period.parse(label, Grain.MONTHLY) for label in labels]
    return tuple(month.label for month in months)


def _send_work(
    type_: str,
    message: WorkMessage,
    fields: Body,
    marks: Sequence[str],
    queue: Queue,
) -> None:
    scope = message.scope
    body = {
        "type": type_,
        "workspaceId": scope.workspace,
        "agentId": scope.agent,
        **fields,
        "plannedAt": iso(message.planned_at),
    }
    text = dump(body)
    group = group_of(scope.workspace, scope.agent)
    queue.send(text, group=group, deduplication_id=digest(text, *marks))
