"""Import: add an export to an agent's memory, through the writer; may be repeated."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.errors import Contended, Rejected
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
    Vector,
)
from varve.domain.triple import TripleOperation, evidence_of
from varve.messages.write import (
    WriteProfile,
    WriteRecords,
    WriteTriples,
    send_in_bounds,
    send_profile,
    send_triples,
)
from varve.ports.meter import doing
from varve.ports.records import MemoryReader
from varve.ports.transfer import ExportReader
from varve.usecases import timeline
from varve.usecases.erasure import tombstones
from varve.usecases.ingest.taken_in import take_in
from varve.usecases.operate.configure import config_key
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.usecases.session import Session
from varve.usecases.summaries.summary_records import expiries
from varve.usecases.transfer.forgotten_import import drop_forgotten
from varve.usecases.transfer.imported import Imported, read_export
from varve.usecases.transfer.notes import import_notes
from varve.usecases.transfer.private_import import ExportFilter
from varve.usecases.write.contention import until_uncontended

IMPORT_BATCH = 256
"""The most records that are embedded and sent together."""
OPERATIONS = 5_000
"""The most triple operations in a message; each message rewrites the graph's file."""


@dataclass(slots=True)
class Counts:
    """How much was new; of records also how many were present, equal or differing."""

    config: str = "kept"
    records: dict[str, int] = field(
        default_factory=lambda: {"new": 0, "present": 0, "differing": 0}
    )
    reembedded: int = 0
    operations: int = 0
    attributes: int = 0
    messages: int = 0
    taken_in: int = 0
    notes: int = 0
    forgotten: int = 0

    def to_dict(self, scope: Scope) -> dict[str, Any]:
        """Return them as JSON values."""
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
            "notes": self.notes,
            "forgotten": self.forgotten,
        }


@doing("import")
def import_(
    session: Session, reader: ExportReader, progress: Progress = no_progress
) -> dict[str, Any]:
    """Validate an export, then add what the agent's memory lacks; return the counts.

    Existing records stay as they are, even if the export has other words for an id.
    Messages are written first, as in ingest; the lists of messages taken in are last.
    Raises Rejected: names file, line and field, and nothing was written; Retryable,
    Misconfigured: import again.
    """
    imported = read_export(reader)
    adopt = partial(_adopt_config, session, imported)
    counts = Counts(config=until_uncontended(adopt))
    # Read it again: the import may have written it.
    session = session.with_config(session.read_config(session.scope.workspace))
    objects = session.objects
    tombs = tombstones.load(session.scope, objects=objects)
    allowed, counts.forgotten = drop_forgotten(imported, tombs)
    found = ExportFilter(session.privacy).apply(allowed)
    step = StepCounter("conversations", len(found.timeline), progress)
    for (day, conversation_id), lines in step.count(found.timeline.items()):
        counts.messages += timeline.restore(
            day, session.scope, conversation_id, lines, objects=objects
        )
    _RecordImport(found, session, counts).send(progress)
    _send_operations(found, session, counts)
    _send_profiles(found, session, counts)
    counts.notes = import_notes(session, found.notes)
    session.queues.flush()
    for conversation_id, (messages, erased) in found.taken_in.items():
        add = partial(
            take_in,
            session.scope,
            conversation_id,
            messages,
            erased,
            objects=session.objects,
        )
        counts.taken_in += until_uncontended(add)
    return counts.to_dict(session.scope)


def _adopt_config(session: Session, imported: Imported) -> str:
    """Write the export's configuration if the workspace is new; return the outcome.

    An existing workspace keeps its own. Raises Rejected: its time zone differs, so its
    periods would too; Contended, Retryable.
    """
    scope = session.scope
    key = config_key(scope.workspace)
    if _is_known(session, key):
        own = session.config.timezone
        if own != imported.timezone:
            raise Rejected(
                "manifest.json: timezone",
                f"is {imported.timezone}, but workspace {scope.workspace!r} keeps its "
                f"days in {own}",
            )
        return "kept"
    data = json.dumps(
        _config_tree(imported, scope.agent), ensure_ascii=False, indent=2
    )
    if not session.objects.put_if(key, data.encode(), None):
        raise Contended(
            f"configuration of {scope.workspace}: another process has just created it"
        )
    return "taken over"


