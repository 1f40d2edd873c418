"""Statements that are told again after what superseded them: they hold again."""

from collections.abc import Mapping

from varve.domain.statements.standings.standing import Successor
from varve.domain.statements.standings.standings import Standings


def hold_retold(
    successors: Mapping[int, Successor], standings: Standings
) -> dict[int, Successor]:
    """Return the successors, but of statements that are told again after theirs.

    What superseded such a statement is superseded in turn, as surely: after "I live in
    Turku again", "I no longer live in Turku" holds no longer. A correction and a link that
    a model judged are judged by themselves.
    """
    held = dict(successors)
    for row, successor in successors.items():
        if successor.is_named:
            continue
        again = _find_again(row, successor.row, standings)
        if again is None:
            continue
        del held[row]
        held.setdefault(successor.row, Successor(again, successor.score))
    return held


def _find_again(row: int, ended_by: int, standings: Standings) -> int | None:
    """Return the last row that tells a statement again after another row."""
    later = [
        other
        for other in standings.list_saying(row)
        if other != ended_by and standings.store.is_later(ended_by, other)
    ]
    times = standings.columns.event_times
    return max(later, key=times.item, default=None)
