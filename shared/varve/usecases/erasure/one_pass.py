"""One look of an erasure at everything that the agent has."""

from collections.abc import Iterable, Set
from dataclasses import replace
from datetime import datetime
from itertools import chain
from uuid import uuid4

from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period
from varve.domain.ledger import curation_key
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType, Record, Store
from varve.domain.statements.texts.telling import find_corrected
from varve.domain.triple import TripleOperation, evidence_of
from varve.messages.erasure import (
    EraseMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
    Reread,
)
from varve.messages.erasure_queue import send_erasure, send_reread
from varve.messages.wire import group_of
from varve.ports.models import Embedder
from varve.usecases.embedders import embed_records
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.conversations import read_conversations, split
from varve.usecases.erasure.erased import Found
from varve.usecases.erasure.lineage import (
    RemainingSources,
    Stained,
    find_stained,
    sorted_labels,
)
from varve.usecases.erasure.notes import find_barred_rows, note_of, sweep_notes
from varve.usecases.erasure.rereads import add_to_plan, build_reread
from varve.usecases.erasure.statements import row_keys
from varve.usecases.erasure.sweep import (
    TimelineLine,
    read_profile_entries,
    sweep_payloads,
    sweep_taken_in,
    sweep_timeline,
)
from varve.usecases.erasure.unlearning import plan_unlearning
from varve.usecases.experience.rows import read_rows
from varve.usecases.session import Session
from varve.usecases.whole_stores import read_working


