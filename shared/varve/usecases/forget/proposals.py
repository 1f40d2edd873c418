"""The statements that a few words name, at every grain, for a person to choose from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from varve.domain.calendar import iso
from varve.domain.erasure import MessageKey, turn_ids
from varve.domain.errors import Rejected
from varve.domain.mention import in_words
from varve.domain.notes import Note
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType, Record
from varve.domain.statements.texts.parts import split_parts
from varve.domain.summary import key_facts_from_json
from varve.domain.text import passages
from varve.domain.triple import Op, Triple
from varve.usecases.erasure.sweep import (
    TimelineLine,
    read_profile_entries,
    read_timeline,
)
from varve.usecases.notes import read_all_notes
from varve.usecases.session import Session
from varve.usecases.whole_stores import read_summaries, read_working


@dataclass(frozen=True, slots=True)
class Proposal:
    """One statement to choose: `erases` are the ids of the records that hold its words.

    `memory_type` is fact, turn, note, profile, triple or summary. `users` are the users whose
    memory it is in. `also_in` are the ids of the others that say the same, or that the same
    messages made. Without `erases` it can only go with its user. `speaker` says a turn. A
    triple or a profile entry states `value` of its `label`; both are "" for others.
    `whole_messages` are the words of its messages that say more, and go with it.
    """

    id: str
    memory_type: str
    date: str
    content: str
    messages: frozenset[MessageKey]
    erases: tuple[str, ...]
    users: frozenset[str]
    likeness: float = 0.0
    also_in: tuple[str, ...] = ()
    speaker: str = ""
    label: str = ""
    value: str = ""
    whole_messages: tuple[str, ...] = ()

    @property
    def tellings(self) -> int:
        """How many messages tell it; 1 if no message is known."""
        return max(1, len(self.messages))

    def to_dict(self, number: int) -> dict[str, object]:
        """Return it as JSON values with its number."""
        return {
            "number": number,
            "id": self.id,
            "memoryType": self.memory_type,
            "date": self.date,
            "content": self.content,
            "likeness": round(self.likeness, 2),
            "tellings": self.tellings,
            "alsoIn": list(self.also_in),
            "wholeMessages": list(self.whole_messages),
            "erases": list(self.erases),
        }


def list_whole_messages(
    first: Proposal, tellings: Iterable[Proposal]
) -> tuple[str, ...]:
    """Return the words of messages that say more than the first telling of a statement."""
    found: dict[str, None] = {}
    for one in tellings:
        words = one.content.removeprefix(f"{one.speaker}: ")
        is_more = one.speaker and len(split_parts(words)) > 1
        if is_more and one.content != first.content:
            found[one.content] = None
    return tuple(found)


def choose(
    proposals: Sequence[Proposal], only: Sequence[int] | None
) -> list[Proposal]:
    """Return the proposals with these numbers, from 1; with None all that can be erased.

    Raises Rejected: there is no such number, or it names nothing that can be erased.
    """
    if only is None:
        return [one for one in proposals if one.erases]
    chosen = []
    for number in only:
        if not 1 <= number <= len(proposals):
            raise Rejected(
                "only", f"{number} is not from 1 to {len(proposals)}"
            )
        one = proposals[number - 1]
        if not one.erases:
            raise Rejected(
                "only", f"{number} has no message left; forget its user"
            )
        chosen.append(one)
    return chosen


def list_chosen(
    proposals: Sequence[Proposal], only: Sequence[int] | None
) -> tuple[str, ...]:
    """Return the ids to erase for the proposals with these numbers. Raises as `choose`."""
    ids: dict[str, None] = {}
    for one in choose(proposals, only):
        ids.update(dict.fromkeys(one.erases))
    return tuple(ids)


def read_statements(session: Session) -> Iterator[Proposal]:
    """Yield every statement of the agent: words, key facts, triples and profiles."""
    scope = session.scope
    by_message: dict[MessageKey, list[str]] = {}
    yield from _read_words(session, by_message)
    for _, summary in read_summaries(scope, session.records):
        yield from _of_summary(summary, by_message)
    for triple in session.graph.triples(scope):
        yield _of_triple(triple, by_message)
    for entry in read_profile_entries(scope, objects=session.objects):
        yield _of_entry(entry, by_message)
    for note in read_all_notes(scope, objects=session.objects):
        yield from _of_note(note)


def _read_words(
    session: Session, by_message: dict[MessageKey, list[str]]
) -> Iterator[Proposal]:
    """Yield facts, turns and, of expired turns, the messages of the timeline.

    Notes the records of each message in `by_message`.
    """
    scope = session.scope
    for record in read_working(scope, session.records):
        one = _of_record(record)
        for key in one.messages:
            by_message.setdefault(key, []).append(record.id)
        yield one
    for line in chain(*read_timeline(scope, objects=session.objects).values()):
        turns = turn_ids(line.conversation_id, line.message)
        if turns and line.message_key not in by_message:
            by_message[line.message_key] = turns
            yield _of_line(line, turns)


def _users(*ids: str | None) -> frozenset[str]:
    return frozenset(id_ for id_ in ids if id_ is not None)


def _of_entry(
    entry: ProfileEntry, by_message: dict[MessageKey, list[str]]
) -> Proposal:
    keys = frozenset(
        (entry.conversation_id or "", id_) for id_ in entry.message_ids
    )
    return Proposal(
        id=entry.id,
        memory_type="profile",
        date=iso(entry.event_time)[:10],
        content=f"{entry.subject or entry.user_id} {entry.key}: {entry.value}",
        messages=keys,
        erases=_ids_of(keys, by_message),
        users=_users(entry.user_id),
        label=entry.key,
        value=entry.value,
    )


def _of_record(record: Record) -> Proposal:
    keys = frozenset(
        (record.conversation_id or "", id_) for id_ in record.source_ids
    )
    is_turn = record.memory_type is MemoryType.TURN
    return Proposal(
        id=record.id,
        memory_type=str(record.memory_type),
        date=iso(record.event_time)[:10],
        content=record.content,
        messages=keys,
        erases=(record.id,),
        users=_users(record.user_id),
        speaker=record.about or "" if is_turn else "",
    )


def _of_note(note: Note) -> Iterator[Proposal]:
    """Yield the passages of all versions of a note, which go together."""
    for version in note.kept:
        for passage in passages(version.content):
            yield Proposal(
                id=note.id,
                memory_type="note",
                date=iso(version.at)[:10],
                content=f"{note.path}: {passage}",
                messages=frozenset([("", note.id)]),
                erases=(note.id,),
                users=_users(note.user_id),
            )


def _of_line(line: TimelineLine, turns: Sequence[str]) -> Proposal:
    message = line.message
    own_name = None
    if message.role == "user" and len(line.users) == 1:
        own_name = next(iter(line.users))
    # As the turn was called before it expired.
    speaker = message.name or own_name or message.role.capitalize()
    return Proposal(
        id=turns[0],
        memory_type="turn",
        date=line.day,
        content=f"{speaker}: {message.text}",
        messages=frozenset([line.message_key]),
        erases=tuple(turns),
        users=line.users,
        speaker=speaker,
    )


def _of_summary(
    summary: Record, by_message: dict[MessageKey, list[str]]
) -> Iterator[Proposal]:
    """Yield the key facts of a summary, which outlast their records and messages."""
    for fact in key_facts_from_json(summary.key_facts):
        keys = frozenset(
            (fact.conversation_id or "", id_) for id_ in fact.message_ids
        )
        yield Proposal(
            id=fact.id,
            memory_type="fact",
            date=summary.period,
            content=fact.content,
            messages=keys,
            erases=(fact.id, *_ids_of(keys, by_message)),
            users=_users(summary.user_id),
        )


def _of_triple(
    triple: Triple, by_message: dict[MessageKey, list[str]]
) -> Proposal:
    users = _users(*(one.user_id for one in triple.evidence))
    last = triple.evidence[-1]
    # What closed it tells another value, unless it names both.
    names_both = last.op is not Op.DELETE and bool(last.replaces)
    stating = (*triple.stating, last) if names_both else triple.stating
    keys: set[MessageKey] = set()
    for operation in stating:
        keys.update(operation.messages)
    return Proposal(
        id=f"triple-{triple.id}",
        memory_type="triple",
        date=iso(triple.valid_at)[:10],
        content=in_words(triple),
        messages=frozenset(keys),
        erases=_ids_of(keys, by_message),
        users=users,
        label=triple.label,
        value=triple.stating[-1].object if triple.stating else "",
    )


def _ids_of(
    keys: Iterable[MessageKey], by_message: dict[MessageKey, list[str]]
) -> tuple[str, ...]:
    """Return the ids of the records that hold the messages' words."""
    found: list[str] = []
    for key in sorted(keys):
        found += by_message.get(key, [])
    return tuple(dict.fromkeys(found))
