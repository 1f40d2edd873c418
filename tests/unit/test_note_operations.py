"""Operations on notes: strict versions, and one effect however often a change comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count, islice
from typing import Any

import pytest

from tests.support.erasure_ordeal import Killed, MortalObjects
from tests.support.sessions import session_over
from varve import NoteConflict, Rejected
from varve.adapters.in_memory.objects import InMemoryObjects
from varve.domain.identity import Scope
from varve.domain.note_operations import (
    MAX_ENTRIES,
    NoteChange,
    NoteOperation,
    OperationReused,
    decode_journal,
    journal_key,
)
from varve.domain.notes import MAX_VERSIONS, is_note_key
from varve.usecases.note_operations import NoteEdit, change_note, find_change
from varve.usecases.notes import get_note, list_notes, read_versions
from varve.usecases.session import Session

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
SCOPE = Scope("acme", "support")
PATH = "souza.md"
MINE = "Dana Souza collects xylophones.\n"
OTHERS = "Marco prefers harpsichords.\n"
APPEND = NoteOperation("run-1:call-1", "append")
DELETE = NoteOperation("run-1:call-2", "delete")


class Queue:
    """A queue that counts its messages; its sender may be killed around each."""

    def __init__(self, step: Callable[[], None] = lambda: None) -> None:
        self.sent = 0
        self._step = step

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self._step()
        self.sent += 1
        self._step()


def open_session(objects: Any, queue: Any = None) -> Session:
    return session_over(SCOPE, NOW, objects=objects, queue=queue or Queue())


@pytest.fixture
def session() -> Session:
    return open_session(InMemoryObjects())


def write(
    session: Session,
    content: str | None,
    version: str | None,
    operation: NoteOperation | None = None,
) -> NoteChange:
    return change_note(session, NoteEdit(PATH, content, version, operation))


def append(session: Session, text: str, operation: NoteOperation) -> None:
    """Do as a caller that reads, changes, and reads again after a conflict."""
    while find_change(session, operation) is None:
        note = get_note(session, PATH)
        try:
            if note is None:
                write(session, text, None, operation)
            else:
                content = note.content + text
                write(session, content, note.version, operation)
        except NoteConflict:
            continue


def journals(objects: Any) -> dict[str, bytes]:
    keys = [info.key for info in objects.list("notes")]
    return {key: objects.get(key).data for key in keys if not is_note_key(key)}


def test_a_change_needs_the_current_version_even_for_the_same_content(
    session: Session,
) -> None:
    first = write(session, MINE, None)
    assert (first.replayed, first.existed) == (False, False)
    with pytest.raises(NoteConflict):
        write(session, MINE, None)
    second = write(session, MINE, first.version)
    assert second.version != first.version
    assert second.existed
    for stale in (None, first.version):
        for content in (MINE, None):
            with pytest.raises(NoteConflict):
                write(session, content, stale)
    assert write(session, None, second.version) == NoteChange(
        None, replayed=False, existed=True
    )
    # A version of a note that was deleted never comes back.
    assert write(session, MINE, None).version != first.version
    assert len(read_versions(session, PATH)) == 1


def test_a_note_that_is_not_there_can_be_deleted(session: Session) -> None:
    gone = NoteChange(None, replayed=False, existed=False)
    assert write(session, None, None) == gone
    assert write(session, None, None, DELETE) == gone
    assert find_change(session, DELETE) == NoteChange(None, True, False)
    with pytest.raises(NoteConflict):
        write(session, None, "0123456789abcdef")


def test_an_operation_is_replayed_after_changes_and_deletion(
    session: Session,
) -> None:
    assert find_change(session, APPEND) is None
    first = write(session, MINE, None, APPEND)
    again = NoteChange(first.version, replayed=True, existed=False)
    assert write(session, OTHERS, "stale", APPEND) == again
    assert write(session, None, first.version, DELETE).existed
    assert get_note(session, PATH) is None
    assert find_change(session, APPEND) == again
    assert write(session, MINE, None, APPEND) == again
    assert write(session, None, "stale", DELETE).replayed
    assert get_note(session, PATH) is None


def test_a_version_names_the_operation_that_wrote_it(session: Session) -> None:
    first = write(session, MINE, None, APPEND)
    write(session, OTHERS, first.version)
    kept = read_versions(session, PATH)
    assert [one.operation for one in kept] == [APPEND.id, None]
    assert "operation" not in kept[1].to_dict()


def test_an_id_with_another_fingerprint_is_refused_before_anything_else(
    session: Session,
) -> None:
    write(session, MINE, None, APPEND)
    other = NoteOperation(APPEND.id, "other")
    with pytest.raises(OperationReused):
        find_change(session, other)
    with pytest.raises(OperationReused):
        write(session, OTHERS, "stale", other)
    for id_ in ("", "x" * 201, "\ud800"):
        with pytest.raises(Rejected, match=r"operation\.id"):
            NoteOperation(id_, "f")


def test_two_owners_may_use_one_id(session: Session) -> None:
    write(session, MINE, None, APPEND)
    assert find_change(session, APPEND, "u-1") is None
    edit = NoteEdit(PATH, OTHERS, None, APPEND, "u-1")
    assert not change_note(session, edit).replayed


STEPS = 5
"""What a write changes: journal, note, before and after the message, journal."""


def kill_at(step: int, change: Callable[[Session], Any]) -> MortalObjects:
    """Return the objects that a process leaves which dies before a step of the change."""
    objects = MortalObjects()
    write(open_session(objects), OTHERS, None)
    objects.left = step
    with pytest.raises(Killed):
        change(open_session(objects, Queue(objects.step)))
    objects.left = None
    return objects


def append_mine(session: Session) -> None:
    append(session, MINE, APPEND)


def delete(session: Session) -> None:
    while find_change(session, DELETE) is None:
        note = get_note(session, PATH)
        version = None if note is None else note.version
        try:
            write(session, None, version, DELETE)
        except NoteConflict:
            continue


def test_a_write_has_as_many_steps_as_the_tests_kill_it_at() -> None:
    objects = MortalObjects()
    objects.left = STEPS
    append(open_session(objects, Queue(objects.step)), MINE, APPEND)
    assert objects.left == 0


@pytest.mark.parametrize("step", range(STEPS))
def test_a_write_that_is_killed_and_repeated_is_there_once_and_indexed(
    step: int,
) -> None:
    objects = kill_at(step, append_mine)
    queue = Queue()
    session = open_session(objects, queue)
    append_mine(session)
    note = get_note(session, PATH)
    assert note is not None
    assert note.content == OTHERS + MINE
    assert note.current.number == 2
    assert queue.sent == 1
    append_mine(session)
    assert get_note(session, PATH) == note


@pytest.mark.parametrize("step", range(STEPS))
def test_a_killed_write_is_there_once_though_another_came_after_it(
    step: int,
) -> None:
    session = open_session(kill_at(step, append_mine))
    append(session, OTHERS, NoteOperation("run-2", "append"))
    append_mine(session)
    note = get_note(session, PATH)
    assert note is not None
    assert note.content.count(MINE) == 1


@pytest.mark.parametrize("step", range(2, STEPS))
def test_a_killed_write_that_was_asked_for_once_outlives_its_note(
    step: int,
) -> None:
    session = open_session(kill_at(step, append_mine))
    known = find_change(session, APPEND)
    assert known is not None
    write(session, None, known.version)
    append_mine(session)
    assert get_note(session, PATH) is None


@pytest.mark.parametrize("step", range(STEPS))
def test_a_killed_deletion_is_repeated(step: int) -> None:
    session = open_session(kill_at(step, delete))
    delete(session)
    assert get_note(session, PATH) is None
    assert find_change(session, DELETE) == NoteChange(
        None, replayed=True, existed=True
    )
    # A note that is written afterwards stays.
    write(session, MINE, None)
    delete(session)
    assert get_note(session, PATH) is not None


class RacedObjects(InMemoryObjects):
    """Objects for which another process does something before the n-th put."""

    def __init__(self) -> None:
        super().__init__()
        self.left = -1
        self.race: Callable[[], None] = lambda: None

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        self.left -= 1
        if self.left == 0:
            self.race()
        return super().put_if(key, data, etag)


@pytest.mark.parametrize("put", [1, 2, 3])
@pytest.mark.parametrize("change", [append_mine, delete])
def test_two_processes_with_one_operation_have_its_effect_once(
    change: Callable[[Session], None], put: int
) -> None:
    objects = RacedObjects()
    session = open_session(objects)
    write(session, OTHERS, None)
    objects.race = lambda: change(open_session(objects))
    objects.left = put
    change(session)
    assert objects.left < 0
    note = get_note(session, PATH)
    text = "" if note is None else note.content
    assert text == ("" if change is delete else OTHERS + MINE)


def test_a_deletion_that_another_process_has_done_spares_a_later_note() -> (
    None
):
    objects = RacedObjects()
    session = open_session(objects)
    write(session, OTHERS, None)

    def delete_and_write() -> None:
        delete(open_session(objects))
        write(session, MINE, None)

    objects.race = delete_and_write
    objects.left = 1
    delete(session)
    note = get_note(session, PATH)
    assert note is not None
    assert note.content == MINE


@pytest.mark.parametrize("put", [1, 2, 3])
def test_no_change_is_lost_to_another_operation(put: int) -> None:
    objects = RacedObjects()
    session = open_session(objects)
    other = NoteOperation("run-2", "append")
    objects.race = lambda: append(open_session(objects), OTHERS, other)
    objects.left = put
    append_mine(session)
    note = get_note(session, PATH)
    assert note is not None
    assert sorted(note.content.splitlines()) == sorted(
        (MINE + OTHERS).splitlines()
    )


def test_a_journal_keeps_a_bounded_number_of_hashes(session: Session) -> None:
    version = None
    operations = list(islice(find_operations("0"), MAX_ENTRIES + 3))
    for operation in operations:
        version = write(session, MINE, version, operation).version
    ((key, data),) = journals(session.objects).items()
    assert len(decode_journal(key, data)) == MAX_ENTRIES
    known = [one for one in operations if find_change(session, one)]
    assert known == operations[-MAX_ENTRIES:]
    for word in ("souza", "Dana", "xylophones", "run-", "write"):
        assert word.encode() not in data
    assert len(read_versions(session, PATH)) == MAX_VERSIONS


def find_operations(shard: str) -> Iterator[NoteOperation]:
    """Yield operations of one journal."""
    for number in count():
        operation = NoteOperation(f"run-{number}", "write")
        if journal_key(SCOPE, operation, None).endswith(f"-{shard}.json"):
            yield operation


def test_a_journal_is_no_note(session: Session) -> None:
    write(session, MINE, None, APPEND)
    assert [one.path for one in list_notes(session)] == [PATH]
