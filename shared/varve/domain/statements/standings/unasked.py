"""Which rows of a store hold, whatever a question asks for."""

from collections.abc import Iterable, Mapping

from varve.domain.statements.standings.standing import Standing, Successor
from varve.domain.statements.standings.standings import Standings


def judge_unasked(
    standings: Standings, rows: Iterable[int]
) -> dict[int, Standing]:
    """Return the standings of those of the rows that are superseded."""
    store = standings.store
    statement_of: dict[int, int] = {}
    for row in rows:
        statement = store.find_statement(row)
        if statement is not None:
            statement_of[row] = statement
    told = dict.fromkeys(statement_of.values())
    successors = standings.find_successors(told)
    found: dict[int, Standing] = {}
    for row, statement in statement_of.items():
        if _is_superseded(row, statement, successors, standings):
            found[row] = _describe(statement, successors[statement], standings)
    return found


def _is_superseded(
    row: int,
    statement: int,
    successors: Mapping[int, Successor],
    standings: Standings,
) -> bool:
    successor = successors.get(statement)
    if successor is None:
        return False
    return standings.concerns(row, statement, successor.row)


def _describe(
    statement: int, successor: Successor, standings: Standings
) -> Standing:
    columns = standings.columns
    return Standing(
        current=False,
        confirmed=columns.event_times.item(statement),
        successor=columns.ids[successor.row],
        is_corrected=statement in standings.corrections,
        odds=successor.score,
    )
