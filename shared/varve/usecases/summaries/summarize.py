"""Summarize one agent's period: rebuild the summaries of the users whose sources changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from varve.domain.calendar import Period
from varve.domain.errors import Rejected, Retryable, VarveError
from varve.domain.ledger import (
    NO_CHANGES,
    LedgerChanges,
    failed_key,
    version_in,
)
from varve.domain.record import EmbeddedRecord, Record
from varve.domain.same_key_facts import index_values
from varve.domain.search.supersession import find_ended
from varve.domain.summary import (
    BUDGET_TOKENS,
    NO_WORDS,
    PeriodPart,
    SummaryTask,
)
from varve.domain.text import estimated_tokens
from varve.messages.write import (
    DeleteRecords,
    WriteRecords,
    send_deletion,
    send_records,
)
from varve.ports.meter import doing
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import sweep_again
from varve.usecases.forget.asked_to_forget import (
    mark_naming,
    read_forgotten,
    without_values,
)
from varve.usecases.ingest.waiting import WaitingPeriod, put_mark
from varve.usecases.operate.budget import is_spent
from varve.usecases.session import Session
from varve.usecases.summaries.period_reader import PeriodReader
from varve.usecases.summaries.period_sources import (
    PeriodSources,
    PeriodUsers,
    user_order,
)
from varve.usecases.summaries.summary_records import (
    expiries,
    fact_lines,
    leave_out_changed,
    leave_out_told,
    summary_record,
)

MAX_CALLS = 20
"""Users of one run that take a model call; at ten seconds each they fit the function."""
MAX_USERS = 500
"""Users of one run in all."""
NOT_READ = "not read by the model"
"""In place of a source's fingerprint: equal to none."""


class SummaryOutcome(StrEnum):
    """The result of summarizing one agent's period."""

    BUILT = "built"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    FAILED = "failed"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class SummarizeOutcome:
    """The result for a period, how many summaries were built, and the users left."""

    state: SummaryOutcome
    built: int = 0
    rest: PeriodPart | None = None


@doing("summarize")
def summarize(
    session: Session,
    period: Period,
    part: PeriodPart | None = None,
    most_calls: int = MAX_CALLS,
) -> SummarizeOutcome:
    """Bring one agent's period up to date: one summary for each user.

    Only the users with new or changed sources are summarized. No model is called and
    nothing is written if there are none. At most `most_calls` users take a model call in
    one run; the outcome names the `rest`, to be given as the next run's `part`. A model's
    failure is noted in the ledger with its reason and a time to try again; no other user
    or period waits. Raises Retryable: the store failed, or a stale listing hides what a
    mark stands for; Misconfigured.
    """
    try:
        session.config  # noqa: B018 - an invalid configuration fails this period alone
    except Rejected as error:
        return SummarizeOutcome(note_failure(session, period, str(error)))
    by_rules = is_spent(session)
    if by_rules:
        session = session.without_model()
    scope = session.scope
    # Listed before anything is read: a later write adds its own marks.
    marks = session.ledger.marks(scope, period)
    barred = tombstones.load(scope, objects=session.objects)
    since = max(map(version_in, marks), default=0)
    found = open_reader(session).gather(period, since)
    if found.asked and part is None:
        mark_naming(session, found.asked, period)
    run = _Run(session, period, part, marks, since, by_rules=by_rules)
    batch, left = _next_batch(found, part, most_calls)
    if not batch:
        return run.settle_unchanged(found)
    run.build(batch)
    sweep_again(scope, barred, objects=session.objects)
    return run.send(found, batch, left)


def open_reader(session: Session) -> PeriodReader:
    """Return the reader of the agent's periods at the session's time."""
    triples = session.graph.triples(session.scope)
    return PeriodReader(
        scope=session.scope,
        now=session.now,
        config=session.config,
        reader=session.records,
        objects=session.objects,
        values=read_forgotten(session.scope, session.records, triples),
        ended=find_ended(triples, session.now),
        told=index_values(triples),
    )


def _next_batch(
    found: PeriodUsers, part: PeriodPart | None, most_calls: int
) -> tuple[list[PeriodSources], list[PeriodSources]]:
    """Return the changed users that this run summarizes, and those it leaves."""
    changed = [one for one in found.users if one.changed]
    if part:
        last = user_order(part.after or None)
        changed = [one for one in changed if user_order(one.user_id) > last]
    calls = 0
    for number, one in enumerate(changed):
        calls += not one.little
        if calls > most_calls or number == MAX_USERS:
            return changed[:number], changed[number:]
    return changed, []


