"""A statement: one record, its sources, and what memory made of it."""

from collections.abc import Sequence

from varve.domain.calendar import Grain
from varve.domain.record import MemoryType
from varve.domain.triple import TripleOperation
from varve.look.formats import name_period, name_period_briefly
from varve.look.links import target
from varve.look.spoken import read_spoken
from varve.look.summary_text import split_summary
from varve.look.visit import SHOWN, PageView, Visit

MAX_CONFIRMATIONS = 20


def show_record(visit: Visit) -> PageView:
    """Show a record. Raises Rejected: there is no such record."""
    record_id = visit.key()
    statement = visit.inspection.statement(record_id)
    record = statement.record
    is_summary = record["memoryType"] == MemoryType.SUMMARY
    start = visit.where.number("start")
    sources = record["sources"]
    day = statement.period
    if day.grain is Grain.WORKING:
        day = day.of_day(day.days[0], Grain.DAILY)
    values = {
        "statement": statement,
        "record": record,
        "text": split_summary(record["content"]) if is_summary else None,
        "sources": sources[start : start + SHOWN],
        "total": len(sources),
        "start": start,
        "shown": SHOWN,
        "spoken": read_spoken,
        "period": day,
        "period_name": name_period(day),
        "briefly": name_period_briefly,
        "confirmations": _list_confirmations(visit, statement.confirmations),
        "correct": visit.command("correct", record_id, "…"),
        "forget": visit.command("forget", "--id", record_id, "--dry-run"),
    }
    return PageView(
        "record.html",
        f"{record['memoryType']} of {name_period(day)}",
        values,
        up=target("period", day.label),
        command=("show", record_id),
    )


def _list_confirmations(
    visit: Visit, confirmations: Sequence[TripleOperation]
) -> list[tuple[TripleOperation, str]]:
    """Return the last confirmations, each with a day of its conversation's words."""
    listed = []
    for one in confirmations[-MAX_CONFIRMATIONS:]:
        days = visit.inspection.days_of(one.conversation_id)
        listed.append((one, days[0] if days else ""))
    return listed
