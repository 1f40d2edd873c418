"""Which summaries have forgotten sources, and what each of them may still say."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from varve.domain.calendar import Grain, Period
from varve.domain.erasure import Tombstones
from varve.domain.identity import Scope
from varve.domain.record import Record
from varve.domain.summary import (
    KeyFact,
    key_facts_as_json,
    key_facts_from_json,
    summary_id,
)
from varve.domain.workspace import WorkspaceConfig
from varve.ports.records import MemoryReader
from varve.usecases.erasure.subject import read_summaries
from varve.usecases.summarize import fact_lines


@dataclass(frozen=True, slots=True)
class Stained:
    """A summary to delete, or to replace by `rest`.

    `rest` is None if all its other sources still exist: the summary is then built again
    from them. `pairs` are the (id, fingerprint) pairs of the summary and its forgotten
    sources, for the tombstones. They are empty if nothing of it is forgotten; it may then
    come back as it was.
    """

    grain: Grain
    record: Record
    pairs: tuple[tuple[str, str], ...]
    rest: Record | None


@dataclass(frozen=True, slots=True)
class RemainingSources:
    """The sources of summaries, as one pass of an erasure finds them.

    `days` are the local days on which something forgotten was said. `left` are the ids of
    the facts and turns that stay. `reread` are the ids of the facts that will be extracted
    again: they, and summaries of them, may repeat forgotten words.
    """

    days: frozenset[str]
    left: frozenset[str]
    reread: frozenset[str]


def find_stained(
    scope: Scope,
    sources: RemainingSources,
    barred: Tombstones,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
) -> list[Stained]:
    """Return the summaries to take out, from daily up.

    A summary above one of the `days` is clean on two conditions: the summaries it was made
    from are clean, and they have not changed since.
    """
    chain: set[Period] = set()
    for day in sources.days:
        chain.update(_ancestors(Period(Grain.WORKING, day)))
    walk = _Walk(
        barred,
        config,
        chain,
        sources.reread,
        there=set(sources.left),
        outdated=set(sources.reread),
    )
    found: list[Stained] = []
    for grain, record in read_summaries(scope, reader):
        stained = walk.look_at(grain, record)
        if stained:
            found.append(stained)
    return found


@dataclass(slots=True)
class _Walk:
    """A walk over the summaries from daily up, with its results so far.

    `chain` are the periods above the forgotten days. `clean` are the fingerprints of the
    clean summaries, `there` the ids of the sources that exist, and `outdated` the ids of
    those that will be made again.
    """

    barred: Tombstones
    config: WorkspaceConfig
    chain: set[Period]
    reread: frozenset[str]
    there: set[str]
    outdated: set[str]
    clean: dict[str, str] = field(default_factory=dict)

    def look_at(self, grain: Grain, record: Record) -> Stained | None:
        """Judge one summary and take note of the result; None: it is clean."""
        facts = key_facts_from_json(record.key_facts)
        old = self.outdated.intersection(record.source_ids)
        gone = self.barred.stained_sources(record) | self._find_unclean(grain, record)
        gone -= old
        pairs: tuple[tuple[str, str], ...] = ()
        if gone or any(self.barred.bars_fact(fact) for fact in facts):
            pairs = _tombstone_pairs(record, gone)
        elif old or any(fact.id in self.reread for fact in facts):
            self.outdated.add(record.id)
        else:
            self.clean[record.id] = record.fingerprint[:16]
            self.there.add(record.id)
            return None
        rest = self._build_rest(grain, record, gone | old, self._keep(facts))
        return Stained(grain, record, pairs, rest)

    def _find_unclean(self, grain: Grain, record: Record) -> frozenset[str]:
        """Return the sources in the chain that are not clean summaries as they are now."""
        period = Period(grain, record.period)
        if grain is Grain.DAILY or period not in self.chain:
            return frozenset()
        below = {summary_id(one) for one in period.children() if one in self.chain}
        unclean: set[str] = set()
        for id_, fingerprint in _sources_of(record):
            if id_ in below and self.clean.get(id_) != fingerprint:
                unclean.add(id_)
        return frozenset(unclean)

    def _keep(self, facts: Sequence[KeyFact]) -> list[KeyFact]:
        kept: list[KeyFact] = []
        for fact in facts:
            if fact.id not in self.reread and not self.barred.bars_fact(fact):
                kept.append(fact)
        return kept

    def _build_rest(
        self, grain: Grain, record: Record, gone: Set[str], facts: Sequence[KeyFact]
    ) -> Record | None:
        """Return the summary with the kept facts alone, word for word.

        None if every remaining source still exists, or no fact is kept. Otherwise
        retention has deleted sources, and the kept facts are the only copy.
        """
        sources = [id_ for id_ in record.source_ids if id_ not in gone]
        if self.there.issuperset(sources) or not facts:
            return None
        users = {fact.user_id for fact in facts}
        return replace(
            record,
            content=fact_lines(facts, grain, self.config),
            user_id=users.pop() if len(users) == 1 else None,
            source_ids=tuple(sources),
            # Equal to no source's fingerprint: the next run finds the period changed.
            source_fingerprints=("",) * len(sources),
            people=(),
            topics=(),
            open_questions=(),
            key_facts=key_facts_as_json(facts),
        )


def _tombstone_pairs(record: Record, gone: Set[str]) -> tuple[tuple[str, str], ...]:
    pairs = [(record.id, record.fingerprint[:16])]
    pairs += [pair for pair in _sources_of(record) if pair[0] in gone]
    return tuple(pairs)


def _sources_of(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the id and fingerprint of each source."""
    yield from zip(record.source_ids, record.source_fingerprints, strict=True)


def _ancestors(period: Period) -> Iterator[Period]:
    above = period.parent()
    while above is not None:
        yield above
        above = above.parent()


def sorted_labels(found: Sequence[Stained]) -> tuple[str, ...]:
    """Return the labels of the periods that lose their summaries."""
    return tuple(sorted({one.record.period for one in found}))
