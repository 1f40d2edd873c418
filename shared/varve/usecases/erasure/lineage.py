"""Which summaries stand on something that has been forgotten, and what is left of each of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
from varve.usecases.erasure.subject import summaries_of
from varve.usecases.summarize import fact_lines


@dataclass(frozen=True, slots=True)
class Stained:
    """A summary that must go, and what takes its place.

    Nothing takes the place of one whose other sources are all still there: it is built from them anew.
    `pairs` are the summary as it was and its forgotten sources, as tombstones name them: none where nothing
    of it is forgotten, for then it may come back as it was.
    """

    grain: Grain
    record: Record
    pairs: tuple[tuple[str, str], ...]
    rest: Record | None


def stained(
    scope: Scope,
    days: Iterable[str],
    left: frozenset[str],
    anew: frozenset[str],
    barred: Tombstones,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
) -> list[Stained]:
    """The summaries to take out, from daily up.

    `days` are the local days on which something forgotten was said: a summary of a period above one of
    them is clean only as far as it stands on the summaries below it as they are now, and those are clean.
    `left` are the ids of the facts and turns that stay, `anew` those of the facts that are read anew: they
    may say what was forgotten, and so may what sums them up.
    """
    chain = {
        period for day in days for period in _ancestors(Period(Grain.WORKING, day))
    }
    clean: dict[str, str] = {}
    there, outdated = set(left), set(anew)
    found = []
    for grain, record in summaries_of(scope, reader):
        facts = key_facts_from_json(record.key_facts)
        old = outdated.intersection(record.source_ids)
        gone = (
            barred.stained_sources(record) | _unclean(grain, record, chain, clean)
        ) - old
        if gone or any(map(barred.bars_fact, facts)):
            known = zip(record.source_ids, record.source_fingerprints, strict=True)
            pairs = (
                (record.id, record.fingerprint[:16]),
                *(pair for pair in known if pair[0] in gone),
            )
        elif old or any(fact.id in anew for fact in facts):
            pairs = ()
            outdated.add(record.id)
        else:
            clean[record.id] = record.fingerprint[:16]
            there.add(record.id)
            continue
        kept = [
            fact for fact in facts if not barred.bars_fact(fact) and fact.id not in anew
        ]
        found.append(
            Stained(
                grain,
                record,
                pairs,
                _rest(grain, record, gone | old, kept, there, config),
            )
        )
    return found


def _ancestors(period: Period) -> Iterable[Period]:
    while (above := period.parent()) is not None:
        yield (period := above)


def _unclean(
    grain: Grain, record: Record, chain: set[Period], clean: dict[str, str]
) -> frozenset[str]:
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
    facts: Sequence[KeyFact],
    there: set[str],
    config: WorkspaceConfig,
) -> Record | None:
    """What the summary may still say of sources that retention has taken: others' facts, word for word."""
    sources = [id_ for id_ in record.source_ids if id_ not in gone]
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
