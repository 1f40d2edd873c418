"""Which summaries have forgotten sources, and what each of them may still say."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from varve.domain.attribution import Attribution, attribute
from varve.domain.calendar import Grain, Period
from varve.domain.erasure import Tombstones
from varve.domain.identity import Scope
from varve.domain.record import Record
from varve.domain.summary import (
    KEY_FACTS_HEADING,
    KeyFact,
    agent_summary_id,
    key_facts_as_json,
    key_facts_from_json,
    summary_id,
)
from varve.domain.workspace import WorkspaceConfig
from varve.ports.records import MemoryReader
from varve.usecases.summaries.summary_records import fact_lines
from varve.usecases.whole_stores import read_summaries

DayOfUser = tuple[str, str | None]
"""A local day, and a user; None: messages without a user."""
PeriodOfUser = tuple[Period, str | None]


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

    `days` are the local days on which something forgotten was said, each with the user
    that it was from or addressed to. `left` are the ids of
    the facts and turns that stay. `reread` are the ids of the facts that will be extracted
    again: they, and summaries of them, may repeat forgotten words. `gone_texts` are the
    forgotten texts, `left_texts` those that stay; both tell the sentences of others.
    """

    days: frozenset[DayOfUser]
    left: frozenset[str]
    reread: frozenset[str]
    gone_texts: tuple[str, ...] = ()
    left_texts: tuple[str, ...] = ()


def find_stained(
    scope: Scope,
    sources: RemainingSources,
    barred: Tombstones,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
) -> list[Stained]:
    """Return the summaries to take out, from daily up.

    A summary above one of its user's `days` is clean on two conditions: the summaries it
    was made from are clean, and they have not changed since.
    """
    chain: set[PeriodOfUser] = set()
    for day, user_id in sources.days:
        for above in _ancestors(Period(Grain.WORKING, day)):
            chain.add((above, user_id))
    summaries = list(read_summaries(scope, reader))
    records = [record for _, record in summaries]
    walk = _Walk(
        barred,
        config,
        chain,
        sources.reread,
        _attribute(sources, barred, records),
        there=set(sources.left),
        outdated=set(sources.reread),
    )
    found: list[Stained] = []
    for grain, record in summaries:
        stained = walk.look_at(grain, record)
        if stained:
            found.append(stained)
    return found


def _attribute(
    sources: RemainingSources, barred: Tombstones, summaries: Sequence[Record]
) -> Attribution:
    """Return whose the words of summaries are, by everything that still tells it."""
    gone = list(sources.gone_texts)
    left = list(sources.left_texts)
    for record in summaries:
        for fact in key_facts_from_json(record.key_facts):
            if barred.bars_fact(fact):
                gone.append(fact.content)
            elif fact.id not in sources.reread:
                left.append(fact.content)
    return attribute(gone, left)


