"""The work queue's messages: one agent's period, cleaning, or look at lessons."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.calendar import Grain, Period, iso, parse_instant
from varve.domain.identity import Scope, digest
from varve.messages.encoding import notes_from_json
from varve.messages.wire import dump, group_of, load, malformed, typed
from varve.ports.queues import Delivery, Queue


@dataclass(frozen=True, slots=True)
class CleanAgent:
    """One agent of which something has expired, as the notes say and as of the planning pass's time."""

    scope: Scope
    notes: tuple[str, ...]
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class CurateAgent:
    """One agent whose lessons are to be looked at, as noted under these months."""

    scope: Scope
    months: tuple[str, ...]
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class SummarizePeriod:
    """One agent's period to bring up to date, as of the planning pass's time."""

    scope: Scope
    period: Period
    planned_at: datetime


WorkMessage = SummarizePeriod | CleanAgent | CurateAgent


def send_work(message: SummarizePeriod, marks: Sequence[str], *, queue: Queue) -> None:
    """Put one period on the work queue: one group per agent, so that two never build one summary.

    What makes it new is what is due and the pass that found it so. Raises Retryable.
    """
    fields = {"grain": str(message.period.grain), "period": message.period.label}
    _send_work("summarize", message, fields, sorted(marks), queue)


def send_cleaning(message: CleanAgent, *, queue: Queue) -> None:
    """Put one agent's cleanup on the work queue, in the agent's group. Raises Retryable."""
    _send_work("clean", message, {"notes": list(message.notes)}, (), queue)


def send_curation(message: CurateAgent, *, queue: Queue) -> None:
    """Put a look at one agent's lessons on the work queue, in its group. Raises Retryable."""
    _send_work("curate", message, {"months": list(message.months)}, (), queue)


def read_work(delivery: Delivery) -> WorkMessage:
    """The message of a delivery on the work queue. Raises Rejected: it is none."""
    body = typed(load(delivery.body), {"summarize", "clean", "curate"})
    try:
        scope, planned_at = (
            Scope(body["workspaceId"], body["agentId"]),
            parse_instant(body["plannedAt"]),
        )
        if body["type"] == "clean":
            return CleanAgent(scope, notes_from_json(body["notes"], scope), planned_at)
        if body["type"] == "curate":
            months = tuple(
                Period.parse(month, Grain.MONTHLY).label for month in body["months"]
            )
            return CurateAgent(scope, months, planned_at)
        return SummarizePeriod(
            scope, Period.parse(body["period"], Grain(body["grain"])), planned_at
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(error) from error


def _send_work(
    type_: str,
    message: WorkMessage,
    fields: dict[str, Any],
    news: Sequence[str],
    queue: Queue,
) -> None:
    scope = message.scope
    owner = {"workspaceId": scope.workspace, "agentId": scope.agent}
    body = dump(
        {"type": type_, **owner, **fields, "plannedAt": iso(message.planned_at)}
    )
    queue.send(
        body,
        group=group_of(scope.workspace, scope.agent),
        deduplication_id=digest(body, *news),
    )
