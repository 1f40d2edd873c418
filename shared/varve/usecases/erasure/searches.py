"""Erasure of logged questions: a user's questions, and those that repeat erased words."""

from collections.abc import Iterable

from varve.domain.searches import SearchRow
from varve.domain.traces import Traces
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.needles import Needles
from varve.usecases.search.objects import drop_rows, read_rows
from varve.usecases.session import Session


def read_words_of_others(session: Session, user: str | None) -> list[str]:
    """Return the words that other users have asked with: they belong to those users."""
    words: list[str] = []
    for _, rows in read_rows(session.scope, objects=session.objects):
        for row in rows:
            if row.words and row.user_id not in (None, user):
                words.append(row.words)
    return words


def erase_searches(
    session: Session, wanted: Needles, kept: Iterable[Traces]
) -> set[str]:
    """Delete the questions of forgotten users; return the rows' ids.

    A question that no user asked goes if it has words of a subject alone.
    """
    barred = tombstones.load(session.scope, objects=session.objects)
    traces = list(kept)

    def is_gone(row: SearchRow) -> bool:
        if row.is_barred_by(barred):
            return True
        if row.user_id is not None or not row.words:
            return False
        words = row.words
        if wanted.stand_in(words):
            return True
        return any(one.stand_in(words) for one in traces)

    return drop_rows(session.scope, is_gone, objects=session.objects)
