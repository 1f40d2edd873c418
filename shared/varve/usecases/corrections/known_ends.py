"""Which facts and turns no longer hold, as tables and pages tell it."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from varve.domain.calendar import Grain
from varve.domain.erasure import MessageKey
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.statements.pairs.links import Relation, parse_links
from varve.domain.statements.standings.named import NamedSuccessors
from varve.domain.statements.stores.told_values import TIMELESS
from varve.domain.statements.texts.telling import (
    CORRECTION,
    find_turn_id,
    list_corrected,
)
from varve.domain.triple import Triple
from varve.ports.records import MemoryReader

"""The ids of a conversation and of a message in it."""
_Named = Mapping[str, Set[str]]
"""By the id of a turn, the ids of the records that it names as superseded."""


@dataclass(frozen=True, slots=True)
class _StatedValue:
    """A folded value that a message states, and whether it still holds."""

    value: str
    holds: bool


class KnownEnds:
    """What memory knows of the ends of an agent's facts and turns.

    One no longer holds if a correction or a link names it, or if all triples that its
    messages state have ended; of a fact, those whose values it has. A search also finds
    likely successors by its question.
    `of` limits the names to those of one record and of its successors.
    """

    def __init__(
        self,
        scope: Scope,
        reader: MemoryReader,
        triples: Iterable[Triple],
        present: datetime,
        of: Record | None = None,
    ) -> None:
        self._named = read_named_successors(scope, reader, of)
        self._ends = StatedEnds(triples, present)

    def find_successor(self, record: Record) -> str | None:
        """Return the id of the turn that says what holds instead; None: none is named."""
        return self._named.find(record)

    def is_current(self, record: Record) -> bool:
        """Return whether a fact or turn holds, so far as memory knows."""
        if self.find_successor(record) is not None:
            return False
        return not self._ends.have_ended(record)


class StatedEnds:
    """Which facts and turns state triples that have all ended at `present`."""

    def __init__(self, triples: Iterable[Triple], present: datetime) -> None:
        self._stated = _find_stated(triples, present)

    def have_ended(self, record: Record) -> bool:
        """Return whether a record states triples, and none of these holds.

        A fact states those of its messages whose values it has; if it has none, all.
        """
        stated: list[_StatedValue] = []
        for message in record.source_ids:
            key = (record.conversation_id or "", message)
            stated += self._stated.get(key, ())
        if record.memory_type is MemoryType.FACT:
            told = record.content.casefold()
            stated = [one for one in stated if one.value in told] or stated
        return bool(stated) and not any(one.holds for one in stated)


def read_named_successors(
    scope: Scope, reader: MemoryReader, of: Record | None = None
) -> NamedSuccessors:
    """Read the turns that name others, and what they name.

    It holds these records alone in memory, not the store. Raises Retryable.
    """
    named = _read_names(scope, reader)
    if of is not None:
        named = _select_chain(named, {of.id, find_turn_id(of)})
    earlier = set(chain.from_iterable(named.values()))
    ids = named.keys() | earlier
    return NamedSuccessors(reader.get(scope, Grain.WORKING, sorted(ids)))


def _read_names(scope: Scope, reader: MemoryReader) -> _Named:
    """Return what the corrections and the linked turns of a store name."""
    named = _read_corrected(scope, reader)
    for id_, links in reader.read_links(scope, Grain.WORKING).items():
        earlier = named.get(id_, frozenset()) | set(_list_superseded(links))
        if earlier:
            named[id_] = earlier
    return named


def _read_corrected(scope: Scope, reader: MemoryReader) -> dict[str, Set[str]]:
    """Return what each correction names, and the turns of the facts among it."""
    said = reader.in_conversations(scope, Grain.WORKING, CORRECTION)
    corrected = {one.id: list_corrected(one.source_ids) for one in said}
    ids = set(chain.from_iterable(corrected.values()))
    found = reader.get(scope, Grain.WORKING, sorted(ids))
    turns = {one.id: find_turn_id(one) for one in found}
    named: dict[str, Set[str]] = {}
    for id_, earlier in corrected.items():
        of_facts = [turns.get(one, one) for one in earlier]
        named[id_] = {*earlier, *of_facts}
    return named


def _list_superseded(links: Iterable[str]) -> Iterator[str]:
    for link in links:
        for relation, id_ in parse_links(link):
            if relation is Relation.SUPERSEDES:
                yield id_


def _select_chain(named: _Named, ids: Set[str]) -> _Named:
    """Return what names one of the ids, or is named with them, directly or through others.

    A correction of what is corrected already belongs to the chain of the first one.
    """
    chosen: dict[str, Set[str]] = {}
    while True:
        more = {
            later: earlier
            for later, earlier in named.items()
            if later not in chosen
            and (later in ids or not ids.isdisjoint(earlier))
        }
        if not more:
            return chosen
        chosen |= more
        ids = {*ids, *more, *chain.from_iterable(more.values())}


def _find_stated(
    triples: Iterable[Triple], present: datetime
) -> dict[MessageKey, list[_StatedValue]]:
    """Return the values of triples that each message states."""
    found: dict[MessageKey, list[_StatedValue]] = {}
    for triple in triples:
        if triple.label in TIMELESS:
            continue
        end = triple.invalid_at
        holds = end is None or end > present
        for operation in triple.stating:
            one = _StatedValue(operation.object.casefold(), holds)
            for key in operation.messages:
                found.setdefault(key, []).append(one)
    return found
