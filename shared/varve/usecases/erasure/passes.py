"""Forget: tombstones first, then everything they bar, pass after pass until one finds nothing.

The stores are changed by their writer alone, through its queue. The timeline says on which days something
forgotten was said, so it loses its messages only after a pass has found every store clean: whoever
starts again after a crash finds the same.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar
from uuid import uuid4

from varve.domain.calendar import Grain, Period
from varve.domain.erasure import Selector, Tombstones
from varve.domain.identity import Scope
from varve.domain.ledger import curation_key
from varve.domain.profile import ProfileEntry
from varve.domain.record import EmbeddedRecord, MemoryType, Record, Store
from varve.domain.triple import TripleOperation, evidence_of
from varve.messages.erasure import (
    EraseMessage,
    EraseProfiles,
    EraseRecords,
    EraseTriples,
    Reread,
)
from varve.messages.erasure_queue import send_erasure, send_reread
from varve.ports.objects import Objects
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.lineage import Stained, labels, stained
from varve.usecases.erasure.subject import Subject, working
from varve.usecases.erasure.sweep import (
    read_timeline,
    stated_in_profiles,
    sweep_payloads,
    sweep_taken_in,
    sweep_timeline,
)
from varve.usecases.erasure.unlearning import unlearnt
from varve.usecases.experience.rows import read_rows
from varve.usecases.session import Session

T = TypeVar("T")

MAX_PASSES = 8
SORTS = (
    "facts", "turns", "summaries", "tripleOperations", "messages", "conversations", "payloads",
    "profileEntries", "experience",
)  # fmt: skip

Found = dict[str, set[str]]
"""What a pass found, by sort: ids and keys that live as long as the run."""


@dataclass(slots=True)
class Erased:
    """What went, by sort, and whether the last pass found nothing any more."""

    found: dict[str, set[str]] = field(default_factory=dict)
    passes: int = 0
    complete: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many went of each sort."""
        return {sort: len(self.found.get(sort, ())) for sort in SORTS}


def bar(
    scope: Scope,
    selector: Selector,
    subject: Subject,
    now: datetime,
    *,
    objects: Objects,
) -> Tombstones:
    """Put the tombstones: from here on nothing of the subject is taken in. Raises Retryable."""

    def more(known: Tombstones) -> Tombstones:
        return known.with_subject(
            selector, now, subject.messages, subject.records, subject.whole
        )

    return tombstones.extend(scope, more, objects=objects)


def erase(
    session: Session, *, prune: bool, wait: Callable[[], bool] = lambda: True
) -> Erased:
    """Erase what the agent's tombstones bar: the latest subject, and what was left over of earlier ones.

    `wait` lets a queue's writer come after each pass and says whether there is time for another; `prune`
    has the stores give up old versions even where nothing is found, after a run that ended half-way.
    Raises Retryable: doing it again goes on where it ended.
    """
    done = Erased()
    while done.passes < MAX_PASSES:
        done.passes += 1
        found = _Pass(session, first=done.passes == 1).run(
            prune=prune and done.passes == 1
        )
        if not found:
            done.complete = True
            break
        for sort, ids in found.items():
            # Sets, for what a pass finds again is what the writer had not come to yet.
            done.found[sort] = done.found.get(sort, set()) | ids
        if not wait():
            break
    return done


def prune(session: Session) -> None:
    """Have every store of the agent give up old versions and whatever no version names. Raises Retryable."""
    token = uuid4().hex
    for store in (*Grain, *Store):
        message = EraseRecords(session.scope, store)
        send_erasure(
            message, token, queue=session.queues.write, objects=session.objects
        )