@dataclass(slots=True)
class _Walk:
    """A walk over the summaries from daily up, with its results so far.

    `chain` are the periods above the forgotten days, by user. `clean` are the fingerprints of the
    clean summaries, `there` the ids of the sources that exist, and `outdated` the ids of
    those that will be made again. `seen` are the ids of all summaries that exist.
    """

    barred: Tombstones
    config: WorkspaceConfig
    chain: set[PeriodOfUser]
    reread: frozenset[str]
    attribution: Attribution
    there: set[str]
    outdated: set[str]
    clean: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def look_at(self, grain: Grain, record: Record) -> Stained | None:
        """Judge one summary and take note of the result; None: it is clean."""
        self.seen.add(record.id)
        facts = key_facts_from_json(record.key_facts)
        old = self.outdated.intersection(record.source_ids)
        unclean = self._find_unclean(grain, record)
        gone = self.barred.stained_sources(record) | unclean
        gone -= old
        is_forgotten = bool(gone) or any(map(self.barred.bars_fact, facts))
        is_old = bool(old) or any(fact.id in self.reread for fact in facts)
        stained = None
        if is_forgotten or is_old:
            stained = self._judge(
                grain, record, gone, old, is_forgotten=is_forgotten
            )
        if stained is None:
            self.clean[record.id] = record.fingerprint[:16]
            self.there.add(record.id)
        else:
            # A day that cites a forgotten correction may be no day of a forgotten word.
            period = Period(grain, record.period)
            self.chain.add((period, record.user_id))
        return stained

    def _judge(
        self,
        grain: Grain,
        record: Record,
        gone: frozenset[str],
        old: Set[str],
        *,
        is_forgotten: bool,
    ) -> Stained | None:
        """Return what becomes of a summary with sources that go; None: it may stay."""
        lost = self._find_lost(grain, record, gone)
        pairs = _tombstone_pairs(record, gone - lost) if is_forgotten else ()
        if lost:
            rest = self._build_rest(grain, record, (gone | old) - lost)
            if rest is not None and _says_the_same(rest, record):
                return None
            return Stained(grain, record, pairs, rest)
        if not is_forgotten:
            self.outdated.add(record.id)
        return Stained(grain, record, pairs, None)

    def _find_lost(
        self, grain: Grain, record: Record, gone: Set[str]
    ) -> Set[str]:
        """Return the sources that retention has deleted.

        The summary alone still has what others said in them. A forgotten fact or turn is
        no loss to others, but a forgotten summary below may have been of several users.
        A summary that an interrupted erasure has deleted is barred, and will be rebuilt.
        """
        lost = set(record.source_ids) - self.there - self.seen - self.outdated
        if grain is Grain.DAILY:
            return lost - gone
        for id_, fingerprint in _sources_of(record):
            if self.barred.has_record(id_, fingerprint):
                lost.discard(id_)
        return lost

    def _find_unclean(self, grain: Grain, record: Record) -> frozenset[str]:
        """Return the sources in the chain that are not clean summaries as they are now."""
        if grain is Grain.DAILY:
            return frozenset()
        below: set[str] = set()
        period = Period(grain, record.period)
        for child, user_id in self._chain_below(period, record):
            below.add(agent_summary_id(child))
            below.add(summary_id(child, user_id))
        unclean: set[str] = set()
        for id_, fingerprint in _sources_of(record):
            if id_ in below and self.clean.get(id_) != fingerprint:
                unclean.add(id_)
        return frozenset(unclean)

    def _chain_below(
        self, period: Period, record: Record
    ) -> Iterator[PeriodOfUser]:
        """Yield the part of the chain that a summary may be made of.

        A summary of all users may be made of anyone's; another only of its user's.
        """
        is_shared = record.id == agent_summary_id(period)
        children = set(period.children())
        for child, user_id in self.chain:
            is_owned = is_shared or user_id == record.user_id
            if child in children and is_owned:
                yield child, user_id

    def _keep(self, facts: Sequence[KeyFact]) -> list[KeyFact]:
        kept: list[KeyFact] = []
        for fact in facts:
            if fact.id not in self.reread and not self.barred.bars_fact(fact):
                kept.append(fact)
        return kept

    def _build_rest(
        self, grain: Grain, record: Record, gone: Set[str]
    ) -> Record | None:
        """Return the summary with what others said alone; None: that is nothing.

        Key facts stay word for word. Of the prose the sentences of others stay.
        """
        kept = self._keep(key_facts_from_json(record.key_facts))
        prose, _, _ = record.content.partition(KEY_FACTS_HEADING)
        told = self._keep_prose(record, prose)
        lines = fact_lines(kept, grain, self.config)
        if not told and not kept:
            return None
        sources = [id_ for id_ in record.source_ids if id_ not in gone]
        users = {fact.user_id for fact in kept}
        is_of_one = not told and len(users) == 1
        user_id = record.user_id
        is_shared = user_id is None and not is_of_one
        if not user_id and not is_shared:
            user_id = users.pop()
        return replace(
            record,
            content=told + lines,
            user_id=user_id,
            source_ids=tuple(sources),
            # Equal to no source's fingerprint: the next run finds the period changed.
            source_fingerprints=("",) * len(sources),
            people=self.attribution.keep_texts(record.people),
            topics=self.attribution.keep_texts(record.topics),
            open_questions=self.attribution.keep_texts(record.open_questions),
            key_facts=key_facts_as_json(kept),
        )

    def _keep_prose(self, record: Record, prose: str) -> str:
        """Return the sentences of others; none of a summary that is the user's own."""
        owner = self.barred.hash("user", record.user_id or "")
        if owner in self.barred.users:
            return ""
        return self.attribution.keep_sentences(prose)


def _says_the_same(rest: Record, record: Record) -> bool:
    """Return whether nothing of a summary was forgotten."""
    return (
        rest.content == record.content
        and rest.key_facts == record.key_facts
        and rest.people == record.people
        and rest.topics == record.topics
        and rest.open_questions == record.open_questions
    )


def _tombstone_pairs(
    record: Record, gone: Set[str]
) -> tuple[tuple[str, str], ...]:
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
