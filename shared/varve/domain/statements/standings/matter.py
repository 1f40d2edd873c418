"""Which later statement contradicts one that holds: both tell of one matter."""

from varve.domain.statements.pairs.confirming import only_reminds
from varve.domain.statements.pairs.superseding import NEAREST
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.texts.cues import Cues
from varve.domain.statements.texts.particulars import count_shared
from varve.domain.statements.texts.statement import Statement

DOUBTFUL = -1.0
"""The least score of a pair that a person should look at."""
LEAST_LIKENESS = 0.5
"""Two statements of one matter have more than this share of their topics in common."""


def find_doubt(standings: Standings, row: int) -> int | None:
    """Return the statement that most likely contradicts a row; None: none may.

    It was said after the row's last confirmation.
    """
    store = standings.store
    best: tuple[float, int] | None = None
    confirmed = standings.find_confirmed(row)
    later = store.find_later([row], standings.admitted)[row]
    for other in later.nearest:
        if store.read(other).time <= confirmed:
            continue
        score = store.score(row, other)
        if score + NEAREST >= DOUBTFUL:
            score += NEAREST * store.is_nearest(row, other)
        if score < (best[0] if best else DOUBTFUL):
            continue
        if _is_one_matter(standings, row, other):
            best = (score, other)
    return best[1] if best else None


def _is_one_matter(standings: Standings, row: int, other: int) -> bool:
    """Return whether two rows tell of one matter, by their triples, else their words."""
    earlier = standings.store.read(row)
    later = standings.store.read(other)
    if goes_on(earlier, later) or only_reminds(later.cues):
        return False
    has_same_slot = standings.told.have_same_slot(
        standings.store.list_messages(row),
        standings.store.list_messages(other),
        tells_change=later.cues.tells_change,
    )
    if has_same_slot is not None:
        return has_same_slot
    return have_same_matter(earlier.cues, later.cues)


def have_same_matter(earlier: Cues, later: Cues) -> bool:
    """Return whether two texts share a word and most of their everyday topics.

    "I take the bus to work" and "I cycle to work" do. Texts without such topics share a
    word alone.
    """
    if count_shared(later.particulars, earlier.particulars) == 0:
        return False
    every = earlier.topics | later.topics
    shared = earlier.topics & later.topics
    return not every or len(shared) > LEAST_LIKENESS * len(every)


def goes_on(earlier: Statement, later: Statement) -> bool:
    """Return whether a speaker goes on in one conversation without a word of change.

    "I live in Utrecht." and "My dog is called Rex." answer no question in turn.
    """
    is_same = earlier.conversation == later.conversation
    return is_same and not later.cues.tells_change