def _is_known(session: Session, config_key: str) -> bool:
    if session.objects.get(config_key) is not None:
        return True
    return bool(session.objects.folders(f"vectordb/{session.scope.workspace}"))


def _config_tree(imported: Imported, agent: str) -> dict[str, Any]:
    """Return the settings to write, those of the exported agent under the target's name.

    The provider's address and key are left out: a foreign export could otherwise have a
    key of this process, and all texts, sent to an address of its choice.
    """
    config = imported.config.model_dump_json(by_alias=True, exclude_unset=True)
    tree: dict[str, Any] = json.loads(config)
    models = tree.get("models", {})
    models.pop("baseUrl", None)
    models.pop("key", None)
    agents = tree.pop("agents", {})
    if agents:
        tree["agents"] = {agent: next(iter(agents.values()))}
    return tree


class _RecordImport:
    """The records to send, and which summaries above them are already up to date."""

    def __init__(
        self, imported: Imported, session: Session, counts: Counts
    ) -> None:
        self._imported = imported
        self._session = session
        self._counts = counts
        self._embedder = session.embedder
        reader = session.records.at(session.scope)
        self._there: dict[StoreName, dict[str, Record]] = {}
        for store in STORES:
            self._there[store] = _read_records(reader, session.scope, store)
        self._new: dict[StoreName, list[Record]] = {}
        for store in STORES:
            self._new[store] = list(self._find_missing(store))
        self._pending = session.ledger.pending(session.scope)

    def send(self, progress: Progress) -> None:
        """Send the missing records, from working up, and those without a mark again."""
        count = sum(map(len, self._new.values()))
        step = StepCounter("records", count, progress)
        for store in STORES:
            ready: frozenset[str] = frozenset()
            records = list(self._new[store])
            if isinstance(store, Grain):
                ready = self._find_ready(store)
                records += self._find_unmarked(store, ready)
            for start in range(0, len(records), IMPORT_BATCH):
                batch = records[start : start + IMPORT_BATCH]
                self._send(store, batch, ready)
                step.add(len(batch))

    def _find_missing(self, store: StoreName) -> Iterator[Record]:
        """Yield the records to write, and count all of them."""
        for record in self._imported.records.get(store, ()):
            known = self._there[store].get(record.id)
            if known is None or _replaces(record, known, store):
                self._counts.records["new"] += 1
                yield record
            elif known.fingerprint == record.fingerprint:
                self._counts.records["present"] += 1
            else:
                self._counts.records["differing"] += 1

    def _find_ready(self, grain: Grain) -> frozenset[str]:
        """Return the labels of parent periods whose summary is up to date.

        It is if it names every record that will be below it. The summary may be there or
        in the export.
        """
        summaries: dict[str, dict[str, str]] = {}
        for label, summary in self._parent_summaries(grain):
            sources = zip(
                summary.source_ids, summary.source_fingerprints, strict=True
            )
            summaries[label] = dict(sources)
        below = dict(self._there[grain])
        below.update({record.id: record for record in self._new[grain]})
        outdated: set[str] = set()
        for record in below.values():
            label = _parent_label(grain, record)
            known = summaries.get(label, {}).get(record.id)
            if known != record.fingerprint[:16]:
                outdated.add(label)
        return frozenset(summaries.keys() - outdated)

    def _parent_summaries(self, grain: Grain) -> Iterator[tuple[str, Record]]:
        """Yield the summaries of the next grain with their labels; existing ones last."""
        parent = grain.parent
        if parent is not None:
            for record in (*self._new[parent], *self._there[parent].values()):
                yield record.period, record

    def _find_unmarked(
        self, grain: Grain, ready: frozenset[str]
    ) -> Iterator[Record]:
        """Yield the records of an import that ended before it marked their parents."""
        for record in self._imported.records.get(grain, ()):
            known = self._there[grain].get(record.id)
            parent = Period(grain, record.period).parent()
            if known is None or known.fingerprint != record.fingerprint:
                continue
            if (
                parent is None
                or parent.label in ready
                or parent in self._pending
            ):
                continue
            yield record

    def _send(
        self,
        store: StoreName,
        records: Sequence[Record],
        ready: frozenset[str],
    ) -> None:
        scope = self._session.scope
        labels = {_parent_label(store, record) for record in records}
        notes = self._expiry_notes(store, records)
        changes = LedgerChanges(expiries=tuple(sorted(notes)))
        whole = WriteRecords(
            scope,
            store,
            self._embedder.model,
            tuple(self._embed(store, records)),
            changes,
            ready=tuple(sorted(ready & labels)),
        )
        queue = self._session.queues.write
        send_in_bounds(whole, queue=queue, objects=self._session.objects)

    def _expiry_notes(
        self, store: StoreName, records: Sequence[Record]
    ) -> set[str]:
        """Return the notes that call for cleanup when the summaries' periods expire."""
        notes: set[str] = set()
        for record in records:
            is_summary = record.memory_type is MemoryType.SUMMARY
            if is_summary and isinstance(store, Grain):
                period = Period(store, record.period)
                config = self._session.config
                notes.update(expiries(self._session.scope, period, config))
        return notes

    def _embed(
        self, store: StoreName, records: Sequence[Record]
    ) -> Iterator[EmbeddedRecord]:
        """Yield the records with their vectors.

        A record is embedded if its text was filtered, or its vector is of another model.
        """
        vectors: dict[str, Vector] = {}
        for record in records:
            exported = self._imported.vectors.get((str(store), record.id))
            if exported is not None and exported[0] == self._embedder.model:
                vectors[record.id] = exported[1]
        fresh = [record for record in records if record.id not in vectors]
        if fresh:
            embedded = self._embedder.embed(
                [record.content for record in fresh]
            )
            for record, vector in zip(fresh, embedded, strict=True):
                vectors[record.id] = vector
            self._counts.reembedded += len(fresh)
        for record in records:
            yield EmbeddedRecord(record, vectors[record.id])


