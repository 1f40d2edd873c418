"""What only says that a statement goes on: it moves its date and takes no place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from varve.domain.search.columns import Columns
from varve.domain.search.ranking import Ranked, find_place
from varve.domain.search.row import MessageKey
from varve.domain.statements.pairs.confirming import Again
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.particulars import Particulars, count_shared


def fold_confirmations(
    settled: Sequence[Ranked], columns: Columns
) -> list[Ranked]:
    """Fold what adds nothing to an earlier statement of an answer into its place.

    "Yes, I'm still in Madrid" has no place beside "I live in Madrid". The earlier one
    tells more and is shown, as high as the better of both.
    """
    store = columns.derive(StoreStatements)
    turns = {item.number: _find_turn(item, store) for item in settled}
    kept = list(settled)
    for one in settled:
        # Another row may have been folded into it by now.
        later = kept[find_place(one.id, kept)]
        earlier = _find_confirmed(later, kept, turns, store)
        if earlier is None:
            continue
        places = [item for item in kept if item is not later]
        at = min(kept.index(earlier), kept.index(later))
        places.remove(earlier)
        places.insert(at, _fold(earlier, later))
        kept = places
    return kept


def _find_confirmed(
    later: Ranked,
    kept: Sequence[Ranked],
    turns: Mapping[int, int | None],
    store: StoreStatements,
) -> Ranked | None:
    """Return the first statement of an answer that a later one only confirms.

    `turns` has the turn of each row of the answer, by its number.
    """
    row = turns[later.number]
    if row is None:
        return None
    for one in kept:
        statement = turns[one.number]
        if statement is None or statement == row:
            continue
        if store.is_later(statement, row) and _is_same(statement, row, store):
            return one
    return None


def _is_same(statement: int, row: int, store: StoreStatements) -> bool:
    return store.compare_tellings(statement, row) is Again.IN_WORDS


def _find_turn(item: Ranked, store: StoreStatements) -> int | None:
    """Return the turn of a row that holds and that a person told; None: it is none."""
    if item.standing is None or not item.standing.current:
        return None
    statement = store.find_statement(item.number)
    if statement is None or store.is_assistant(item.number):
        return None
    return statement


def _fold(earlier: Ranked, later: Ranked) -> Ranked:
    also_in = dict.fromkeys([*earlier.also_in, later.id, *later.also_in])
    said_in = dict.fromkeys(
        [*earlier.said_in, *later.row.sources, *later.said_in]
    )
    own = set(earlier.row.sources)
    return replace(
        earlier,
        score=max(earlier.score, later.score),
        answers=earlier.answers or later.answers,
        also_in=tuple(also_in),
        said_in=tuple(one for one in said_in if one not in own),
    )


def find_confirmations(
    standings: Standings, parts: Mapping[str, tuple[MessageKey, str]]
) -> dict[str, int]:
    """Return when each part was last said or confirmed, in microseconds since 1970.

    Parts are as in `Standings.find_corrected`. Later words confirm the parts that they name.
    """
    store = standings.store
    found: dict[str, int] = {}
    for key, row in store.find_turns(parts).items():
        part = read_cues(parts[key][1]).particulars
        found[key] = max(
            store.read(other).time
            for other in standings.list_saying(row)
            if other == row or _names_part(store, other, part)
        )
    return found


def _names_part(store: StoreStatements, row: int, part: Particulars) -> bool:
    return count_shared(part, store.read(row).cues.particulars) > 0
