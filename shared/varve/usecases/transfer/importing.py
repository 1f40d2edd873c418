"""Import: add what an export holds to an agent's memory, through the writer, as often as one likes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges
from varve.domain.profile import ProfileEntry
from varve.domain.record import (
    STORES,
    EmbeddedRecord,
    MemoryType,
    Record,
    Store,
    StoreName,
)
from varve.domain.triple import evidence_of
from varve.messages.write import (
    WriteProfile,
    WriteRecords,
    WriteTriples,
    records_in_bounds,
    send_profile,
    send_records,
    send_triples,
)
from varve.ports.records import MemoryReader
from varve.ports.transfer import ExportReader
from varve.usecases import timeline
from varve.usecases.configure import config_key
from varve.usecases.erasure import tombstones
from varve.usecases.session import Session
from varve.usecases.summarize import expiries
from varve.usecases.transfer.forgotten_import import without_forgotten
from varve.usecases.transfer.imported import Imported, read
from varve.usecases.transfer.private_import import Filter

BATCH = 256
"""Records that are embedded and sent at a time."""
OPERATIONS = 5_000
"""Triple operations that are sent at a time: each message rewrites the graph's file."""


@dataclass(slots=True)
class Counts:
    """How much was new, and of records how many were there already, with the same or with other words."""

    config: str = "kept"
    records: dict[str, int] = field(
        default_factory=lambda: {"new": 0, "present": 0, "differing": 0}
    )
    reembedded: int = 0
    operations: int = 0
    attributes: int = 0
    messages: int = 0
    taken_in: int = 0
    forgotten: int = 0

    def to_dict(self, scope: Scope) -> dict[str, Any]:
        """As JSON values."""
        return {
            "workspaceId": scope.workspace,
            "agentId": scope.agent,
            "config": self.config,
            "records": self.records,
            "reembedded": self.reembedded,
            "tripleOperations": self.operations,
            "profileEntries": self.attributes,
            "messages": self.messages,
            "takenIn": self.taken_in,
            "forgotten": self.forgotten,
        }


def import_(session: Session, reader: ExportReader) -> dict[str, Any]:
    """Validate an export, then add what the agent's memory lacks; return the counts.

    Existing records stay as they are, also if the export has the same id with other
    words. Messages go first, as in ingest, and what counts as taken in last.
    Raises Rejected: names file, line and field, and nothing was written; Retryable,
    Misconfigured: import again.
    """
    imported = read(reader)
    counts = Counts(config=_configured(session, imported))
    # Read again: the import may have written it.
    session = session.with_config(session.read_config(session.scope.workspace))
    objects = session.objects
    tombs = tombstones.load(session.scope, objects=objects)
    allowed, counts.forgotten = without_forgotten(imported, tombs)
    found = Filter(session.privacy).applied(allowed)
    for (day, conversation_id), lines in found.timeline.items():
        counts.messages += timeline.restore(
            day, session.scope, conversation_id, lines, objects=objects
        )
    _Records(found, session, counts).send()
    _send_operations(found, session, counts)
    _send_profiles(found, session, counts)
    session.queues.flush()
    for conversation_id, (messages, erased) in found.taken_in.items():
        counts.taken_in += timeline.take_in(
            session.scope, conversation_id, messages, erased, objects=session.objects
        )
    return counts.to_dict(session.scope)


def _configured(session: Session, imported: Imported) -> str:
    """Take the configuration over where the workspace is new; else it keeps its own, of the same time zone.

    Not the provider's address and the key for it: an export from anybody could have a key of this process
    sent wherever he likes, with all that is said from then on.
    Raises Rejected: it has another, in which the periods would not be the same.
    """
    scope, key = session.scope, config_key(session.scope.workspace)
    known = session.objects.get(key) is not None or session.objects.folders(
        f"vectordb/{scope.workspace}"
    )
    if known:
        own = session.config.timezone
        if own != imported.timezone:
            raise Rejected(
                "manifest.json: timezone",
                f"is {imported.timezone}, but workspace {scope.workspace!r} keeps its days in {own}",
            )
        return "kept"
    tree = json.loads(
        imported.config.model_dump_json(by_alias=True, exclude_unset=True)
    )
    for name in ("baseUrl", "key"):
        tree.get("models", {}).pop(name, None)
    if agents := tree.pop("agents", {}):
        tree["agents"] = {scope.agent: next(iter(agents.values()))}
    data = json.dumps(tree, ensure_ascii=False, indent=2).encode()
    if not session.objects.put_if(key, data, None):
        raise Retryable(
            f"configuration of {scope.workspace}: was made by somebody else meanwhile"
        )
    return "taken over"


