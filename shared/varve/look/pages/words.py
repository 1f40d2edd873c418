"""A conversation on one day: the words as they were said, and what memory made of them."""

from collections import defaultdict

from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected
from varve.domain.record import Record, turn_id
from varve.look.formats import name_period
from varve.look.links import target
from varve.look.spoken import read_spoken
from varve.look.visit import SHOWN, PageView, Visit


def show_conversation(visit: Visit) -> PageView:
    """Show a page of a conversation's messages on one day.

    Raises Rejected: the timeline has no such conversation on that day.
    """
    day = Period.parse(visit.key(0), Grain.DAILY)
    conversation_id = visit.key(1)
    start = visit.where.number("start")
    said = visit.inspection.conversation(
        day, conversation_id, start=start, most=SHOWN
    )
    if not said.total:
        raise Rejected(
            "conversation", f"the timeline has none of it on {day.label}"
        )
    lines = [read_spoken(line) for line in said.messages]
    turns = {line.id: turn_id(conversation_id, line.id) for line in lines}
    values = {
        "said": said,
        "lines": lines,
        "day": day,
        "name": name_period(day),
        "facts": _group_by_message(visit.inspection.facts_of(conversation_id)),
        "turns": turns,
        "held": visit.inspection.held(turns.values()),
        "other_days": [
            one
            for one in visit.inspection.days_of(conversation_id)
            if one != day.label
        ],
        "start": start,
        "shown": SHOWN,
    }
    return PageView(
        "conversation.html",
        f"Conversation {conversation_id}",
        values,
        up=target("period", day.label),
        command=("forget", "--conversation", conversation_id, "--dry-run"),
    )


def _group_by_message(facts: list[Record]) -> dict[str, list[Record]]:
    """Return the facts by the first message that each cites."""
    grouped: defaultdict[str, list[Record]] = defaultdict(list)
    for fact in facts:
        if fact.source_ids:
            grouped[fact.source_ids[0]].append(fact)
    return dict(grouped)
