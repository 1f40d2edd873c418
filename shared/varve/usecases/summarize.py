"""Summarize one agent's period: gather its sources, and rebuild its summary if they changed."""

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
from varve.ports.records import MemoryReader
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import sweep_again
from varve.usecases.session import Session
from varve.usecases.timeline import timeline_expiry_notes

SUMMARY_IMPORTANCE = 0.6
KEY_FACTS_HEADING = "\nKey facts:\n"
KEY_FACTS_SHARE = 0.5
NO_WORDS = "(no words)"
"""Content of a summary without words: models embed no blank text."""


class SummaryOutcome(StrEnum):
    """The result of summarizing one agent's period."""

    BUILT = "built"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    FAILED = "failed"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class PeriodSources:
    """A period's current sources, its key facts, and its last summary.

    `lost` are sources of the last summary that retention has deleted since. Only that
    summary still has their content, so it becomes a source of the next one.
    """

    sources: tuple[Source, ...]
    key_facts: tuple[KeyFact, ...]
    prior: Record | None
    lost: frozenset[str]

    @property
    def changed(self) -> bool:
        """Whether a source is new or changed since the last summary."""
        known = _known_sources(self.prior)
        return any(
            known.get(source.id) != source.fingerprint for source in self.sources
        )


def summarize(session: Session, period: Period) -> SummaryOutcome:
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
    # Listed before anything is read: a later write adds its own marks.
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
    return SummaryOutcome.BUILT


def _settle_unchanged(
    session: Session, period: Period, marks: Sequence[str], gathered: PeriodSources
) -> SummaryOutcome:
    """Settle a period whose summary is up to date, or that has nothing to summarize."""
    notes: tuple[str, ...] = ()
    if gathered.prior:
        notes = expiries(session.scope, period, session.config)
    session.ledger.change(LedgerChanges(settles=tuple(marks), expiries=notes))
    session.ledger.recover(session.scope, period)
    return SummaryOutcome.UNCHANGED if gathered.prior else SummaryOutcome.EMPTY


def note_failure(session: Session, period: Period, error: VarveError) -> SummaryOutcome:
    """Note that a period failed and why; the ledger says when to try again.

    Raises Retryable.
    """
    failure = session.ledger.fail(session.scope, period, str(error), session.now)
    return SummaryOutcome.GIVEN_UP if failure.given_up else SummaryOutcome.FAILED


def _build(session: Session, period: Period, gathered: PeriodSources) -> Record:
    # Facts may be older than the workspace's privacy settings.
    facts = tuple(
        replace(fact, content=session.privacy(fact.content))
        for fact in gathered.key_facts
    )
    filtered = replace(gathered, key_facts=facts)
    lines = fact_lines(facts, period.grain, session.config)
    budget = BUDGET_TOKENS[period.grain] - estimated_tokens(lines)
    task = SummaryTask(
        session.scope, period, session.zone, _with_prior(filtered), budget
    )
    summary = session.summarizer.summarize(task)
    return _summary_record(
        period, filtered, summary, lines, session.now, session.config
    )


def gather(
    scope: Scope,
    period: Period,
    now: datetime,
    config: WorkspaceConfig,
    *,
    reader: MemoryReader,
    since: int = 0,
) -> PeriodSources:
    """Return the sources of a period's summary, oldest first.

    The store is read at version `since` or later. Raises Retryable: the store failed,
    or only an older version can be read.
    """
    below: list[Record] = []
    for child in period.children():
        below += reader.in_period(scope, child.grain, child.label, since)
    prior = next(iter(reader.get(scope, period.grain, [summary_id(period)])), None)
    lost = _lost(prior, below, period, now, config) if prior else frozenset()
    facts: list[KeyFact] = []
    for record in below:
        facts += _key_facts(record)
    if lost and prior:
        facts += key_facts_from_json(prior.key_facts)
    return PeriodSources(tuple(map(_source, below)), most_important(facts), prior, lost)