class ErasurePass:
    """One look at everything the agent has; it sends the erasures of forgotten data.

    Facts that were extracted together with forgotten words may repeat them. The `first`
    pass also erases those facts, and has them extracted again from the words that stay.
    """

    def __init__(self, session: Session, *, first: bool, prune: bool) -> None:
        self._session = session
        self._first = first
        self._prune = prune
        self._scope = session.scope
        self._objects = session.objects
        self._barred = tombstones.load(self._scope, objects=self._objects)
        self._said = read_conversations(
            self._scope, self._barred, self._objects
        )
        # Tells the messages of this pass from those of another that ask for the same.
        self._token = uuid4().hex
        self.rereads: list[Reread] = []

    def run(self) -> Found:
        """Return the ids and keys found, by sort; only the sorts that have any."""
        records = list(read_working(self._scope, self._session.records))
        triples = self._session.graph.triples(self._scope)
        operations = list(evidence_of(triples).values())
        gone, staying = split(records, self._barred.bars_record)
        retracted, standing = split(operations, self._barred.bars_operation)
        reread_facts = [one for one in staying if self._must_reread_fact(one)]
        reread_operations = [one for one in standing if self._must_reread(one)]
        # Before the first deletion: a run that ends half-way must not lose them.
        self._plan_rereads(
            staying, operations, [*reread_facts, *reread_operations]
        )
        summaries = self._find_summaries(records, gone, reread_facts)
        self._erase_records([*gone, *reread_facts])
        self._erase_triples([*retracted, *reread_operations])
        self._erase_summaries(summaries)
        entries = self._erase_profile_entries()
        self._send_rereads()
        found = {
            "facts": _ids_of(gone, MemoryType.FACT),
            "turns": _ids_of(gone, MemoryType.TURN),
            "tripleOperations": {one.id for one in retracted},
            "summaries": {one.record.id for one in summaries},
            "payloads": self._sweep_payloads(),
            "profileEntries": entries,
            "experience": self._erase_experience(),
            "notes": self._erase_notes(),
        }
        if not any(found.values()):
            found |= self._erase_messages()
        return {sort: ids for sort, ids in found.items() if ids}

    def _find_summaries(
        self, records: list[Record], gone: list[Record], reread: list[Record]
    ) -> list[Stained]:
        """Return the summaries to take out, and add them to the tombstones.

        The tombstones bar a copy of one that is still on its way to the writer.
        """
        going = [*gone, *reread]
        days = self._said.doomed_days()
        for one in [*going, *self._find_corrected(records)]:
            days.add((one.period, one.user_id))
        ids = {one.id for one in records}
        left = ids - {one.id for one in going}
        read_again = {one.id for one in reread}
        for conversation in self.rereads:
            read_again.update(conversation.facts)
        contents = [one.content for one in gone]
        sources = RemainingSources(
            days=frozenset(days),
            left=frozenset(left),
            reread=frozenset(read_again),
            gone_texts=(*self._said.doomed_texts(), *contents),
            left_texts=(
                *self._said.kept_texts(),
                *_contents_of(records, left),
            ),
        )
        session = self._session
        found = find_stained(
            self._scope,
            sources,
            self._barred,
            session.config,
            reader=session.records,
        )
        pairs = list(chain.from_iterable(one.pairs for one in found))
        if pairs:
            self._barred = tombstones.bar_records(
                self._scope, pairs, objects=self._objects
            )
        return found

    def _find_corrected(self, records: list[Record]) -> list[Record]:
        """Return what forgotten messages correct: summaries of its day tell them too."""
        by_id = {one.id: one for one in records}
        return find_corrected(
            self._said.list_doomed_ids(),
            lambda ids: [by_id[id_] for id_ in ids if id_ in by_id],
        )

    def _erase_records(self, going: list[Record]) -> None:
        if not going and not self._prune:
            return
        ids = tuple(one.id for one in going)
        days = tuple(sorted({one.period for one in going}))
        last = _last_created(going)
        message = EraseRecords(
            self._scope, Grain.WORKING, ids, days, known_by=last
        )
        self._send(message)

    def _erase_triples(self, going: list[TripleOperation]) -> None:
        if going:
            self._send(
                EraseTriples(self._scope, tuple(one.id for one in going))
            )

    def _erase_summaries(self, found: list[Stained]) -> None:
        embedder = self._session.embedder
        for grain in SUMMARY_GRAINS:
            of_grain = [one for one in found if one.grain is grain]
            if of_grain or self._prune:
                self._erase_summaries_of(grain, of_grain, embedder)

    def _erase_summaries_of(
        self, grain: Grain, found: list[Stained], embedder: Embedder
    ) -> None:
        """Erase summaries of one grain, replacing those that have a rest."""
        rests = [one.rest for one in found if one.rest]
        remade = embed_records(rests, embedder)
        deleted = [one.record for one in found if not one.rest]
        message = EraseRecords(
            self._scope,
            grain,
            ids=tuple(record.id for record in deleted),
            labels=sorted_labels(found),
            model=embedder.model,
            remade=remade,
            known_by=_last_created(deleted),
        )
        self._send(message)
        for one in found:
            # The recorded reason of a failure may quote a model's answer.
            period = Period(grain, one.record.period)
            self._session.ledger.recover(self._scope, period)

    def _must_reread_fact(self, record: Record) -> bool:
        if record.memory_type is not MemoryType.FACT or not self._first:
            return False
        return self._said.can_reread(
            record.conversation_id or "", record.source_ids
        )

    def _must_reread(self, one: TripleOperation | ProfileEntry) -> bool:
        if not self._first:
            return False
        return self._said.can_reread(
            one.conversation_id or "", one.message_ids
        )

    def _plan_rereads(
        self,
        records: list[Record],
        operations: list[TripleOperation],
        reread: list[Record | TripleOperation],
    ) -> None:
        """Store that the conversations of the `reread` statements are to be read again.

        Rereads that an earlier erasure planned and did not finish join them.
        """
        if not self._first:
            return
        names = {one.conversation_id for one in reread if one.conversation_id}
        planned: list[Reread] = []
        for name in sorted(names):
            kept = {line.id for line in self._said.kept.get(name, ())}
            facts = {one.id for one in reread}
            reread_ = build_reread(
                self._scope, name, records, operations, kept, facts
            )
            planned.append(reread_)
        self.rereads = add_to_plan(self._scope, planned, objects=self._objects)

    def _send_rereads(self) -> None:
        """Have the planned conversations extracted again."""
        queue = self._session.queues.ingest
        for reread in self.rereads:
            message = replace(reread, token=self._token)
            send_reread(message, queue=queue, objects=self._objects)

    def _erase_profile_entries(self) -> set[str]:
        """Erase from users' profiles; return the ids of the forgotten entries."""
        entries = read_profile_entries(self._scope, objects=self._objects)
        gone, staying = split(entries, self._barred.bars_entry)
        reread = [entry for entry in staying if self._must_reread(entry)]
        if gone or reread:
            ids = tuple(entry.id for entry in [*gone, *reread])
            self._send(EraseProfiles(self._scope, ids))
        return {entry.id for entry in gone}

    def _sweep_payloads(self) -> set[str]:
        mixed = self._said.mixed if self._first else ()
        keys = sweep_payloads(
            self._scope, self._barred, mixed, objects=self._objects
        )
        return set(keys)

    def _erase_experience(self) -> set[str]:
        """Erase episodes, reports and lessons; return their ids.

        A lesson that a person wrote stays without the forgotten evidence.
        """
        session = self._session
        rows = read_rows(self._scope, reader=session.records)
        plan = plan_unlearning(rows, self._barred)
        must_prune = self._prune and bool(rows)
        if not (plan.deleted or plan.rewritten or must_prune):
            return set()
        deleted = [row for row in rows if row.id in plan.deleted]
        self._bar_rows(deleted)
        # The checkpoint of the last review names lessons; the next review makes its own.
        self._objects.delete([curation_key(self._scope)])
        embedder = session.embedder
        message = EraseRecords(
            self._scope,
            Store.EXPERIENCE,
            ids=tuple(sorted(plan.deleted)),
            model=embedder.model,
            remade=embed_records(plan.rewritten, embedder),
            known_by=_last_created(deleted),
        )
        self._send(message)
        return set(plan.deleted) | {record.id for record in plan.rewritten}

    def _erase_notes(self) -> set[str]:
        """Erase notes and versions of notes, then their records; return the notes' ids."""
        found = sweep_notes(self._scope, self._barred, objects=self._objects)
        reader = self._session.records
        rows = find_barred_rows(self._scope, self._barred, reader=reader)
        ids = tuple(row.id for row in rows)
        must_prune = self._prune and reader.periods(self._scope, Store.NOTES)
        if ids or must_prune:
            last = _last_created(rows)
            self._send(
                EraseRecords(self._scope, Store.NOTES, ids, known_by=last)
            )
        return found | {note_of(id_) for id_ in ids}

    def _bar_rows(self, rows: Iterable[Record]) -> None:
        """Bar rows that go with others, so that a replay cannot bring them back."""
        keys = list(row_keys(rows))
        if keys:
            tombstones.bar_records(self._scope, keys, objects=self._objects)

    def _erase_messages(self) -> Found:
        """Erase from the timeline and from the lists of messages taken in.

        It comes last, because the timeline names the days.
        """
        found: Found = {"messages": set(), "conversations": set()}
        for name, doomed in self._said.doomed.items():
            if not doomed:
                continue
            kept = self._said.kept[name]
            ids = [line.id for line in doomed]
            self._sweep_conversation(
                name, ids, [*doomed, *kept], whole=not kept
            )
            found["messages"].update(f"{name}/{id_}" for id_ in ids)
            if not kept:
                found["conversations"].add(name)
        return found

    def _sweep_conversation(
        self,
        name: str,
        ids: list[str],
        said: list[TimelineLine],
        *,
        whole: bool,
    ) -> None:
        """Take the messages out of the lists of one conversation.

        No session of this process, or of this directory, takes in its messages meanwhile.
        """
        group = group_of(self._scope.workspace, self._scope.agent, name)
        with self._session.queues.hold([group]):
            sweep_taken_in(
                self._scope, name, ids, whole=whole, objects=self._objects
            )
            sweep_timeline(said, self._barred, objects=self._objects)

    def _send(self, message: EraseMessage) -> None:
        queue = self._session.queues.write
        send_erasure(message, self._token, queue=queue, objects=self._objects)


def _ids_of(records: Iterable[Record], memory_type: MemoryType) -> set[str]:
    return {one.id for one in records if one.memory_type is memory_type}


def _contents_of(records: Iterable[Record], ids: Set[str]) -> list[str]:
    return [one.content for one in records if one.id in ids]


def _last_created(records: Iterable[Record]) -> datetime | None:
    """Return when the newest of the records was created."""
    return max((record.created_at for record in records), default=None)
