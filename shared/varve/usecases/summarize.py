"""Summarize one agent's period: gather its sources, and build its one summary where they changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from varve.domain import retention
from varve.domain.calendar import Grain, Period, day_of
from varve.domain.errors import Rejected, Retryable, VarveError
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges, expiry_key, failed_key, version_in
from varve.domain.record import EmbeddedRecord, MemoryType, Record
from varve.domain.summary import (
    BUDGET_TOKENS,
    KeyFact,
    Source,
    Summary,
    SummaryTask,
    key_facts_as_json,
    key_facts_from_json,
    most_important,
    summary_id,
)
from varve.domain.text import estimated_tokens
from varve.domain.workspace import WorkspaceConfig
from varve.messages.write import WriteRecords, send_records
from varve.ports.models import Summarizer
from varve.ports.records import MemoryReader
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import sweep_again
from varve.usecases.session import Session
from varve.usecases.timeline import timeline_expiry_notes

SUMMARY_IMPORTANCE = 0.6
KEY_FACTS_HEADING = "\nKey facts:\n"
KEY_FACTS_SHARE = 0.5
NO_WORDS = "(no words)"
"""What is said of a period in which nobody said a word: models embed no blank text."""


class Outcome(StrEnum):
    """What became of one agent's period."""

    BUILT = "built"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    FAILED = "failed"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Gathered:
    """A period's sources as they are now, with the key facts below it and the summary it has.

    `lost` are sources of that summary that retention has taken since: what they said lives on in
    its text alone, which then is a source of the next one.
    """

    sources: tuple[Source, ...]
    key_facts: tuple[KeyFact, ...]
    prior: Record | None
    lost: frozenset[str]

    @property
    def changed(self) -> bool:
        """Whether a source is new or says something else than when the summary was made."""
        known = _known(self.prior)
        return any(
            known.get(source.id) != source.fingerprint for source in self.sources
        )


def summarize(session: Session, period: Period) -> Outcome:
    """Bring one agent's period up to date: one summary with a deterministic id.

    No model is called and nothing is written if the sources are unchanged. A model's
    failure is noted in the ledger with its reason and a time to try again; no other
    period waits. Raises Retryable: the store failed, or a stale listing hides what a
    mark stands for; Misconfigured.
    """
    try:
        session.config  # noqa: B018 - an invalid configuration fails this period alone
    except Rejected as error:
        return note_failure(session, period, error)
    scope = session.scope
    # Listed before anything is read: whatever is written later has marks of its own.
    marks = session.ledger.marks(scope, period)
    barred = tombstones.load(scope, objects=session.objects)
    since = max(map(version_in, marks), default=0)
    gathered = gather(
        scope, period, session.now, session.config, reader=session.records, since=since
    )
    if not gathered.changed:
        return _settle_unchanged(session, period, marks, gathered)
    embedder = session.embedder
    try:
        record = _build(session, period, gathered)
        (vector,) = embedder.embed([record.content])
    except (Retryable, Rejected) as error:
        sweep_again(scope, barred, objects=session.objects)
        return note_failure(session, period, error)
    sweep_again(scope, barred, objects=session.objects)
    # The commit forgets failures too: until then, a repeated delivery may add one.
    changes = LedgerChanges(
        settles=(*marks, failed_key(scope, period)),
        expiries=expiries(scope, period, session.config),
    )
    embedded = (EmbeddedRecord(record, vector),)
    message = WriteRecords(scope, period.grain, embedder.model, embedded, changes)
    send_records(message, queue=session.queues.write, objects=session.objects)
    return Outcome.BUILT


def _settle_unchanged(
    session: Session, period: Period, marks: Sequence[str], gathered: Gathered
) -> Outcome:
    """Settle a period whose summary is up to date, or that has nothing to summarize."""
    notes: tuple[str, ...] = ()
    if gathered.prior:
        notes = expiries(session.scope, period, session.config)
    session.ledger.change(LedgerChanges(settles=tuple(marks), expiries=notes))
    session.ledger.recover(session.scope, period)
    return Outcome.UNCHANGED if gathered.prior else Outcome.EMPTY


def note_failure(session: Session, period: Period, error: VarveError) -> Outcome:
    """Note that a period failed and why; the ledger says when to try again.

    Raises Retryable.
    """
    failure = session.ledger.fail(session.scope, period, str(error), session.now)
    return Outcome.GIVEN_UP if failure.given_up else Outcome.FAILED


def _build(session: Session, period: Period, gathered: Gathered) -> Record:
    # Facts may be older than the workspace's privacy settings.
    facts = tuple(
        replace(fact, content=session.privacy(fact.content))
        for fact in gathered.key_facts
    )
    return _built(
        session.scope,
        period,
        replace(gathered, key_facts=facts),
        session.now,
        session.config,
        session.summarizer,
    )


def gather(
    scope: Scope,
    period: Period,
    now: datetime,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
    since: int = 0,
) -> Gathered:
    """What the period's summary is to be made from, oldest first, of the store's version `since` or later.

    Raises Retryable: the store failed, or can be read at an older version only.
    """
    below = [
        record
        for child in period.children()
        for record in reader.in_period(scope, child.grain, child.label, since)
    ]
    prior = next(iter(reader.get(scope, period.grain, [summary_id(period)])), None)
    lost = _lost(prior, below, period, now, config) if prior else frozenset()
    facts = [fact for record in below for fact in _key_facts(record)]
    if lost and prior:
        facts += key_facts_from_json(prior.key_facts)
    return Gathered(tuple(map(_source, below)), most_important(facts), prior, lost)