class _Pass:
    """One look at everything, and what is sent on for it."""

    def __init__(self, session: Session, *, first: bool) -> None:
        self._session = session
        self._first = first
        self._scope = session.scope
        self._objects = session.objects
        self._barred = tombstones.load(self._scope, objects=self._objects)
        timeline = read_timeline(self._scope, objects=self._objects)
        self._doomed = {
            name: [x for x in said if x.barred(self._barred)]
            for name, said in timeline.items()
        }
        self._kept = {
            name: [x for x in said if not x.barred(self._barred)]
            for name, said in timeline.items()
        }
        self._mixed = {
            name for name in timeline if self._doomed[name] and self._kept[name]
        }
        self._token = ""

    def run(self, *, prune: bool) -> Found:
        records = list(working(self._scope, self._session.records))
        operations = list(
            evidence_of(self._session.graph.triples(self._scope)).values()
        )
        gone, stay = _split(records, self._barred.bars_record)
        taken_back, stand = _split(operations, self._barred.bars_operation)
        beside = [r for r in stay if self._read_beside(r)] if self._first else []
        said_beside = [o for o in stand if self._said_beside(o)] if self._first else []
        summaries = self._stained(records, gone, beside)
        self._erase_records([*gone, *beside], prune)
        self._erase_triples([*taken_back, *said_beside])
        self._erase_summaries(summaries, prune)
        profiles = self._profiles()
        self._read_anew(stay, operations, [*beside, *said_beside])
        mixed = self._mixed if self._first else ()
        found = {
            "facts": {r.id for r in gone if r.memory_type is MemoryType.FACT},
            "turns": {r.id for r in gone if r.memory_type is MemoryType.TURN},
            "tripleOperations": {o.id for o in taken_back},
            "summaries": {one.record.id for one in summaries},
            "payloads": set(
                sweep_payloads(self._scope, self._barred, mixed, objects=self._objects)
            ),
            "profileEntries": profiles,
            "experience": self._experience(prune),
        }
        if not any(found.values()):
            found |= self._messages()
        return {sort: ids for sort, ids in found.items() if ids}

    def _stained(
        self, records: list[Record], gone: list[Record], beside: list[Record]
    ) -> list[Stained]:
        """The summaries to take out, made known to the tombstones: one may be on its way to the writer."""
        going, anew = [*gone, *beside], frozenset(r.id for r in beside)
        days = {line.day for said in self._doomed.values() for line in said} | {
            r.period for r in going
        }
        left = frozenset(r.id for r in records) - {r.id for r in going}
        session = self._session
        found = stained(
            self._scope,
            days,
            left,
            anew,
            self._barred,
            session.config,
            reader=session.records,
        )
        if pairs := [pair for one in found for pair in one.pairs]:
            self._barred = tombstones.extend(
                self._scope,
                lambda known: known.with_records(pairs),
                objects=self._objects,
            )
        return found

    def _erase_records(self, going: list[Record], prune: bool) -> None:
        ids, days = tuple(r.id for r in going), tuple(sorted({r.period for r in going}))
        if ids or prune:
            self._send(
                EraseRecords(
                    self._scope, Grain.WORKING, ids, days, known_by=_known_by(going)
                )
            )

    def _erase_triples(self, going: list[TripleOperation]) -> None:
        if going:
            self._send(EraseTriples(self._scope, tuple(o.id for o in going)))

    def _erase_summaries(self, found: list[Stained], prune: bool) -> None:
        embedder = self._session.embedder
        for grain in list(Grain)[1:]:
            mine = [one for one in found if one.grain is grain]
            rest = [one.rest for one in mine if one.rest]
            if not (mine or prune):
                continue
            vectors = (
                embedder.embed([record.content for record in rest]) if rest else []
            )
            remade = tuple(
                EmbeddedRecord(r, v) for r, v in zip(rest, vectors, strict=True)
            )
            gone = [one.record for one in mine if not one.rest]
            ids, by = tuple(record.id for record in gone), _known_by(gone)
            self._send(
                EraseRecords(
                    self._scope, grain, ids, labels(mine), embedder.model, remade, by
                )
            )
            for one in mine:
                # A reason of failure may quote what a model answered.
                self._session.ledger.recover(
                    self._scope, Period(grain, one.record.period)
                )

    def _read_beside(self, record: Record) -> bool:
        """A fact of others, read beside words that are forgotten, which can be read anew without them."""
        return record.memory_type is MemoryType.FACT and self._can_be_read_anew(
            record.conversation_id or "", record.source_ids
        )

    def _said_beside(self, operation: TripleOperation) -> bool:
        return self._can_be_read_anew(operation.conversation_id, operation.message_ids)

    def _can_be_read_anew(self, conversation: str, ids: Iterable[str]) -> bool:
        return conversation in self._mixed and {
            x.id for x in self._kept[conversation]
        } >= set(ids)

    def _read_anew(
        self,
        records: list[Record],
        operations: list[TripleOperation],
        beside: list[Record | TripleOperation],
    ) -> None:
        for name in sorted({b.conversation_id for b in beside if b.conversation_id}):
            said = [r for r in records if r.conversation_id == name]
            cited = [(r.source_ids, r.created_at) for r in said]
            cited += [
                (o.message_ids, o.created_at)
                for o in operations
                if o.conversation_id == name
            ]
            learnt: dict[str, datetime] = {}
            for ids, at in cited:
                learnt |= {id_: min(at, learnt.get(id_, at)) for id_ in ids}
            turns = frozenset(
                r.source_ids[0] for r in said if r.memory_type is MemoryType.TURN
            )
            again = Reread(self._scope, name, learnt, turns)
            send_reread(
                again,
                self._pass(),
                queue=self._session.queues.ingest,
                objects=self._objects,
            )

    def _profiles(self) -> set[str]:
        """What users' profiles say; of others, what was read beside the forgotten words is read anew."""
        gone, stand = _split(
            stated_in_profiles(self._scope, objects=self._objects),
            self._barred.bars_entry,
        )
        beside = [e for e in stand if self._first and self._stated_beside(e)]
        if gone or beside:
            self._send(
                EraseProfiles(
                    self._scope, tuple(entry.id for entry in [*gone, *beside])
                )
            )
        return {entry.id for entry in gone}

    def _stated_beside(self, entry: ProfileEntry) -> bool:
        return self._can_be_read_anew(entry.conversation_id or "", entry.message_ids)

    def _experience(self, prune: bool) -> set[str]:
        """Episodes, reports and lessons; a lesson that people wrote loses the evidence and stays."""
        session = self._session
        rows = read_rows(self._scope, reader=session.records)
        gone = unlearnt(rows, self._barred)
        if not (gone.deleted or gone.rewritten or (prune and rows)):
            return set()
        # The last look at the lessons names them; the next look is made of what is left.
        self._objects.delete([curation_key(self._scope)])
        rest = list(gone.rewritten)
        vectors = (
            session.embedder.embed([record.content for record in rest]) if rest else []
        )
        remade = tuple(EmbeddedRecord(r, v) for r, v in zip(rest, vectors, strict=True))
        ids, by = (
            tuple(sorted(gone.deleted)),
            _known_by(row for row in rows if row.id in gone.deleted),
        )
        self._send(
            EraseRecords(
                self._scope,
                Store.EXPERIENCE,
                ids,
                (),
                session.embedder.model,
                remade,
                by,
            )
        )
        return set(gone.deleted) | {record.id for record in rest}

    def _messages(self) -> Found:
        """The timeline, and that its messages were taken in: last, for it names the days."""
        found: Found = {"messages": set(), "conversations": set()}
        for name, lines in self._doomed.items():
            if not lines:
                continue
            whole = not self._kept[name]
            sweep_taken_in(
                self._scope,
                name,
                [line.id for line in lines],
                whole=whole,
                objects=self._objects,
            )
            every = [*lines, *self._kept[name]]
            sweep_timeline(self._scope, every, self._barred, objects=self._objects)
            found["messages"] |= {f"{name}/{line.id}" for line in lines}
            found["conversations"] |= {name} if whole else set()
        return found

    def _send(self, message: EraseMessage) -> None:
        send_erasure(
            message,
            self._pass(),
            queue=self._session.queues.write,
            objects=self._objects,
        )

    def _pass(self) -> str:
        """What tells this pass's messages from those of another that ask for the same."""
        self._token = self._token or uuid4().hex
        return self._token


def _known_by(going: Iterable[Record]) -> datetime | None:
    """When the last of them was made."""
    return max((record.created_at for record in going), default=None)


def _split(values: Iterable[T], goes: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """Those that go, and those that stay."""
    going: list[T] = []
    staying: list[T] = []
    for value in values:
        (going if goes(value) else staying).append(value)
    return going, staying
