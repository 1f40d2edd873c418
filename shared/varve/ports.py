"""What the pipeline needs from the outside, each port as small as its callers need."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from pydantic import BaseModel

from varve.domain.extraction import Batch, Extraction
from varve.domain.graph import Link, Neighbour, QueryLimits, QueryResult
from varve.domain.identity import Scope
from varve.domain.names import Names
from varve.domain.personal import Finding
from varve.domain.query import Filter
from varve.domain.record import GRAINS, EmbeddedRecord, Record, StoreName, Vector, Written
from varve.domain.summary import Summary, SummaryTask
from varve.domain.triple import Triple, TripleOperation
from varve.erasing_ports import GraphEraser
from varve.search_ports import CandidatesReader

Reply = TypeVar("Reply", bound=BaseModel)


class Clock(Protocol):
    """The one source of the present: aware, UTC."""

    def __call__(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's bytes and the tag that changes whenever they do."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing tells of an object; `size` in bytes."""

    key: str
    size: int
    last_modified: datetime


class Objects(Protocol):
    """Objects under the store root, by key (`a/b/c`, no leading slash)."""

    def get(self, key: str) -> StoredObject | None:
        """The object, or None where there is none."""

    def part(self, key: str, start: int, length: int) -> bytes | None:
        """So many of the object's bytes from a place within it on; None where there is no object."""

    def put(self, key: str, data: bytes) -> None:
        """Write it, whatever was there."""

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        """Write it only over that very version (None: only where nothing is). False: lost the race."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects; those that are not there count as removed."""

    def exchange(self, fresh: Iterable[str], doomed: Iterable[str]) -> None:
        """Put the first, empty, and remove the others: at once, in no order. Raises Retryable: half done."""

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Every object whose key begins with `prefix + "/"`, in order of keys."""

    def folders(self, prefix: str) -> Sequence[str]:
        """The names right below the prefix that have objects below them, in order."""


class MemoryReader(CandidatesReader, Protocol):
    """Records of one agent's grain, as committed at the moment of the call."""

    def at(self, scope: Scope, stores: Sequence[StoreName] = GRAINS) -> "MemoryReader":
        """For one answer: these stores of the agent as committed now, looked up once. Raises Retryable."""

    def browse(self, scope: Scope, grain: StoreName, *, where: Filter, limit: int) -> list[Record]:
        """The newest by event time, newest first."""

    def get(self, scope: Scope, grain: StoreName, ids: Sequence[str]) -> list[Record]:
        """Those of the ids that exist, in the order of the ids."""

    def count(self, scope: Scope, grain: StoreName, *, where: Filter) -> int:
        """How many records the filter lets through."""

    def periods(self, scope: Scope, grain: StoreName) -> dict[str, int]:
        """How many records each period's label has."""

    def in_period(self, scope: Scope, grain: StoreName, label: str, since: int = 0) -> list[Record]:
        """All records of one period, oldest first, of the store's version `since` or a later one.

        Raises Retryable: it can be read at an older version only, as where a listing is stale.
        """

    def span(self, scope: Scope, grain: StoreName) -> tuple[datetime, datetime] | None:
        """The oldest and the newest event time, or None where there are no records."""


class MemoryWriter(Protocol):
    """The only way to change records; only `pipeline/write.py` takes one."""

    def expect(self, scope: Scope, grain: StoreName) -> None:
        """An upsert follows: what must be known of the store before may be asked for meanwhile."""

    def upsert(
        self, scope: Scope, grain: StoreName, records: Sequence[EmbeddedRecord], model: str
    ) -> Written:
        """Insert or replace by id in one commit. `model` names the embedding model.

        Raises Misconfigured: the store's vectors are of another model or other dimensions; Retryable.
        """

    def delete_periods(self, scope: Scope, grain: StoreName, labels: Sequence[str]) -> int:
        """Delete all records of the periods, and their bytes; how many there were. Raises Retryable."""

    def delete(self, scope: Scope, grain: StoreName, ids: Sequence[str]) -> int:
        """Delete these records and their bytes; how many. Without ids, what was left. Raises Retryable."""

    def finish(self) -> None:
        """Wait for what still goes on behind the writes; what they wrote is durable without it."""


class GraphReader(Protocol):
    """An agent's triples."""

    def triples(self, scope: Scope) -> list[Triple]:
        """All triples, current and past, in the fold's order."""

    def counts(self, scope: Scope) -> tuple[int, int]:
        """How many triples there are, and how many of them hold."""


