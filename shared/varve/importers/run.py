"""Read a file of any format into memory, conversation by conversation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from varve.api.ingested import Ingested, store
from varve.api.memory import Memory
from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.triple import Op, evidence_of
from varve.importers.formats import Format
from varve.importers.items import (
    Faulty,
    FoundConversation,
    FoundFact,
    ImportOptions,
    Item,
    Skipped,
    Source,
)
from varve.importers.report import ImportReport
from varve.importers.workers import (
    Settled,
    UnstoredConversation,
    WorkerPool,
    can_share,
)
from varve.usecases.forget.understood import read_understood
from varve.usecases.progress import StepCounter

BATCH_CONVERSATIONS = 500
BATCH_MESSAGES = 5_000
"""The most that one call of `Memory.ingest` takes; they share commits and embeddings."""
MAX_OUTAGES = 3
"""Conversations in a row that may fail for the outside world before the rest waits."""

OpenAgent = Callable[[Conversation | None], Memory]
"""Opens the memory that a conversation belongs to; None: the one for facts."""


def import_file(
    source: Source,
    format_: Format,
    options: ImportOptions,
    open_agent: OpenAgent,
    *,
    dry_run: bool = False,
    step: StepCounter | None = None,
    workers: int = 1,
) -> ImportReport:
    """Store what a file holds, and report it; one bad conversation stops nothing.

    With `dry_run` all is read and validated, and nothing is stored. The same file again
    adds nothing. `step` counts the messages. A long file is stored by as many processes
    as `workers`, in a directory and without a model. Raises Misconfigured.
    """
    report = ImportReport(format_.name)
    counted = step or StepCounter("messages", 0)
    stored = _Storing(report, open_agent, dry_run, counted, workers)
    with closing(stored):
        try:
            for item in format_.read(source, options):
                stored.take(item)
        except Rejected as error:
            # The file breaks off; the values before that are kept.
            report.fail(
                error.field, f"{error.reason}; what follows was not read"
            )
        stored.finish()
    return report


def count_messages(
    source: Source, format_: Format, options: ImportOptions
) -> int:
    """Return how many messages the file's conversations have, valid or not."""
    count = 0
    try:
        for item in format_.read(source, options):
            if isinstance(item, FoundConversation):
                messages = item.value.get("messages")
                count += len(messages) if isinstance(messages, list) else 0
    except Rejected:  # the file breaks off; storing it tells where
        return count
    return count


