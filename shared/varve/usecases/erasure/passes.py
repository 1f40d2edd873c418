"""Erase: put tombstones first, then delete all barred data until a pass finds none.

Only the writer changes the stores, through its queue. The timeline tells on which days
something forgotten was said. So it loses its messages only after a pass has found every
store clean: an erasure that starts again after a crash finds the same days.
"""

from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

from varve.domain.calendar import Grain
from varve.domain.erasure import Selector, Tombstones
from varve.domain.identity import Scope
from varve.domain.record import Store
from varve.messages.erasure import EraseRecords
from varve.messages.erasure_queue import send_erasure
from varve.ports.objects import Objects
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.erased import Erased
from varve.usecases.erasure.notes import find_notes
from varve.usecases.erasure.one_pass import ErasurePass
from varve.usecases.erasure.rereads import remove_from_plan
from varve.usecases.erasure.statements import find_statements
from varve.usecases.erasure.subject import Subject
from varve.usecases.session import Session

MAX_PASSES = 8


def bar(
    scope: Scope,
    selector: Selector,
    subject: Subject,
    now: datetime,
    *,
    objects: Objects,
) -> Tombstones:
    """Put the subject's tombstones; from then on nothing of it is stored.

    Raises Retryable.
    """

    def add_subject(known: Tombstones) -> Tombstones:
        return known.with_subject(
            selector, now, subject.messages, subject.records, subject.whole
        )

    return tombstones.extend(scope, add_subject, objects=objects)


def erase(
    session: Session,
    selector: Selector | None = None,
    *,
    prune: bool,
    wait: Callable[[], bool] = lambda: True,
) -> Erased:
    """Erase what the agent's tombstones bar: the latest subject, and rests of earlier ones.

    Statements of `selector` without a message that arrive meanwhile are erased too. `wait`
    lets a queue's writer catch up after each pass and returns whether there is time for
    another. With `prune` the stores delete old versions even if nothing is found, for
    after a run that ended half-way. Raises Retryable: run it again to continue.
    """
    done = Erased()
    while done.passes < MAX_PASSES:
        is_first = done.passes == 0
        done.passes += 1
        if selector is not None and not is_first:
            _bar_statements(session, selector)
        one_pass = ErasurePass(
            session, first=is_first, prune=prune and is_first
        )
        found = one_pass.run()
        has_time = True
        if found or one_pass.rereads:
            has_time = wait()
        remove_from_plan(
            session.scope, one_pass.rereads, objects=session.objects
        )
        if not found:
            done.complete = True
            break
        for sort, ids in found.items():
            # Sets: a pass finds again what the writer has not deleted yet.
            done.found[sort] = done.found.get(sort, set()) | ids
        if not has_time:
            break
    return done


def _bar_statements(session: Session, selector: Selector) -> None:
    """Bar what the subject stated without a message since the erasure began.

    No time separates it from later statements: the writer's clock may be ahead.
    """
    own = find_statements(session, selector).own
    notes = find_notes(session.scope, selector, objects=session.objects)
    barred = tombstones.load(session.scope, objects=session.objects)
    said = (*own.tombstone_keys(), *notes.tombstone_keys())
    keys = [key for key in said if not barred.has_record(*key)]
    if keys:
        tombstones.bar_records(session.scope, keys, objects=session.objects)


def prune(session: Session) -> None:
    """Have every store of the agent delete old versions and unreferenced files.

    Raises Retryable.
    """
    token = uuid4().hex
    queue = session.queues.write
    for store in (*Grain, *Store):
        message = EraseRecords(session.scope, store)
        send_erasure(message, token, queue=queue, objects=session.objects)
