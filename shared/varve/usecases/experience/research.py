"""Research logs: facts, questions, search queries and visited sources, by name."""

from dataclasses import dataclass

from varve.domain.errors import Rejected
from varve.domain.experience.research import (
    Component,
    ResearchFinding,
    ResearchLog,
    finding_from,
    finding_record,
    with_answer,
)
from varve.domain.record import MemoryType
from varve.usecases.experience.rows import (
    delete_rows,
    read_past,
    send_rows,
    year_of,
)
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry to add to a log.

    Of more than `most` entries the oldest give way; the default is the workspace's.
    """

    log: str
    component: str
    text: str
    source: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None
    most: int | None = None


def read_log(session: Session, name: str) -> ResearchLog:
    """Return the log of that name; empty if nothing was noted."""
    name = session.privacy(name)
    rows = read_past(session).rows(MemoryType.FINDING)
    own = [row for row in rows if row.about == name]
    return ResearchLog(tuple(map(finding_from, own)))


def add_note(session: Session, note: LogEntry) -> tuple[ResearchFinding, bool]:
    """Add an entry unless the log says the same; return the entry and whether it is new.

    Raises Rejected: no such component, or no words.
    """
    if note.component not in set(Component) or not note.text.strip():
        names = ", ".join(Component)
        raise Rejected("component", f"must be one of {names}, with a text")
    text = session.privacy(note.text)
    source = note.source and session.privacy(note.source)
    component = Component(note.component)
    log = read_log(session, note.log)
    known = log.known(component, text, session.embedder.embed, session.now)
    if known is not None:
        return known, False
    entry = ResearchFinding(
        session.privacy(note.log),
        component,
        text,
        session.now,
        session.now,
        None,
        source,
        note.conversation_id,
        note.user_id,
    )
    send_rows(
        session, [finding_record(entry, year_of(session.now, session.zone))]
    )
    most = note.most or session.config.experience.research_entries
    surplus = ResearchLog((*log.entries, entry)).surplus(most)
    delete_rows(session, [one.id for one in surplus])
    return entry, True


def answer_question(
    session: Session, log: str, question: str, answer: str
) -> ResearchFinding:
    """Answer a question of a log. Raises Rejected: the log has no such question."""
    private = session.privacy(question)
    for asked in read_log(session, log).of(Component.QUESTION):
        if asked.text == private:
            entry = with_answer(asked, session.privacy(answer), session.now)
            row = finding_record(entry, year_of(entry.at, session.zone))
            send_rows(session, [row])
            return entry
    raise Rejected("question", f"the log {log[:60]!r} has no such question")


def build_research_block(
    session: Session, log: str, question: str, limit: int
) -> str:
    """Return the facts that bear on a question and the open questions, for a prompt."""
    return read_log(session, log).block(
        question, session.embedder.embed, limit
    )