class _Records:
    """The records to send, and which periods above them have summaries that know them."""

    def __init__(
        self,
        imported: Imported,
        session: Session,
        counts: Counts,
    ) -> None:
        self._imported = imported
        self._session = session
        self._counts = counts
        self._embedder = session.embedder
        reader = session.records.at(session.scope)
        self._there = {store: _held(reader, session.scope, store) for store in STORES}
        self._new = {store: list(self._missing(store)) for store in STORES}
        self._pending = session.ledger.pending(session.scope)

    def send(self) -> None:
        """Send what is missing, from working up, and again what no summary knows and no mark stands for."""
        for store in STORES:
            ready = self._ready(store) if isinstance(store, Grain) else frozenset()
            again = self._unmarked(store, ready) if isinstance(store, Grain) else []
            records = [*self._new[store], *again]
            for start in range(0, len(records), BATCH):
                self._send(store, records[start : start + BATCH], ready)

    def _missing(self, store: StoreName) -> Iterator[Record]:
        there = self._there[store]
        for record in self._imported.records.get(store, ()):
            known = there.get(record.id)
            grows = (
                store is Store.EXPERIENCE
                and known is not None
                and known.gives_way_to(record)
            )
            if known is None or grows:
                self._counts.records["new"] += 1
                yield record
            else:
                same = known.fingerprint == record.fingerprint
                self._counts.records["present" if same else "differing"] += 1

    def _ready(self, grain: Grain) -> frozenset[str]:
        """The labels of the periods above whose summary, there or to come, knows all that will be below."""
        summaries = {
            period.label: dict(
                zip(summary.source_ids, summary.source_fingerprints, strict=True)
            )
            for period, summary in self._summaries(grain)
        }
        below = {
            **self._there[grain],
            **{record.id: record for record in self._new[grain]},
        }
        unknown = {
            parent.label
            for record in below.values()
            if (parent := Period(grain, record.period).parent())
            and summaries.get(parent.label, {}).get(record.id)
            != record.fingerprint[:16]
        }
        return frozenset(summaries.keys() - unknown)

    def _summaries(self, grain: Grain) -> Iterator[tuple[Period, Record]]:
        above = list(Grain)[list(Grain).index(grain) + 1 :][:1]
        for parent in above:
            for record in (*self._new[parent], *self._there[parent].values()):
                yield Period(parent, record.period), record

    def _unmarked(self, grain: Grain, ready: frozenset[str]) -> list[Record]:
        """Records that an earlier import wrote, and ended before it marked the period above them."""
        there = self._there[grain]
        return [
            record
            for record in self._imported.records.get(grain, ())
            if (known := there.get(record.id))
            and known.fingerprint == record.fingerprint
            if (parent := Period(grain, record.period).parent())
            and parent.label not in ready
            and parent not in self._pending
        ]

    def _send(
        self, store: StoreName, records: Sequence[Record], ready: frozenset[str]
    ) -> None:
        scope = self._session.scope
        labels = {_parent_label(store, record) for record in records}
        notes = {
            note
            for record in records
            if record.memory_type is MemoryType.SUMMARY and isinstance(store, Grain)
            for note in expiries(
                scope, Period(store, record.period), self._session.config
            )
        }
        whole = WriteRecords(
            scope,
            store,
            self._embedder.model,
            tuple(self._embedded(store, records)),
            LedgerChanges(expiries=tuple(sorted(notes))),
            ready=tuple(sorted(ready & labels)),
        )
        for piece in records_in_bounds(whole):
            send_records(
                piece, queue=self._session.queues.write, objects=self._session.objects
            )

    def _embedded(
        self, store: StoreName, records: Sequence[Record]
    ) -> Iterable[EmbeddedRecord]:
        """The records with the export's vectors, or where model or words are others with new ones."""
        known = {}
        for record in records:
            model, vector = self._imported.vectors.get(
                (str(store), record.id), ("", None)
            )
            if model == self._embedder.model and vector is not None:
                known[record.id] = vector
        fresh = [record for record in records if record.id not in known]
        if fresh:
            vectors = self._embedder.embed([record.content for record in fresh])
            known |= zip((record.id for record in fresh), vectors, strict=True)
            self._counts.reembedded += len(fresh)
        return [EmbeddedRecord(record, known[record.id]) for record in records]


def _held(reader: MemoryReader, scope: Scope, store: StoreName) -> dict[str, Record]:
    labels = reader.periods(scope, store)
    return {
        record.id: record
        for label in labels
        for record in reader.in_period(scope, store, label)
    }


def _parent_label(store: StoreName, record: Record) -> str:
    parent = Period(store, record.period).parent() if isinstance(store, Grain) else None
    return parent.label if parent else ""


def _send_operations(imported: Imported, session: Session, counts: Counts) -> None:
    known = evidence_of(session.graph.triples(session.scope))
    new = [
        operation for id_, operation in imported.operations.items() if id_ not in known
    ]
    for start in range(0, len(new), OPERATIONS):
        message = WriteTriples(session.scope, tuple(new[start : start + OPERATIONS]))
        send_triples(message, queue=session.queues.write, objects=session.objects)
    counts.operations += len(new)


def _send_profiles(imported: Imported, session: Session, counts: Counts) -> None:
    by_user: dict[str, list[ProfileEntry]] = {}
    for entry in imported.entries:
        by_user.setdefault(entry.user_id, []).append(entry)
    for user_id, entries in sorted(by_user.items()):
        known = {entry.id for entry in session.profiles.entries(session.scope, user_id)}
        new = tuple(entry for entry in entries if entry.id not in known)
        if new:
            message = WriteProfile(session.scope, user_id, new)
            send_profile(message, queue=session.queues.write, objects=session.objects)
        counts.attributes += len(new)
