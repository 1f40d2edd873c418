"""An erasure that is killed at any step loses nothing that others said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.builders import ACME, RecordingQueue
from tests.support.erasure_ordeal import Killed, MortalObjects, mortal
from tests.support.forgetful import Forgetful
from tests.support.usecase_drivers import run_reread
from tests.unit.test_forget import LIKES, NAMES, TOO, Beside, conversation
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.messages.erasure import Reread
from varve.usecases.erasure.rereads import (
    add_to_plan,
    read_plan,
    remove_from_plan,
)

NOW = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
SAID = [
    [
        (*LIKES, 0),
        (*TOO, 0),
        ("u-marco", "I live in {thing}town.", "plums", 1),
    ],
    [
        ("u-marco", "My sister likes {thing}.", "figs", 0),
        (*LIKES, 1),
        (*TOO, 1),
    ],
]


def a_mortal_memory() -> tuple[Forgetful, MortalObjects]:
    memory, objects = mortal(Beside())
    for number, said in enumerate(SAID):
        memory.ingest(conversation(number, said), now=NOW)
    return memory, objects


def the_memory_of_a_user_who_was_never_there(gone: str) -> Forgetful:
    control = Forgetful(Beside())
    for number, said in enumerate(SAID):
        control.ingest(conversation(number, said, without=gone), now=NOW)
    return control


def test_invariant_8_an_erasure_killed_at_any_step_loses_nothing_of_others() -> (
    None
):
    control = the_memory_of_a_user_who_was_never_there("u-dana")
    for step in range(200):
        memory, objects = a_mortal_memory()
        objects.left = step
        try:
            memory.forget(user="u-dana", now=NOW)
        except Killed:
            was_killed = True
        else:
            was_killed = False
        objects.left = None
        assert memory.forget(user="u-dana", now=NOW).complete
        assert memory.held(Grain.WORKING) == control.held(Grain.WORKING), step
        assert memory.known() == control.known(), step
        assert memory.said() == control.said(), step
        profiles = [memory.profile(user) for user in NAMES]
        assert profiles == [control.profile(user) for user in NAMES], step
        assert read_plan(ACME, objects=objects) == []
        if not was_killed:
            break
    assert not was_killed
    assert step > 20


def test_another_erasure_finishes_the_rereads_that_one_left_behind() -> None:
    memory, objects = a_mortal_memory()
    planned = the_step_after_the_first_deletion()
    objects.left = planned
    with pytest.raises(Killed):
        memory.forget(user="u-dana", now=NOW)
    objects.left = None
    assert read_plan(ACME, objects=objects)
    memory.forget(user="u-nobody", now=NOW + timedelta(minutes=1))
    control = the_memory_of_a_user_who_was_never_there("u-dana")
    assert memory.held(Grain.WORKING) == control.held(Grain.WORKING)


def the_step_after_the_first_deletion() -> int:
    """The first step at which a killed erasure has deleted a statement of another user."""
    for step in range(200):
        memory, objects = a_mortal_memory()
        before = len(memory.all(Grain.WORKING))
        objects.left = step
        with pytest.raises(Killed):
            memory.forget(user="u-dana", now=NOW)
        if len(memory.all(Grain.WORKING)) < before:
            return step
    raise AssertionError("no step deletes anything")


def test_the_writes_of_two_rereads_are_never_duplicates_for_the_queue() -> (
    None
):
    memory, _ = a_mortal_memory()
    sent: list[set[str]] = []
    for token in ("first", "second"):
        queue = RecordingQueue()
        learnt = {f"c0-m{index}": NOW for index in range(3)}
        run_reread(
            Reread(ACME, "c-0", learnt, frozenset(learnt), token),
            zone=memory.config.zone,
            extractor=Beside(),
            embedder=memory.embedder,
            queue=queue,
            objects=memory.objects,
        )
        sent.append(set(queue.deduplication_ids))
    assert len(sent[0]) >= 2
    assert not sent[0] & sent[1]


class DroppingQueue:
    """A queue that drops a message seen before, as SQS does for five minutes."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.dropped = 0
        self._seen: set[str] = set()

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        if deduplication_id in self._seen:
            self.dropped += 1
            return
        self._seen.add(deduplication_id)
        self._inner.send(body, group=group, deduplication_id=deduplication_id)


def test_no_message_of_a_repeated_erasure_is_a_duplicate_for_the_queue() -> (
    None
):
    """A killed run leaves its plan, and its messages are sent again within minutes."""
    memory, objects = a_mortal_memory()
    conversations = DroppingQueue(memory.conversations)
    writes = DroppingQueue(memory.writes)
    memory.conversations = conversations  # type: ignore[assignment]
    memory.writes = writes  # type: ignore[assignment]
    plan: list[Reread] = []
    for step in range(200):
        objects.left = step
        try:
            memory.forget(user="u-dana", now=NOW)
        except Killed:
            plan = read_plan(ACME, objects=objects) or plan
        else:
            break
    objects.left = None
    assert plan
    for user in ("u-dana", "u-priya", "u-dana"):
        add_to_plan(ACME, plan, objects=objects)
        assert memory.forget(user=user, now=NOW).complete
    assert (conversations.dropped, writes.dropped) == (0, 0)


def test_a_plan_keeps_what_was_known_before_facts_were_erased() -> None:
    objects = InMemoryObjects()
    early = Reread(
        ACME, "c-1", {"m1": NOW - timedelta(days=1)}, frozenset({"m1"})
    )
    late = Reread(ACME, "c-1", {"m1": NOW, "m2": NOW}, frozenset({"m2"}))
    other = Reread(ACME, "c-2", {}, frozenset())
    add_to_plan(ACME, [early], objects=objects)
    both = add_to_plan(ACME, [late, other], objects=objects)
    (merged,) = [one for one in both if one.conversation_id == "c-1"]
    assert merged.learnt == {"m1": NOW - timedelta(days=1), "m2": NOW}
    assert merged.remembered == {"m1", "m2"}
    remove_from_plan(ACME, [merged], objects=objects)
    assert read_plan(ACME, objects=objects) == [other]


def test_a_plan_that_cannot_be_read_stops_the_erasure() -> None:
    memory, objects = a_mortal_memory()
    objects.put(
        f"audit/{ACME.workspace}/rereads/{ACME.agent}.json", b"not JSON"
    )
    with pytest.raises(Retryable, match="rereads"):
        memory.forget(user="u-dana", now=NOW)