@dataclass(slots=True)
class _Run:
    """One run over a period's users: the marks that it found, and the summaries built."""

    session: Session
    period: Period
    part: PeriodPart | None
    marks: Sequence[str]
    since: int
    by_rules: bool = False
    built: list[EmbeddedRecord] = field(default_factory=list)
    failures: list[VarveError] = field(default_factory=list)

    def settle_unchanged(self, found: PeriodUsers) -> SummarizeOutcome:
        """Settle a period whose summaries are up to date, or that has no sources."""
        state = SummaryOutcome.EMPTY
        notes: tuple[str, ...] = ()
        if found.has_summary:
            state = SummaryOutcome.UNCHANGED
            notes = expiries(
                self.session.scope, self.period, self.session.config
            )
        if self.part is None:
            # After an earlier part its summaries may still be on their way.
            self.session.ledger.change(
                LedgerChanges(settles=tuple(self.marks), expiries=notes)
            )
            self.session.ledger.recover(self.session.scope, self.period)
        if found.replaced:
            self._send_deletion(found.replaced)
        return SummarizeOutcome(state)

    def build(self, batch: Sequence[PeriodSources]) -> None:
        """Summarize the users; a failure of one keeps no other."""
        records: list[Record] = []
        for one in batch:
            try:
                record = _build(self.session, self.period, one)
                records.append(self._as_waiting(one, record))
            except (Retryable, Rejected) as error:
                self.failures.append(error)
        try:
            vectors = self.session.embedder.embed(
                [one.content for one in records]
            )
        except (Retryable, Rejected) as error:
            self.failures += [error] * len(records)
            return
        for record, vector in zip(records, vectors, strict=True):
            self.built.append(EmbeddedRecord(record, vector))

    def _as_waiting(self, gathered: PeriodSources, record: Record) -> Record:
        """Note that a summary by rules waits for the model, if that would have been asked.

        Its sources then count as changed, so that the period's next run makes it again.
        """
        if not self.by_rules or gathered.little:
            return record
        session = self.session
        put_mark(
            session.scope, WaitingPeriod(self.period), objects=session.objects
        )
        unknown = (NOT_READ,) * len(record.source_fingerprints)
        return replace(record, source_fingerprints=unknown)

    def send(
        self,
        found: PeriodUsers,
        batch: Sequence[PeriodSources],
        left: Sequence[PeriodSources],
    ) -> SummarizeOutcome:
        """Send the summaries to the writer, with the ledger's changes if it is the end."""
        is_done = not left and not self._has_failed
        if self.built:
            changes = self._changes() if is_done else NO_CHANGES
            self._send_records(changes)
        if is_done and found.replaced:
            self._send_deletion(found.replaced)
        state = self._note_failures(len(batch))
        rest = None
        # If every user failed, the rest is likely to fail as well and waits for the retry.
        if left and self.built:
            version = None if self._has_failed else self._first_version
            rest = PeriodPart(batch[-1].user_id or "", version)
        return SummarizeOutcome(state, len(self.built), rest)

    @property
    def _has_failed(self) -> bool:
        earlier = self.part is not None and self.part.version is None
        return earlier or bool(self.failures)

    @property
    def _first_version(self) -> int | None:
        return self.part.version if self.part else self.since

    def _changes(self) -> LedgerChanges:
        """Return the ledger's changes once every user's summary is written."""
        scope = self.session.scope
        settled = self.marks
        if self.part:
            # Newer marks may stand for users of an earlier part.
            version = self.part.version or 0
            settled = [
                mark for mark in self.marks if 0 < version_in(mark) <= version
            ]
        # The commit forgets failures too: until then, a repeated delivery may add one.
        return LedgerChanges(
            settles=(*settled, failed_key(scope, self.period)),
            expiries=expiries(scope, self.period, self.session.config),
        )

    def _send_records(self, changes: LedgerChanges) -> None:
        session = self.session
        message = WriteRecords(
            scope=session.scope,
            grain=self.period.grain,
            model=session.embedder.model,
            records=tuple(self.built),
            ledger=changes,
        )
        send_records(
            message, queue=session.queues.write, objects=session.objects
        )

    def _send_deletion(self, ids: tuple[str, ...]) -> None:
        session = self.session
        message = DeleteRecords(session.scope, self.period.grain, ids)
        send_deletion(
            message, queue=session.queues.write, objects=session.objects
        )

    def _note_failures(self, users: int) -> SummaryOutcome:
        if not self.failures:
            return SummaryOutcome.BUILT
        if self.part and self.part.version is None:
            return SummaryOutcome.FAILED  # noted by an earlier part
        error = self.failures[0]
        if users == 1:
            return note_failure(self.session, self.period, str(error))
        failed = len(self.failures)
        reason = f"{failed} of {users} users: {error}"
        return note_failure(self.session, self.period, reason)


def note_failure(
    session: Session, period: Period, reason: str
) -> SummaryOutcome:
    """Note that a period failed and why; the ledger says when to try again.

    Raises Retryable.
    """
    failure = session.ledger.fail(session.scope, period, reason, session.now)
    return (
        SummaryOutcome.GIVEN_UP if failure.given_up else SummaryOutcome.FAILED
    )


def _build(
    session: Session, period: Period, gathered: PeriodSources
) -> Record:
    # Facts may be older than the workspace's privacy settings.
    every = [
        replace(fact, content=session.privacy(fact.content))
        for fact in gathered.key_facts
    ]
    task = SummaryTask(
        session.scope,
        period,
        session.zone,
        gathered.with_priors(),
        BUDGET_TOKENS[period.grain],
    )
    facts = leave_out_changed(every, task)
    filtered = replace(gathered, key_facts=tuple(facts))
    ended = gathered.ended
    lines = fact_lines(facts, period.grain, session.config, ended)
    taken = estimated_tokens(lines)
    summary = session.summarizer.summarize(
        replace(task, budget=task.budget - taken, key_fact_tokens=taken)
    )
    told = leave_out_told(facts, summary.text, session.zone)
    if len(told) < len(facts):
        lines = fact_lines(told, period.grain, session.config, ended)
    record = summary_record(
        period, filtered, summary, lines, session.now, session.config
    )
    left = without_values(record, gathered.forgotten, session.zone)
    return replace(left, content=left.content or NO_WORDS)