class _Storing:
    """Collects valid conversations and stores them in batches, each agent's together."""

    def __init__(
        self,
        report: ImportReport,
        open_agent: OpenAgent,
        dry_run: bool,
        step: StepCounter,
        workers: int,
    ) -> None:
        self._report = report
        self._step = step
        self._open_agent = open_agent
        self._dry_run = dry_run
        self._waiting: list[UnstoredConversation] = []
        self._messages = 0
        self._memories: dict[Scope, Memory] = {}
        self._wanted = workers
        self._pool: WorkerPool | None = None
        self._sharing: dict[Scope, bool] = {}
        self._asking: dict[Scope, list[str]] = {}
        self._operations: int | None = None
        self._sent = 0

    def take(self, item: Item) -> None:
        """Take one item of a file; a full batch is stored."""
        match item:
            case FoundConversation():
                self._take_conversation(item)
            case FoundFact():
                self._take_fact(item)
            case Skipped():
                self._report.skipped[item.reason] += 1
            case Faulty():
                self._report.fail(item.place, item.reason)
        if (
            len(self._waiting) >= BATCH_CONVERSATIONS * self._shares
            or self._messages >= BATCH_MESSAGES * self._shares
        ):
            self.flush(is_long=True)

    def flush(self, *, is_long: bool) -> None:
        """Store what waits; of a long file in workers.

        A batch with a fault is stored one by one, to find it.
        """
        for memory, group in self._group_by_memory():
            if is_long and self._may_share(memory):
                self._share(memory, group)
            else:
                self._try_to_store(memory, group)
        self._waiting.clear()
        self._messages = 0

    def finish(self) -> None:
        """Store what waits, wait for the workers, and read what was asked to be forgotten."""
        self._count_facts()
        self.flush(is_long=self._pool is not None)
        if self._pool is not None:
            self._settle(self._pool.finish())
        for scope, turns in self._asking.items():
            with self._memories[scope].sessions.open(scope) as session:
                understood = read_understood(session, turns)
            self._report.forget_requests += understood

    def close(self) -> None:
        """End the workers; what they have begun is stored."""
        if self._pool is not None:
            self._pool.close()

    def _may_share(self, memory: Memory) -> bool:
        if self._wanted < 2:
            return False
        if memory.scope not in self._sharing:
            self._sharing[memory.scope] = can_share(memory)
        return self._sharing[memory.scope]

    def _share(
        self, memory: Memory, group: Sequence[UnstoredConversation]
    ) -> None:
        """Give each worker its part of the conversations, when it has stored the last."""
        if self._pool is None:
            self._pool = WorkerPool(memory, self._wanted)
        self._settle(self._pool.share(memory, group))

    def _settle(self, done: Iterable[Settled]) -> None:
        """Count what workers have stored; what failed is stored here, to find the fault."""
        for settled in done:
            if settled.outcome is None:
                self._try_to_store(settled.memory, settled.group)
            else:
                self._count(settled.memory, settled.outcome)
                self._step.add(_count_messages(settled.group))

    def _try_to_store(
        self, memory: Memory, group: Sequence[UnstoredConversation]
    ) -> None:
        try:
            self._store(memory, group)
        except (Rejected, Retryable):
            self._store_one_by_one(memory, group)

    @property
    def _shares(self) -> int:
        """How many calls of `Memory.ingest` share what waits."""
        return 1 if self._pool is None else self._wanted

    def _take_conversation(self, found: FoundConversation) -> None:
        try:
            conversation = parse_conversation(found.value)
            memory = self._open_agent(conversation)
            conversation = conversation.in_scope(memory.scope)
        except Rejected as error:
            self._report.fail(found.place, str(error))
            return
        self._memories.setdefault(memory.scope, memory)
        self._report.count(conversation)
        if self._dry_run:
            self._report.checked += 1
            self._step.add(len(conversation.messages))
        else:
            self._waiting.append(
                UnstoredConversation(found.place, conversation)
            )
            self._messages += len(conversation.messages)

    def _take_fact(self, found: FoundFact) -> None:
        memory = self._open_agent(None)
        graph = memory.graph
        collect = (
            graph.insert_facts if found.op is Op.ADD else graph.delete_facts
        )
        try:
            collect([found.value])
            if self._dry_run:
                graph.close()
            else:
                if self._operations is None:
                    self._operations = _count_operations(memory)
                self._sent += graph.save()
        except (Rejected, Retryable) as error:
            graph.close()
            self._report.again = self._report.again or error.retryable
            self._report.fail(found.place, str(error))
            return
        self._report.facts += 1

    def _count_facts(self) -> None:
        """Count what the facts have added to the graph; with a queue, what was sent.

        The file's conversations are not stored yet: they count their own.
        """
        if self._operations is None or self._report.stored is None:
            return
        memory = self._open_agent(None)
        added = _count_operations(memory) - self._operations
        if memory.sessions.settings.write_queue_url:
            added = self._sent
        self._report.stored["tripleOperations"] += added

    def _group_by_memory(
        self,
    ) -> Iterator[tuple[Memory, list[UnstoredConversation]]]:
        groups: dict[Scope, list[UnstoredConversation]] = {}
        for one in self._waiting:
            groups.setdefault(one.conversation.scope, []).append(one)
        for scope, group in groups.items():
            yield self._memories[scope], group

    def _store(
        self, memory: Memory, group: Sequence[UnstoredConversation]
    ) -> None:
        conversations = [one.conversation for one in group]
        before = self._step.done

        def show(_step: str, done: int, _total: int) -> None:
            self._step.reach(before + done)

        with memory.sessions.open(memory.scope) as session:
            outcome = store(session, conversations, show)
        self._step.reach(before + _count_messages(group))
        self._count(memory, outcome)

    def _count(self, memory: Memory, outcome: Ingested) -> None:
        self._report.partly_filtered += outcome.accepted.partly_filtered
        ingested = outcome.to_dict()
        self._report.accepted.update(ingested["accepted"])
        if ingested["stored"] is None:
            self._report.stored = None
        elif self._report.stored is not None:
            self._report.stored.update(ingested["stored"])
        if outcome.stored is not None and outcome.stored.asking:
            known = self._asking.setdefault(memory.scope, [])
            known += outcome.stored.asking

    def _store_one_by_one(
        self, memory: Memory, group: Sequence[UnstoredConversation]
    ) -> None:
        """Store each conversation alone; during an outage the rest is not tried."""
        outages = 0
        for one in group:
            if outages == MAX_OUTAGES:
                self._report.fail(
                    one.place, "not tried, the store cannot be reached"
                )
                continue
            try:
                self._store(memory, [one])
                outages = 0
            except (Rejected, Retryable) as error:
                outages += error.retryable
                self._report.again = self._report.again or error.retryable
                self._report.fail(one.place, str(error))


def _count_operations(memory: Memory) -> int:
    """Return how many triple operations a memory's graph has. Raises Retryable."""
    with memory.sessions.open(memory.scope) as session:
        return len(evidence_of(session.graph.triples(session.scope)))


def _count_messages(group: Sequence[UnstoredConversation]) -> int:
    return sum(len(one.conversation.messages) for one in group)