def _read_records(
    reader: MemoryReader, scope: Scope, store: StoreName
) -> dict[str, Record]:
    """Return all records of a store by id."""
    records: dict[str, Record] = {}
    for label in reader.periods(scope, store):
        for record in reader.in_period(scope, store, label):
            records[record.id] = record
    return records


def _replaces(record: Record, known: Record, store: StoreName) -> bool:
    return store is Store.EXPERIENCE and known.gives_way_to(record)


def _parent_label(store: StoreName, record: Record) -> str:
    """Return the parent period's label; empty: there is none."""
    if not isinstance(store, Grain):
        return ""
    parent = Period(store, record.period).parent()
    return parent.label if parent else ""


def _send_operations(
    imported: Imported, session: Session, counts: Counts
) -> None:
    known = evidence_of(session.graph.triples(session.scope))
    new: list[TripleOperation] = []
    for id_, operation in imported.operations.items():
        if id_ not in known:
            new.append(operation)
    for start in range(0, len(new), OPERATIONS):
        message = WriteTriples(
            session.scope, tuple(new[start : start + OPERATIONS])
        )
        send_triples(
            message, queue=session.queues.write, objects=session.objects
        )
    counts.operations += len(new)


def _send_profiles(
    imported: Imported, session: Session, counts: Counts
) -> None:
    by_user: dict[str, list[ProfileEntry]] = {}
    for entry in imported.entries:
        by_user.setdefault(entry.user_id, []).append(entry)
    for user_id, entries in sorted(by_user.items()):
        known = {
            entry.id
            for entry in session.profiles.entries(session.scope, user_id)
        }
        new = tuple(entry for entry in entries if entry.id not in known)
        if new:
            message = WriteProfile(session.scope, user_id, new)
            send_profile(
                message, queue=session.queues.write, objects=session.objects
            )
        counts.attributes += len(new)
