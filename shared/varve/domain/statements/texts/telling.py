"""Single statements and corrections, as conversations of one message.

The id of a correction's message names the record that it corrects. So a correction needs
no separate store: it is replayed, exported and erased as any other message is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from varve.domain.calendar import aware, iso
from varve.domain.conversation import Conversation, parse_conversation
from varve.domain.errors import Rejected
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record, turn_id
from varve.domain.summary import is_summary_id
from varve.domain.validation import valid_text

REMEMBERED = "remembered-"
CORRECTION = "correction-"
"""The prefixes of the ids of such conversations."""
CORRECTS = "corrects."
"""The prefix of a message's id before the id of the record that it corrects."""
_CORRECTABLE = ("fact-", "turn-")


@dataclass(frozen=True, slots=True)
class EndedMessage:
    """A message whose value of a triple or attribute has ended, and who said it.

    `key` is the attribute of a profile; "" if a triple has none.
    """

    conversation_id: str
    id: str
    user_id: str | None
    speaker: str | None
    value: str
    key: str


def build_remembered(
    text: str,
    at: datetime,
    *,
    user_id: str | None = None,
    name: str | None = None,
) -> Conversation:
    """Return one statement as a conversation.

    The same statement of the same user and day has the same id. Raises Rejected: names
    the field.
    """
    said = _read_statement(text)
    aware(at, "at")
    day = at.date().isoformat()
    id_ = REMEMBERED + digest(user_id or "", said, day, length=24)
    return _build(id_, "m1", said, at, user_id, name)


def build_correction(
    record: Record, text: str, at: datetime, speaker: str | None
) -> Conversation:
    """Return the correction of a fact or turn as a conversation of its speaker.

    The same correction of the same record has the same id. Raises Rejected: names the
    field.
    """
    return build_correction_of(record.id, text, at, record.user_id, speaker)


def build_correction_of(
    record_id: str,
    text: str,
    at: datetime,
    user_id: str | None,
    speaker: str | None,
    *,
    is_event: bool = False,
) -> Conversation:
    """Return the correction of the record with an id, as `build_correction`.

    As an event it is another one at another time: its sender does not read memory, and
    may return to earlier words. Raises Rejected: names the field; the id is no fact's or
    turn's.
    """
    require_correctable(record_id)
    said = _read_statement(text)
    told = [record_id, said, iso(at)] if is_event else [record_id, said]
    id_ = CORRECTION + digest(*told, length=24)
    return _build(id_, name_corrected(record_id), said, at, user_id, speaker)


def require_correctable(id_: str) -> None:
    """Raise Rejected if an id is no fact's or turn's, such as a summary's or a profile line's."""
    if is_summary_id(id_):
        raise Rejected(
            "id",
            f"{id_[:80]!r} is the id of a summary, which is made of what was told; "
            "say what holds with: remember TEXT",
        )
    if not id_.startswith(_CORRECTABLE):
        raise Rejected(
            "id",
            f"{id_[:80]!r} is not the id of a fact or turn; search for the statement to find one",
        )


def find_turn_id(record: Record) -> str:
    """Return the id of the turn that a fact was made from, or a turn's own id."""
    if record.memory_type is MemoryType.TURN or not record.source_ids:
        return record.id
    return turn_id(record.conversation_id or "", record.source_ids[-1])


def name_corrected(record_id: str) -> str:
    """Return the id of a message that corrects the record with an id."""
    return f"{CORRECTS}{record_id}"


def read_corrected(message_id: str) -> str | None:
    """Return the id of the record that a message corrects; None: it corrects none."""
    if not message_id.startswith(CORRECTS):
        return None
    return message_id.removeprefix(CORRECTS)


def list_corrected(message_ids: Iterable[str]) -> list[str]:
    """Return the ids of the records that messages correct."""
    return list(filter(None, map(read_corrected, message_ids)))


def find_corrected(
    message_ids: Iterable[str], get: Callable[[list[str]], list[Record]]
) -> list[Record]:
    """Return what messages correct, directly or through other corrections.

    `get` returns the records that exist.
    """
    found: dict[str, Record] = {}
    named = set(list_corrected(message_ids))
    while named:
        read = get(sorted(named))
        found.update((one.id, one) for one in read)
        cited = chain.from_iterable(one.source_ids for one in read)
        named = set(list_corrected(cited)) - found.keys()
    return list(found.values())


def _read_statement(text: str) -> str:
    said = valid_text(text, "text").strip()
    if not said:
        raise Rejected("text", "must say something")
    return said


def _build(
    id_: str,
    message_id: str,
    text: str,
    at: datetime,
    user_id: str | None,
    name: str | None,
) -> Conversation:
    message = {
        "id": message_id,
        "role": "user",
        "content": text,
        "timestamp": iso(at),
        "name": name,
    }
    given = {"conversationId": id_, "userId": user_id, "messages": [message]}
    return parse_conversation(given)
