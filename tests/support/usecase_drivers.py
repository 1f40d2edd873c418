"""A driver for each use case: the one place where tests call a use case over single ports.

`tests/support/drivers.py` drives whole processes; the functions here know what a single
use case is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.sessions import session_over
from varve.adapters.in_memory import InMemoryGraph, InMemoryObjects
from varve.adapters.json_profiles import JsonProfiles
from varve.adapters.objects.locks import ProcessLocks
from varve.domain.calendar import EARLIEST, Grain, Period
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.conversation import Conversation
from varve.domain.erasure import Selector, Tombstones
from varve.domain.identity import Scope
from varve.domain.profile import DEFAULT_USER
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import Filter, SearchRequest
from varve.domain.search.question import read_question
from varve.domain.search.ranking import Ranked
from varve.domain.search.strategies import BALANCED, HALF_LIFE_DAYS
from varve.domain.summary import PeriodPart
from varve.domain.traces import Traces
from varve.domain.workspace import WorkspaceConfig
from varve.messages.erasure import Reread
from varve.messages.ingest import IngestMessage
from varve.ports.erasure import StoreInspector
from varve.ports.objects import Objects
from varve.ports.queues import Delivery
from varve.usecases.context.context import build_context
from varve.usecases.context.gathering import Sources
from varve.usecases.erasure.erased import Erased
from varve.usecases.erasure.needles import Needles
from varve.usecases.erasure.passes import bar, erase
from varve.usecases.erasure.subject import Subject, find_subject
from varve.usecases.erasure.verify import Verification, verify
from varve.usecases.experience.rows import read_history
from varve.usecases.ingest.extract import ExtractOutcome, extract_message
from varve.usecases.ingest.ingest import IngestOutcome, ingest_all
from varve.usecases.ledger import Ledger
from varve.usecases.operate import configure
from varve.usecases.plan import DuePeriods, find_due
from varve.usecases.search.find import Stock, Wanted
from varve.usecases.search.find import find as find_records
from varve.usecases.search.lookup import Lookup
from varve.usecases.search.search import look_up
from varve.usecases.session import Session
from varve.usecases.summaries.period_reader import PeriodReader
from varve.usecases.summaries.period_sources import PeriodUsers
from varve.usecases.summaries.summarize import (
    MAX_CALLS,
    SummarizeOutcome,
    summarize,
)
from varve.usecases.write.commits import WriteOutcome, WriterSession
from varve.usecases.write.write import write, write_now


def run_search(
    scope: Scope,
    request: SearchRequest,
    now: datetime,
    zone: ZoneInfo,
    *,
    reader: Any,
    embedder: Any,
    ledger: Ledger | None = None,
    half_life_days: float = HALF_LIFE_DAYS,
    reranker: Any = None,
    triples: Callable[[], Sequence[Any]] = list,
) -> SearchResponse:
    """Search; without a ledger no period is due."""
    lookup = Lookup(
        scope, now, zone, reader, ledger or Ledger(InMemoryObjects()), embedder,
        half_life_days, reranker, triples,
    )  # fmt: skip
    return look_up(lookup, request)


def run_find(
    scope: Scope,
    grain: Grain,
    text: str,
    now: datetime,
    limit: int,
    *,
    reader: Any,
    embedder: Any,
) -> list[Ranked]:
    """Rank one store's records for a question, without filter, routing or results."""
    question = read_question(text)
    wanted = Wanted(question, Filter(), now, BALANCED, {grain: 1.0}, limit)
    return find_records(wanted, [Stock(scope, reader, embedder)])


def run_context(
    scope: Scope,
    request: ContextRequest,
    now: datetime,
    zone: ZoneInfo,
    *,
    records: Any,
    graph: Any,
    profiles: Any,
    objects: Objects,
    embedder: Any,
    finder: Any = None,
    reranker: Any = None,
    most_lessons: int = 0,
) -> ContextBlock:
    """Build the block for a prompt."""
    user = request.user_id or DEFAULT_USER
    sources = Sources(
        reader=records,
        ledger=Ledger(objects),
        triples=partial(graph.triples, scope),
        profile=partial(profiles.entries, scope, user),
        past=partial(read_history, scope, reader=records),
        embedder=embedder,
        finder=finder,
        reranker=reranker,
        most_lessons=most_lessons,
    )
    return build_context(scope, request, now, zone, sources)


def run_ingest(
    conversations: Sequence[Conversation],
    now: datetime,
    *,
    queue: Any,
    objects: Any,
) -> IngestOutcome:
    """Put conversations on the ingest queue."""

    def open_session(scope: Scope, _now: datetime | None = None) -> Session:
        return session_over(scope, now, queue=queue, objects=objects)

    return ingest_all(open_session, conversations)