def _lost(
    prior: Record,
    below: Sequence[Record],
    period: Period,
    now: datetime,
    config: WorkspaceConfig,
) -> frozenset[str]:
    """Return the ids of the summary's sources that are gone, or expired and rebuilt since.

    A message may arrive after its day expired. The day's rebuilt summary then has only
    that message, and the old one's content would be lost.
    """
    known = _known_sources(prior)
    child = period.grain.child or Grain.WORKING
    oldest = retention.oldest_kept(child, config.limit(child), now, config.zone).label
    kept: set[str] = set()
    for record in below:
        unchanged = known.get(record.id) == _source(record).fingerprint
        if record.period >= oldest or unchanged:
            kept.add(record.id)
    return frozenset(known) - kept


def _known_sources(prior: Record | None) -> dict[str, str]:
    """Return the fingerprints of a summary's sources by id; empty without a summary."""
    if prior is None:
        return {}
    return dict(zip(prior.source_ids, prior.source_fingerprints, strict=True))


def _key_facts(record: Record) -> Iterable[KeyFact]:
    """Yield a fact itself, or the key facts that a summary carries."""
    if record.memory_type is MemoryType.FACT:
        yield KeyFact(
            record.id,
            record.content,
            record.event_time,
            record.importance,
            record.user_id,
            record.conversation_id,
            record.source_ids,
        )
    elif record.memory_type is MemoryType.SUMMARY:
        yield from key_facts_from_json(record.key_facts)


def _source(record: Record) -> Source:
    is_summary = record.memory_type is MemoryType.SUMMARY
    text = record.content
    if is_summary:
        text = text.partition(KEY_FACTS_HEADING)[0]
    return Source(
        id=record.id,
        memory_type=record.memory_type,
        fingerprint=record.fingerprint[:16],
        text=text,
        at=record.event_time,
        importance=record.importance,
        user_id=record.user_id,
        label=record.period if is_summary else None,
    )


def _with_prior(gathered: PeriodSources) -> tuple[Source, ...]:
    """Return the sources, preceded by the last summary if it has lost sources."""
    prior = (_source(gathered.prior),) if gathered.prior and gathered.lost else ()
    return prior + gathered.sources


def _summary_record(
    period: Period,
    gathered: PeriodSources,
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
        # The middle: a window that has most of the period has the summary too.
        event_time=start + (end - start) / 2,
        # Not before the summary it replaces, even if the clock went back.
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


def _fingerprints(gathered: PeriodSources) -> dict[str, str]:
    """Return the fingerprints of every source of the summary, lost ones too, by id."""
    known = _known_sources(gathered.prior)
    fingerprints = {id_: known[id_] for id_ in known if id_ in gathered.lost}
    for source in gathered.sources:
        fingerprints[source.id] = source.fingerprint
    return fingerprints


def fact_lines(facts: Sequence[KeyFact], grain: Grain, config: WorkspaceConfig) -> str:
    """Return the key facts as dated lines, as many as fit their share of the budget."""
    left = KEY_FACTS_SHARE * BUDGET_TOKENS[grain] - estimated_tokens(KEY_FACTS_HEADING)
    lines: list[tuple[KeyFact, str]] = []
    for fact in sorted(facts, key=lambda f: (-f.importance, f.event_time, f.id)):
        line = f"- {day_of(fact.event_time, config.zone)}: {fact.content}"
        cost = estimated_tokens(line + "\n")
        if cost <= left:
            left -= cost
            lines.append((fact, line))
    lines.sort(key=lambda pair: (pair[0].event_time, pair[0].id))
    if not lines:
        return ""
    return KEY_FACTS_HEADING + "\n".join(line for _, line in lines)


def expiries(scope: Scope, period: Period, config: WorkspaceConfig) -> tuple[str, ...]:
    """Return the ledger's notes of when cleanup must look at a summarized period.

    They are the expiry of the summary, of its first child, which may have waited for
    the summary, and of a day's messages. Each cleanup notes when the next is due.
    """
    notes: list[str] = []
    for one in (period, period.children()[0]):
        expires = retention.expires_at(one, config.limit(one.grain), config.zone)
        notes.append(expiry_key(expires, scope, one.grain))
    if period.grain is Grain.DAILY:
        notes += timeline_expiry_notes(period.label, scope, config)
    return tuple(notes)