class GraphView(Protocol):
    """An agent's graph as it was at one moment."""

    def names(self) -> Names:
        """The aliases that the triples state."""

    def aliases(self) -> list[Triple]:
        """The triples that state another name of an entity, past ones too."""

    def about(self, entity: str) -> list[Triple]:
        """The triples of every entity and predicate among which the entity is named; it is normalized."""

    def newest(self, most: int) -> list[Triple]:
        """The triples that hold, those that began last first."""

    def neighbours(self, entity: str, hops: int, at: datetime | None, most: int) -> list[Neighbour]:
        """The entities within so many hops over each one's newest edges, nearest first; `at` None: now."""

    def paths(
        self, start: str, goal: str, max_hops: int, at: datetime | None, most: int
    ) -> list[tuple[Link, ...]]:
        """Ways from one entity to the other that pass none twice, the shortest first."""


class GraphQueries(Protocol):
    """Questions to an agent's graph."""

    def open(self, scope: Scope) -> GraphView:
        """The graph as it is stored now."""

    def query(self, scope: Scope, sql: str, limits: QueryLimits) -> QueryResult:
        """Run untrusted SQL over `facts`. Raises Rejected: field `sql`, and why or past which limit."""


class GraphWriter(GraphEraser, Protocol):
    """The only way to change triples; only `pipeline/write.py` takes one."""

    def apply(self, scope: Scope, operations: Sequence[TripleOperation]) -> int:
        """Fold the operations in; the number of those that were new. Raises Retryable."""


class Queue(Protocol):
    """A FIFO queue to send to."""

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        """Make the message durable before returning. Raises Retryable: it is not."""


class Summarizer(Protocol):
    """Says in few words what a period's sources say."""

    @property
    def name(self) -> str:
        """Which model and prompt, or which rules, in a form that changes when the results may."""

    def summarize(self, task: SummaryTask) -> Summary:
        """The summary, its text within the task's budget. Raises Retryable, Rejected, Misconfigured."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as a FIFO queue delivers it; `last_chance` when failing again dead-letters it."""

    id: str
    body: str
    group: str
    last_chance: bool = False


class DeadLetters(Protocol):
    """Where messages go that cannot succeed."""

    def send(self, delivery: Delivery, error: Exception) -> None:
        """Keep the message with the error's type and reason. Raises Retryable."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter: the message as it was, and the `reasons` that were recorded with it.

    `reasons` are errorType, reason, field and messageId, as far as there were any; none where the queue
    itself moved the message after `receives` deliveries. `sent_at` is when it became one, UTC.
    """

    id: str
    body: str
    group: str
    reasons: Mapping[str, str]
    receives: int
    sent_at: datetime | None = None


class DeadLetterBox(Protocol):
    """The dead letters of one queue, for an operator."""

    def letters(self) -> list[Letter]:
        """Those there are, in their order, none of them taken away.

        Of one group no more than the first ten can be seen at a time. Raises Retryable, Misconfigured.
        """

    def redrive(self, ids: Collection[str]) -> list[str]:
        """Send them to the queue they came from, in their order and group; those that were there.

        Each is sent before it is removed and is known by its id, so that doing it again does no harm.
        """

    def drop(self, ids: Collection[str]) -> list[str]:
        """Remove them for good; those that were there. Raises Retryable, Misconfigured."""


class Embedder(Protocol):
    """Turns texts into vectors; the same one for writing and asking."""

    @property
    def model(self) -> str:
        """The model's name and dimensions, as recorded in each store: `name:256`."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, float32, unit length. Raises Retryable, Misconfigured."""


class Extractor(Protocol):
    """Reads a batch of a conversation and says what to remember."""

    @property
    def name(self) -> str:
        """Which model and prompt, or which rules, in a form that changes when the results may."""

    def extract(self, batch: Batch) -> Extraction:
        """The batch's facts and triple operations. Raises Retryable, Rejected, Misconfigured."""


class LLM(Protocol):
    """A chat model that answers in a given shape."""

    @property
    def model(self) -> str:
        """The model's name."""

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """One answer, validated. Raises Retryable, Rejected (no valid answer), Misconfigured."""


class Detector(Protocol):
    """Finds personal data or secrets in a text."""

    def find(self, text: str) -> Sequence[Finding]:
        """The findings, in any order, overlapping ones each for itself. Raises Misconfigured."""


class Secrets(Protocol):
    """Keys that the store must not hold."""

    def get(self, name: str) -> str:
        """The secret's text. Raises Misconfigured: there is none, or no right to read it."""


__all__ = [
    "LLM", "Clock", "DeadLetterBox", "DeadLetters", "Delivery", "Detector", "Embedder", "Extractor",
    "GraphQueries", "GraphReader", "GraphView", "GraphWriter", "Letter", "MemoryReader",
    "MemoryWriter", "ObjectInfo", "Objects", "Queue", "Secrets", "StoredObject", "Summarizer",
]  # fmt: skip
