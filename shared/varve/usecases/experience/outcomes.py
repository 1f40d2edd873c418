"""Outcomes: how an episode ended, as a caller reports it and as the writer stores it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from varve.domain.errors import Rejected
from varve.domain.experience.links import links_of_report
from varve.domain.experience.rows import Report, report_record
from varve.messages.outcome import check_report, parse_outcome, send_outcome
from varve.messages.write import WriteTriples, send_triples
from varve.ports.meter import doing
from varve.usecases.experience.rows import read_past, send_rows, year_of
from varve.usecases.local import catch_up
from varve.usecases.privacy import Privacy
from varve.usecases.session import Session


def take_in_outcome(session: Session, report: Report) -> None:
    """Send a reported outcome, and the links it states of an episode, to the writer.

    Of a conversation that is named without an episode the last one is meant, which is
    known only when all is read: its episodes may arrive later.
    Raises Retryable, Misconfigured.
    """
    # Filtered again: a sender may have put it on the queue without `report_outcome`.
    report = _filter(report, session.privacy)
    row = report_record(report, year_of(report.at, session.zone))
    send_rows(session, [row])
    links = tuple(links_of_report(report, report.target))
    if links and report.names_episode:
        triples = WriteTriples(session.scope, links)
        send_triples(
            triples, queue=session.queues.write, objects=session.objects
        )


def report_outcome(
    session: Session,
    target: str,
    outcome: str,
    *,
    correction: str | None = None,
    decision: str | None = None,
    resolution: str | None = None,
    used: Sequence[str] = (),
    user: str | None = None,
    at: datetime | None = None,
) -> Report:
    """Send how an episode ended, or the last episode of a conversation.

    The same statement with the same `at` counts once. Raises Rejected: names the field;
    Retryable.
    """
    if isinstance(used, str):
        raise Rejected("used", "must be a list of ids, not one")
    then = session.now if at is None else at
    past = read_past(session)
    lived = past.by_id.get(past.target_at(target, then))
    named = conversation_id = target
    own_user = None
    if lived:
        named = lived.episode.id
        conversation_id = lived.episode.conversation_id
        own_user = lived.episode.user_id
    report = Report(
        target=named,
        outcome=parse_outcome(outcome),
        at=then,
        created_at=session.now,
        correction=correction,
        decision=decision,
        resolution=resolution,
        used=tuple(sorted(set(used))),
        user_id=user or own_user,
        conversation_id=conversation_id,
    )
    return accept_report(session, report)


@doing("ingest")
def accept_report(session: Session, report: Report) -> Report:
    """Filter a report and put it on the ingest queue; return it as sent.

    Without a queue service it is in memory when this returns.
    Raises Rejected: names the field; Retryable, Misconfigured.
    """
    filtered = check_report(_filter(report, session.privacy))
    send_outcome(
        session.scope,
        filtered,
        queue=session.queues.ingest,
        objects=session.objects,
    )
    catch_up(session)
    return filtered


def _filter(report: Report, privacy: Privacy) -> Report:
    """Return the report with its texts as the workspace may keep them."""

    def filtered(text: str | None) -> str | None:
        return text and privacy(text)

    return replace(
        report,
        correction=filtered(report.correction),
        decision=filtered(report.decision),
        resolution=filtered(report.resolution),
    )
