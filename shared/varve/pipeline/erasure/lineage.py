"""Which summaries stand on something that has been forgotten, and what is left of each of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from varve.domain.calendar import Grain, Period
from varve.domain.erasure import Tombstones
from varve.domain.identity import Scope
from varve.domain.record import Record
from varve.domain.summary import key_facts_as_json, key_facts_from_json, summary_id
from varve.domain.workspace import WorkspaceConfig
from varve.pipeline.erasure.subject import summaries_of
from varve.pipeline.summarize import fact_lines
from varve.ports.records import MemoryReader


@dataclass(frozen=True, slots=True)
class Stained:
    """A summary that must go, with those of its sources that are forgotten, and what takes its place.

    Nothing takes the place of one whose other sources are all still there: it is built from them anew.
    """

    grain: Grain
    record: Record
    sources: frozenset[str]
    rest: Record | None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The summary as it was and its forgotten sources, as tombstones name them."""
        known = zip(self.record.source_ids, self.record.source_fingerprints, strict=True)
        return [
            (self.record.id, self.record.fingerprint[:16]),
            *(pair for pair in known if pair[0] in self.sources),
        ]


def stained(
    scope: Scope,
    days: Iterable[str],
    left: frozenset[str],
    barred: Tombstones,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
) -> list[Stained]:
    """The summaries to take out, from daily up.

    `days` are the local days on which something forgotten was said: a summary of a period above one of
    them is clean only as far as it stands on the summaries below it as they are now, and those are clean.
    `left` are the ids of the facts and turns that stay.
    """
    chain = {period for day in days for period in _ancestors(Period(Grain.WORKING, day))}
    clean: dict[str, str] = {}
    there = set(left)
    found = []
    for grain, record in summaries_of(scope, reader):
        sources = barred.stained_sources(record) | _unclean(grain, record, chain, clean)
        facts = [fact for fact in key_facts_from_json(record.key_facts) if barred.bars_fact(fact)]
        if sources or facts:
            found.append(
                Stained(grain, record, sources, _rest(grain, record, sources, there, barred, config))
            )
        else:
            clean[record.id] = record.fingerprint[:16]
            there.add(record.id)
    return found


def _ancestors(period: Period) -> Iterable[Period]:
    while (above := period.parent()) is not None:
        yield (period := above)


def _unclean(grain: Grain, record: Record, chain: set[Period], clean: dict[str, str]) -> frozenset[str]:
    """Sources that sum up a day of the chain, and are not a clean summary as it is now."""
    period = Period(grain, record.period)
    if grain is Grain.DAILY or period not in chain:
        return frozenset()
    below = {summary_id(child) for child in period.children() if child in chain}
    known = dict(zip(record.source_ids, record.source_fingerprints, strict=True))
    return frozenset(id_ for id_ in below & set(known) if clean.get(id_) != known[id_])


def _rest(
    grain: Grain,
    record: Record,
    gone: frozenset[str],
    there: set[str],
    barred: Tombstones,
    config: WorkspaceConfig,
) -> Record | None:
    """What the summary may still say of sources that retention has taken: others' facts, word for word."""
    sources = [id_ for id_ in record.source_ids if id_ not in gone]
    facts = [fact for fact in key_facts_from_json(record.key_facts) if not barred.bars_fact(fact)]
    if there.issuperset(sources) or not facts:
        return None
    users = {fact.user_id for fact in facts}
    return replace(
        record,
        content=fact_lines(facts, grain, config),
        user_id=users.pop() if len(users) == 1 else None,
        source_ids=tuple(sources),
        # Unlike any source's, so that the next pass finds the period changed and builds it.
        source_fingerprints=("",) * len(sources),
        people=(),
        topics=(),
        open_questions=(),
        key_facts=key_facts_as_json(facts),
    )


def labels(found: Sequence[Stained]) -> tuple[str, ...]:
    """The periods that lose their summaries."""
    return tuple(sorted({one.record.period for one in found}))
