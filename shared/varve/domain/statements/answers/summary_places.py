"""The places of summaries in an answer.

A summary that only repeats statements with places of their own is folded into their
place. One whose statements are all superseded stands behind what supersedes them, in an answer
about the present.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from varve.domain.record import MemoryType
from varve.domain.search.ranking import Ranked
from varve.domain.statements.answers.present import BEHIND, JUST_BEHIND
from varve.domain.statements.answers.repeating import Key, MarkedSummary

MAX_STAND_INS = 2
"""So many statements without a place of their own take that of a summary."""


class AnswerPlaces:
    """The rows of an answer by their ids, and the place of each statement.

    `told` are the rows of the store that have places. `spare` may get one; `find_key`
    returns the key of the statement of either, and `find_key_by_id` that of a record of
    the store, if it is one.
    """

    def __init__(
        self,
        told: Iterable[Ranked],
        spare: Iterable[Ranked],
        find_key: Callable[[Ranked], Key],
        find_key_by_id: Callable[[str], Key | None],
    ) -> None:
        self._rows: dict[str, Ranked] = {}
        self._places: dict[Key, str] = {}
        self._folded: dict[str, str] = {}
        self._find_key = find_key
        self._find_key_by_id = find_key_by_id
        self._spare: dict[Key, Ranked] = {}
        self._spare_by_id: dict[str, Ranked] = {}
        for item in told:
            self._take(item)
        for item in spare:
            self._spare.setdefault(find_key(item), item)
            self._spare_by_id[item.id] = item

    def _take(self, item: Ranked) -> None:
        self._rows[item.id] = item
        self._places.setdefault(self._find_key(item), item.id)
        for id_ in item.also_in:
            # What was folded into its place is repeated as well.
            key = self._find_key_by_id(id_)
            if key is not None:
                self._places.setdefault(key, item.id)

    def add(self, summary: MarkedSummary, *, folds: bool) -> None:
        """Add a summary, or fold it into the place of the statements that it repeats."""
        missing = [key for key in summary.keys if key not in self._places]
        if folds and summary.keys and self._fill(missing):
            self._fold(summary.item, summary.keys)
            return
        self._rows[summary.item.id] = summary.item
        for key in summary.keys:
            self._places.setdefault(key, summary.item.id)

    def _fill(self, keys: Sequence[Key]) -> bool:
        """Give spare rows the places of these statements; False: some have no row."""
        rows = [self._spare.get(key) for key in keys]
        if len(keys) > MAX_STAND_INS or None in rows:
            return False
        for row in filter(None, rows):
            self._take(row)
        return True

    def _fold(self, item: Ranked, keys: Iterable[Key]) -> None:
        """Fold a summary into the best place; one that holds gives it its score."""
        places = [self._rows[self._places[key]] for key in keys]
        leader = max(places, key=lambda one: one.score)
        score = leader.score
        if _holds(item) and _holds(leader):
            score = max(score, item.score)
        also_in = dict.fromkeys([*leader.also_in, item.id, *item.also_in])
        self._rows[leader.id] = replace(
            leader, score=score, also_in=tuple(also_in)
        )
        self._folded[item.id] = leader.id

    def sort(self) -> list[Ranked]:
        """Return the rows, best first, superseded ones behind their successors."""
        for item in list(self._rows.values()):
            if not _holds(item):
                self._put_behind(item)
        return self.list_rows()

    def list_rows(self) -> list[Ranked]:
        """Return the rows, best first, whether they hold or not."""
        return sorted(self._rows.values(), key=lambda item: -item.score)

    def _put_behind(self, item: Ranked) -> None:
        """Give a superseded row's successor a place, and put a summary behind it."""
        standing = item.standing
        id_ = self._find_place((standing and standing.successor) or "")
        if item.row.type is not MemoryType.SUMMARY:
            return
        successor = self._rows.get(id_)
        if successor is None:
            score = BEHIND * item.score
        else:
            self._rows[id_] = replace(
                successor, score=max(successor.score, item.score)
            )
            score = min(item.score, JUST_BEHIND * self._rows[id_].score)
        self._rows[item.id] = replace(item, score=score)

    def _find_place(self, id_: str) -> str:
        """Return the id of the row that shows a record; a spare one gets a place.

        Of a record without a row, a summary that repeats its statement shows it.
        """
        if id_ in self._rows or id_ in self._folded:
            return self._folded.get(id_, id_)
        spare = self._spare_by_id.get(id_)
        if spare is None:
            key = self._find_key_by_id(id_)
            return self._places.get(key, id_) if key else id_
        key = self._find_key(spare)
        if key not in self._places:
            self._take(spare)
        return self._places[key]


def _holds(item: Ranked) -> bool:
    return item.standing is None or item.standing.current