def run_extract(
    message: IngestMessage,
    zone: ZoneInfo,
    *,
    extractor: Any,
    embedder: Any,
    queue: Any,
    objects: Any,
) -> ExtractOutcome:
    """Extract from one message of the ingest queue."""
    session = session_over(
        message.conversation.scope, message.received_at,
        WorkspaceConfig(timezone=zone.key), queue=queue, objects=objects,
        extractor=extractor, embedder=embedder,
    )  # fmt: skip
    return extract_message(session, message)


def run_reread(
    message: Reread,
    zone: ZoneInfo,
    *,
    extractor: Any,
    embedder: Any,
    queue: Any,
    objects: Any,
) -> ExtractOutcome:
    """Extract again from a conversation that has lost words to an erasure."""
    session = session_over(
        message.scope, EARLIEST, WorkspaceConfig(timezone=zone.key), queue=queue,
        objects=objects, extractor=extractor, embedder=embedder,
    )  # fmt: skip
    return extract_message(session, message)


def stores_over(
    records: Any, graph: Any, objects: Objects, embedder: Any
) -> WriterSession:
    """Return what the writer needs, over these ports."""
    return WriterSession(
        records=records,
        reader=records,
        graph=graph,
        profiles=JsonProfiles(objects),
        ledger=Ledger(objects),
        vectors=records,
        embedder=lambda _: embedder,
        objects=objects,
        locks=ProcessLocks("memory"),
    )


def run_write(
    batch: Sequence[Delivery], stores: WriterSession, *, dead_letters: Any
) -> WriteOutcome:
    """Write a batch of the write queue."""
    return write(stores, batch, dead_letters)


def run_write_now(batch: Sequence[Delivery], stores: WriterSession) -> None:
    """Write messages where no queue lies between: errors are raised."""
    write_now(stores, batch)


def run_summarize(
    scope: Scope,
    period: Period,
    now: datetime,
    config: WorkspaceConfig,
    *,
    reader: Any,
    ledger: Ledger,
    summarizer: Any,
    embedder: Any,
    queue: Any,
    objects: Any,
    part: PeriodPart | None = None,
    most_calls: int = MAX_CALLS,
    graph: Any = None,
) -> SummarizeOutcome:
    """Summarize one agent's period, or a part of its users."""
    session = session_over(
        scope, now, config, records=reader, summarizer=summarizer, embedder=embedder,
        queue=queue, objects=objects, graph=graph or InMemoryGraph(),
    )  # fmt: skip
    vars(session)["ledger"] = ledger
    return summarize(session, period, part, most_calls)


def run_gather(
    scope: Scope,
    period: Period,
    now: datetime,
    config: WorkspaceConfig,
    *,
    reader: Any,
) -> PeriodUsers:
    """Collect what the period's summaries are made from, by user."""
    objects = InMemoryObjects()
    return PeriodReader(scope, now, config, reader, objects).gather(period)


def run_plan(
    grain: Grain,
    now: datetime,
    *,
    ledger: Ledger,
    config: Callable[[str], WorkspaceConfig],
    **options: Any,
) -> DuePeriods:
    """Find due periods; `scope`, `retry_now`, `most`."""
    return find_due(grain, now, ledger=ledger, config=config, **options)


def run_configure(
    workspace: str, name: str, value: str, now: datetime, *, objects: Objects
) -> WorkspaceConfig:
    """Set one of a workspace's settings."""
    session = session_over(Scope(workspace, "any"), now, objects=objects)
    return configure.change(session, name, value)


def run_find_subject(
    scope: Scope,
    selector: Selector,
    *,
    records: Any,
    graph: Any,
    objects: Objects,
) -> Subject:
    """Find everything that a selector takes."""
    session = session_over(
        scope, EARLIEST, records=records, graph=graph, objects=objects
    )
    return find_subject(session, selector)


def run_bar(
    scope: Scope,
    selector: Selector,
    subject: Subject,
    now: datetime,
    *,
    objects: Objects,
) -> Tombstones:
    """Put the tombstones of a subject."""
    return bar(scope, selector, subject, now, objects=objects)


def run_erase(
    scope: Scope,
    config: WorkspaceConfig,
    *,
    records: Any,
    graph: Any,
    objects: Objects,
    embedder: Any,
    writes: Any,
    conversations: Any,
    prune: bool,
    selector: Selector | None = None,
    wait: Callable[[], bool] = lambda: True,
) -> Erased:
    """Erase what the agent's tombstones bar."""
    session = session_over(
        scope, EARLIEST, config, records=records, graph=graph, objects=objects,
        embedder=embedder, queue=writes, conversations=conversations,
    )  # fmt: skip
    return erase(session, selector, prune=prune, wait=wait)


def run_verify(
    scope: Scope,
    wanted: Needles,
    kept: dict[str, Traces] | None = None,
    *,
    objects: Objects,
    stores: StoreInspector,
) -> Verification:
    """Look for what was erased in all that is left."""
    return verify(scope, wanted, kept, objects=objects, stores=stores)