def _lost(
    prior: Record,
    below: Sequence[Record],
    period: Period,
    now: datetime,
    config: WorkspaceConfig,
) -> frozenset[str]:
    """Sources of the summary that are gone, or whose time was over and that were made anew since.

    A message may come later than its day's own limit: the day's new summary then knows of nothing else.
    """
    known = _known(prior)
    child = period.grain.child or Grain.WORKING
    oldest = retention.oldest_kept(child, config.limit(child), now, config.zone).label
    same = {
        r.id
        for r in below
        if r.period >= oldest or known.get(r.id) == _source(r).fingerprint
    }
    return frozenset(known) - same


def _known(prior: Record | None) -> dict[str, str]:
    """The sources of the summary there is, with what they said."""
    return (
        dict(zip(prior.source_ids, prior.source_fingerprints, strict=True))
        if prior
        else {}
    )


def _key_facts(record: Record) -> Iterable[KeyFact]:
    """A fact is one itself; a summary carries those of its sources."""
    if record.memory_type is MemoryType.FACT:
        yield KeyFact(
            record.id, record.content, record.event_time, record.importance, record.user_id,
            record.conversation_id, record.source_ids,
        )  # fmt: skip
    elif record.memory_type is MemoryType.SUMMARY:
        yield from key_facts_from_json(record.key_facts)


def _source(record: Record) -> Source:
    is_summary = record.memory_type is MemoryType.SUMMARY
    return Source(
        id=record.id,
        memory_type=record.memory_type,
        fingerprint=record.fingerprint[:16],
        text=record.content.partition(KEY_FACTS_HEADING)[0]
        if is_summary
        else record.content,
        at=record.event_time,
        importance=record.importance,
        user_id=record.user_id,
        label=record.period if is_summary else None,
    )


def _built(
    scope: Scope,
    period: Period,
    gathered: Gathered,
    now: datetime,
    config: WorkspaceConfig,
    summarizer: Summarizer,
) -> Record:
    facts = fact_lines(gathered.key_facts, period.grain, config)
    budget = BUDGET_TOKENS[period.grain] - estimated_tokens(facts)
    task = SummaryTask(scope, period, config.zone, _with_prior(gathered), budget)
    return _record(period, gathered, summarizer.summarize(task), facts, now, config)


def _with_prior(gathered: Gathered) -> tuple[Source, ...]:
    """The sources, after the summary that alone still says what lost ones said."""
    prior = (_source(gathered.prior),) if gathered.prior and gathered.lost else ()
    return prior + gathered.sources


def _record(
    period: Period,
    gathered: Gathered,
    summary: Summary,
    facts: str,
    now: datetime,
    config: WorkspaceConfig,
) -> Record:
    sources = _fingerprints(gathered)
    start, end = period.start(config.zone), period.end(config.zone)
    users = {source.user_id for source in _with_prior(gathered)}
    return Record(
        id=summary_id(period),
        memory_type=MemoryType.SUMMARY,
        content=summary.text + facts or NO_WORDS,
        period=period.label,
        # Its middle: a window holds a summary when it holds the better part of what it sums up.
        event_time=start + (end - start) / 2,
        # Not before the one whose place it takes, whatever has become of the clock.
        created_at=max(now, gathered.prior.created_at) if gathered.prior else now,
        source_ids=tuple(sources),
        user_id=users.pop() if len(users) == 1 else None,
        importance=SUMMARY_IMPORTANCE,
        people=summary.people,
        topics=summary.topics,
        open_questions=summary.open_questions,
        source_fingerprints=tuple(sources.values()),
        key_facts=key_facts_as_json(gathered.key_facts),
    )


def _fingerprints(gathered: Gathered) -> dict[str, str]:
    """Every source that went into the summary, lost ones too, with what it said."""
    lost = {
        id_: said
        for id_, said in _known(gathered.prior).items()
        if id_ in gathered.lost
    }
    return lost | {source.id: source.fingerprint for source in gathered.sources}


def fact_lines(facts: Sequence[KeyFact], grain: Grain, config: WorkspaceConfig) -> str:
    """The key facts, a dated line each, as many as fit their share of the budget."""
    left = KEY_FACTS_SHARE * BUDGET_TOKENS[grain] - estimated_tokens(KEY_FACTS_HEADING)
    lines: list[tuple[KeyFact, str]] = []
    for fact in sorted(facts, key=lambda f: (-f.importance, f.event_time, f.id)):
        line = f"- {day_of(fact.event_time, config.zone)}: {fact.content}"
        cost = estimated_tokens(line + "\n")
        if cost <= left:
            left -= cost
            lines.append((fact, line))
    lines.sort(key=lambda pair: (pair[0].event_time, pair[0].id))
    return KEY_FACTS_HEADING + "\n".join(line for _, line in lines) if lines else ""


def expiries(scope: Scope, period: Period, config: WorkspaceConfig) -> tuple[str, ...]:
    """When cleanup is to look: at the summary's own time, at that of the first it sums up, which may have
    waited for it, and at that of a day's messages. Whoever looks notes when to look next."""
    periods = (period, period.children()[0])
    notes = tuple(
        expiry_key(
            retention.expires_at(p, config.limit(p.grain), config.zone), scope, p.grain
        )
        for p in periods
    )
    return notes + (
        timeline_expiry_notes(period.label, scope, config)
        if period.grain is Grain.DAILY
        else ()
    )
