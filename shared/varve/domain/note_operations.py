"""Operations on notes: a program that repeats one changes nothing a second time.

A journal keeps an entry for each of the last operations of one owner of notes.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from varve.domain.damage import intact
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, digest
from varve.domain.notes import note_folder
from varve.domain.validation import valid_text

MAX_ID = 200
"""The longest id of an operation, in characters."""
MAX_ENTRIES = 64
"""Entries that a journal keeps. An owner of notes has 16 journals."""


class OperationReused(Rejected):
    """The operation's id is known with another fingerprint: it is another change."""

    def __init__(self) -> None:
        super().__init__(
            "operation", "has an id that another change has used before"
        )


@dataclass(frozen=True, slots=True)
class NoteOperation:
    """The name of one change, the same in each repetition; `fingerprint` is of its arguments.

    Raises Rejected: the id is empty, or has more than 200 characters.
    """

    id: str
    fingerprint: str

    def __post_init__(self) -> None:
        if not 0 < len(valid_text(self.id, "operation.id")) <= MAX_ID:
            raise Rejected(
                "operation.id", f"must have 1 to {MAX_ID} characters"
            )
        valid_text(self.fingerprint, "operation.fingerprint")


@dataclass(frozen=True, slots=True)
class NoteChange:
    """The outcome of a change: the version it made, and whether there was a note before.

    `version` is None after a deletion. `replayed`: the operation was done before.
    """

    version: str | None
    replayed: bool
    existed: bool


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """What stays of an operation: hashes that only its id, which is not kept, explains.

    So an entry that outlives its note confirms no guess at a path or a content. Until it
    is `done`, the change is announced, and the note tells whether it has happened.
    """

    id: str
    fingerprint: str
    note: str
    version: str | None
    existed: bool
    done: bool

    @property
    def replay(self) -> NoteChange:
        """The outcome for a repetition."""
        return NoteChange(self.version, replayed=True, existed=self.existed)


Journal = tuple[JournalEntry, ...]
"""The entries of a journal, the oldest first."""


def make_entry(
    operation: NoteOperation, path: str, change: NoteChange
) -> JournalEntry:
    """Return the entry that announces a change of the note at the path."""
    return JournalEntry(
        id=_entry_id(operation),
        fingerprint=digest(operation.id, operation.fingerprint, length=32),
        note=hash_path(operation, path),
        version=change.version,
        existed=change.existed,
        done=False,
    )


def hash_path(operation: NoteOperation, path: str) -> str:
    """Return how an operation's entry names its note."""
    return digest(operation.id, path, length=32)


def find_entry(
    journal: Iterable[JournalEntry], operation: NoteOperation
) -> JournalEntry | None:
    """Return the operation's entry, or None. Raises OperationReused."""
    id_ = _entry_id(operation)
    mark = digest(operation.id, operation.fingerprint, length=32)
    for entry in journal:
        if entry.id == id_:
            if entry.fingerprint != mark:
                raise OperationReused
            return entry
    return None


def keep_entry(journal: Journal, entry: JournalEntry) -> Journal:
    """Return the journal with the entry as its newest, in place of one with the same id."""
    others = tuple(one for one in journal if one.id != entry.id)
    return (*others, entry)[-MAX_ENTRIES:]


def journal_key(
    scope: Scope, operation: NoteOperation, user_id: str | None
) -> str:
    """Return the key of the journal that holds the operation's entry.

    Its name begins with a dot, as that of no note's object does.
    """
    shard = _entry_id(operation)[0]
    return f"{note_folder(scope, user_id)}/.operations-{shard}.json"


def encode_journal(journal: Journal) -> bytes:
    """Return the journal's object, as JSON."""
    return json.dumps([asdict(entry) for entry in journal]).encode()


def decode_journal(key: str, data: bytes) -> Journal:
    """Return the journal of an object's bytes. Raises Damaged: names the key."""
    with intact(key):
        return tuple(JournalEntry(**entry) for entry in json.loads(data))


def _entry_id(operation: NoteOperation) -> str:
    return digest("operation", operation.id, length=32)
