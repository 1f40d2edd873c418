"""Search among the notes of one owner, below a prefix of their paths."""

from dataclasses import dataclass

from varve.domain.errors import Rejected
from varve.domain.notes import Note, count_records, note_record_id
from varve.domain.record import Store
from varve.domain.search.query import Filter
from varve.domain.search.question import read_question
from varve.domain.search.ranking import Ranked
from varve.domain.search.strategies import BALANCED
from varve.domain.validation import valid_text
from varve.ports.meter import doing
from varve.usecases.notes import list_notes
from varve.usecases.search.find import Stock, Wanted, find
from varve.usecases.session import Session

MAX_FOUND = 1_000
"""The most notes that one search returns."""


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note that bears on a question; `score` is that of its best passage, in [0, 1]."""

    note: Note
    score: float


@doing("search")
def search_notes(
    session: Session,
    query: str,
    prefix: str = "",
    user_id: str | None = None,
    max_results: int = 10,
) -> list[FoundNote]:
    """Return the notes that bear on the query, best first; the prefix limits the ranking.

    Raises Rejected: names the argument; Misconfigured, Retryable.
    """
    if not valid_text(query, "query").strip():
        raise Rejected("query", "has no words to look for")
    if not 1 <= max_results <= MAX_FOUND:
        raise Rejected("maxResults", f"must lie in 1 to {MAX_FOUND}")
    notes = list_notes(session, prefix, user_id)
    by_record: dict[str, Note] = {}
    for note in notes:
        for number in range(count_records(note.current)):
            by_record[note_record_id(note.id, number)] = note
    ranked = _rank(session, query, frozenset(by_record))
    best: dict[str, FoundNote] = {}
    for item in ranked:
        note = by_record[item.id]
        best.setdefault(note.id, FoundNote(note, round(item.score, 4)))
    return list(best.values())[:max_results]


def _rank(session: Session, query: str, ids: frozenset[str]) -> list[Ranked]:
    """Return the records with these ids that bear on the query, best first."""
    if not ids:
        return []
    text = session.privacy(query)
    wanted = Wanted(
        question=read_question(text, None, None, lasting=False),
        where=Filter(ids=ids),
        present=session.now,
        strategy=BALANCED,
        weights={Store.NOTES: 1.0},
        limit=len(ids),
    )
    reader = session.records.at(session.scope, (Store.NOTES,))
    return find(wanted, [Stock(session.scope, reader, session.embedder)])
