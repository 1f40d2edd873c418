"""Read a file of any format into memory, conversation by conversation."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from varve.api.memory import Memory
from varve.domain.allowance import PartlyFiltered
from varve.domain.calendar import iso
from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.triple import Op
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
from varve.usecases.progress import StepCounter

BATCH_CONVERSATIONS = 200
BATCH_MESSAGES = 2_000
"""The most that one call of `Memory.ingest` takes; they share commits and embeddings."""
MAX_OUTAGES = 3
"""Conversations in a row that may fail for the outside world before the rest waits."""
MAX_FAILURES = 50
"""Failures that a report names; the others are counted."""

OpenAgent = Callable[[Conversation | None], Memory]
"""Opens the memory that a conversation belongs to; None: the one for facts."""


@dataclass(slots=True)
class ImportReport:
    """The content of a file, and how much of it was stored.

    `stored` has the sums of `Ingested`. `failures` name places and reasons.
    `again`: some failures may succeed when the same command is run again. `checked`
    counts the conversations of a dry run. `partly_filtered` names the messages whose
    filter reached a limit.
    """

    format: str
    conversations: int = 0
    messages: int = 0
    facts: int = 0
    first: datetime | None = None
    last: datetime | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    again: bool = False
    checked: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] | None = field(default_factory=Counter)
    partly_filtered: list[PartlyFiltered] = field(default_factory=list)

    def fail(self, place: str, reason: str) -> None:
        """Count a failure, and name it while there is room.

        A place that ends with a point or a space continues in the reason.
        """
        self.failed += 1
        if len(self.failures) == MAX_FAILURES:
            return
        separator = ": " if place and place[-1] not in ". " else ""
        self.failures.append(f"{place}{separator}{reason}")

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the file is stored, nor would be."""
        return not (self.accepted or self.facts or self.checked)

    def count(self, conversation: Conversation) -> None:
        """Count a conversation with its messages and times."""
        self.conversations += 1
        self.messages += len(conversation.messages)
        for message in conversation.messages:
            at = message.timestamp or conversation.started_at
            if at is not None:
                self.first = at if self.first is None else min(self.first, at)
                self.last = at if self.last is None else max(self.last, at)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "format": self.format,
            "conversations": self.conversations,
            "messages": self.messages,
            "facts": self.facts,
            "first": iso(self.first) if self.first else None,
            "last": iso(self.last) if self.last else None,
            "skipped": dict(self.skipped),
            "failed": self.failed,
            "failures": self.failures,
            "accepted": dict(self.accepted),
            "stored": None if self.stored is None else dict(self.stored),
            "partlyFiltered": [one.to_dict() for one in self.partly_filtered],
        }


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A valid conversation that is not stored yet, and its place."""

    place: str
    conversation: Conversation


def import_file(
    source: Source,
    format_: Format,
    options: ImportOptions,
    open_agent: OpenAgent,
    *,
    dry_run: bool = False,
    step: StepCounter | None = None,
) -> ImportReport:
    """Store what a file holds, and report it; one bad conversation stops nothing.

    With `dry_run` all is read and validated, and nothing is stored. The same file again
    adds nothing. `step` counts the messages. Raises Misconfigured.
    """
    report = ImportReport(format_.name)
    stored = _Storing(
        report, open_agent, dry_run, step or StepCounter("messages", 0)
    )
    try:
        for item in format_.read(source, options):
            stored.take(item)
    except (
        Rejected
    ) as error:  # the file breaks off; keep the values before that
        report.fail(error.field, error.reason)
    stored.flush()
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
    ) -> None:
        self._report = report
        self._step = step
        self._open_agent = open_agent
        self._dry_run = dry_run
        self._waiting: list[_Waiting] = []
        self._messages = 0
        self._memories: dict[Scope, Memory] = {}

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
            len(self._waiting) >= BATCH_CONVERSATIONS
            or self._messages >= BATCH_MESSAGES
        ):
            self.flush()

    def flush(self) -> None:
        """Store what waits. A batch with a fault is stored one by one, to find it."""
        if not self._waiting:
            return
        for memory, group in self._group_by_memory():
            try:
                self._store(memory, group)
            except (Rejected, Retryable):
                self._store_one_by_one(memory, group)
        self._waiting.clear()
        self._messages = 0

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
            self._waiting.append(_Waiting(found.place, conversation))
            self._messages += len(conversation.messages)

    def _take_fact(self, found: FoundFact) -> None:
        graph = self._open_agent(None).graph
        collect = (
            graph.insert_facts if found.op is Op.ADD else graph.delete_facts
        )
        try:
            collect([found.value])
            if self._dry_run:
                graph.close()
            else:
                graph.save()
        except (Rejected, Retryable) as error:
            graph.close()
            self._report.again = self._report.again or error.retryable
            self._report.fail(found.place, str(error))
            return
        self._report.facts += 1

    def _group_by_memory(self) -> Iterator[tuple[Memory, list[_Waiting]]]:
        groups: dict[Scope, list[_Waiting]] = {}
        for one in self._waiting:
            groups.setdefault(one.conversation.scope, []).append(one)
        for scope, group in groups.items():
            yield self._memories[scope], group

    def _store(self, memory: Memory, group: list[_Waiting]) -> None:
        conversations = [one.conversation for one in group]
        before = self._step.done

        def show(_step: str, done: int, _total: int) -> None:
            self._step.reach(before + done)

        outcome = memory.ingest(conversations, progress=show)
        self._step.reach(
            before + sum(len(one.messages) for one in conversations)
        )
        self._report.partly_filtered += outcome.accepted.partly_filtered
        ingested = outcome.to_dict()
        self._report.accepted.update(ingested["accepted"])
        if ingested["stored"] is None:
            self._report.stored = None
        elif self._report.stored is not None:
            self._report.stored.update(ingested["stored"])

    def _store_one_by_one(self, memory: Memory, group: list[_Waiting]) -> None:
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
