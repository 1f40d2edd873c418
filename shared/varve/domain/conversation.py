"""The contract for what comes in: a conversation and its messages, validated and given their ids."""

import json
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from varve.domain import calendar, identity
from varve.domain.errors import Rejected
from varve.domain.validation import rejected, valid_text

MAX_MESSAGE_BYTES = 1_048_576
MAX_MESSAGES = 10_000

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
OUTCOMES = ("SUCCESS", "FAILURE", "PARTIAL", "UNKNOWN")
SPOKEN: frozenset[str] = frozenset({"user", "assistant"})


def _instant(value: object) -> object:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("must have a time zone")
        value = value.isoformat()
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 date and time, as a string")
    try:
        return calendar.parse_instant(value)
    except ValueError as error:
        raise ValueError(f"{value[:40]!r} is not an ISO 8601 date and time") from error


def _path_id(value: str) -> str:
    return _checked(identity.path_id, value)


def _reference(value: str) -> str:
    return _checked(identity.reference, value)


def _checked(check: Any, value: str) -> str:
    """The id check's reason as the ValueError pydantic wants; pydantic knows the field's path."""
    try:
        check(value, "")
    except Rejected as error:
        raise ValueError(error.reason) from error
    return value


def _name(value: str) -> str:
    if len(value) > 200 or not value.isprintable():
        raise ValueError("must be at most 200 printable characters")
    return value


def _label(value: str) -> str:
    if not 1 <= len(value.strip()) <= 64 or not value.isprintable():
        raise ValueError("must be 1 to 64 printable characters")
    return value


def _outcome(value: str) -> str:
    if value.upper() not in OUTCOMES:
        raise ValueError(f"must be one of {', '.join(OUTCOMES)}, not {value[:40]!r}")
    return value


PathId = Annotated[str, AfterValidator(_path_id)]
Reference = Annotated[str, AfterValidator(_reference)]
Name = Annotated[str, AfterValidator(_name)]
Label = Annotated[str, AfterValidator(_label)]
OutcomeName = Annotated[str, AfterValidator(_outcome)]
Instant = Annotated[datetime, BeforeValidator(_instant)]


class _Contract(BaseModel):
    """Camel case outside, snake case inside; what the contract does not name is kept as it came."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        strict=True,
        frozen=True,
    )

    @property
    def extra(self) -> dict[str, Any]:
        """What the contract does not name, as it came."""
        return dict(self.model_extra or {})


class Message(_Contract):
    """One OpenAI chat message as it is, with an optional id and time of its own.

    `state` is what the agent is doing (debugging, planning, any label), `signal` where an episode begins
    or ends, `outcome` how it ended, in either case of letters.
    """

    role: Role
    content: str | list[dict[str, Any]] | None = None
    id: Reference | None = None
    name: Name | None = None
    timestamp: Instant | None = None
    user_id: Reference | None = None
    state: Label | None = None
    signal: Literal["episode_start", "episode_end"] | None = None
    outcome: OutcomeName | None = None

    @property
    def text(self) -> str:
        """The words: a string as it is, of a list of content parts those of type text, a line each."""
        if isinstance(self.content, list):
            texts = (
                part.get("text")
                for part in self.content
                if part.get("type") in _TEXT_PARTS
            )
            return "\n".join(text for text in texts if isinstance(text, str))
        return self.content or ""


_TEXT_PARTS = ("text", "input_text", "output_text")


class Conversation(_Contract):
    """Messages of one conversation, in order; the whole of it or what has come since."""

    conversation_id: PathId
    messages: list[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    workspace_id: PathId | None = None
    agent_id: PathId | None = None
    user_id: Reference | None = None
    started_at: Instant | None = None

    def in_scope(self, scope: identity.Scope) -> "Conversation":
        """The same conversation with workspace and agent filled in.

        Raises Rejected: it names another workspace or agent than the scope.
        """
        _agree("workspaceId", self.workspace_id, scope.workspace)
        _agree("agentId", self.agent_id, scope.agent)
        return self.model_copy(
            update={"workspace_id": scope.workspace, "agent_id": scope.agent}
        )

    @property
    def scope(self) -> identity.Scope:
        """Workspace and agent. Raises Rejected: one of them is missing."""
        if self.workspace_id is None:
            raise Rejected("workspaceId", "is missing")
        if self.agent_id is None:
            raise Rejected("agentId", "is missing")
        return identity.Scope(self.workspace_id, self.agent_id)

    def as_json(self) -> dict[str, Any]:
        """The contract's JSON shape; what was not given is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def parse_conversation(value: object) -> Conversation:
    """A conversation from decoded JSON (or one that is a Conversation already).

    Every message comes back with an id: its own, or one made from the conversation, its role, name,
    words and time (and, among equals, its place), so that sending it again gives the same id.
    Raises Rejected: names the first faulty field.
    """
    if isinstance(value, Conversation):
        value = value.as_json()
    if not isinstance(value, Mapping):
        raise Rejected(
            "conversation", f"must be a JSON object, not {_json_type(value)}"
        )
    try:
        conversation = Conversation.model_validate(dict(value))
    except ValidationError as error:
        raise rejected(error) from error
    for index, message in enumerate(conversation.messages):
        _check_content(message, f"messages[{index}].content")
    if not _storable(conversation):
        faulty = (
            f"messages[{i}]"
            for i, m in enumerate(conversation.messages)
            if not _storable(m)
        )
        raise Rejected(
            next(faulty, "conversation"),
            "is not valid Unicode text or is nested too deeply",
        )
    return conversation.model_copy(update={"messages": _identified(conversation)})


def reworded(
    conversation: Conversation, change: Callable[[object], object]
) -> Conversation:
    """The conversation with its messages' contents, and all that the contract does not name, changed.

    `change` takes and returns JSON values. Ids, names and times stay, but for the ids that were made from
    words that have changed: a hash of them would tell them to whoever tries out telephone numbers.
    """
    extra = _changed(conversation.extra, change)
    messages = [_reworded(message, change) for message in conversation.messages]
    if messages == conversation.messages:
        return conversation.model_copy(update=extra) if extra else conversation
    taken: set[str] = set()
    for index, before in enumerate(conversation.messages):
        if _is_made(before, conversation.conversation_id):
            messages[index] = _renamed(
                messages[index], conversation.conversation_id, taken
            )
        taken.add(str(messages[index].id))
    _refuse_repeats(messages)
    return conversation.model_copy(update={**extra, "messages": messages})


def _reworded(message: Message, change: Callable[[object], object]) -> Message:
    changed = _changed({"content": message.content, **message.extra}, change)
    return message.model_copy(update=changed) if changed else message


def _renamed(message: Message, conversation_id: str, taken: Container[str]) -> Message:
    """The message with an id made from its words, numbered as it was or, if need be, higher."""
    key, number = (
        _content_key(conversation_id, message),
        int(str(message.id).rpartition("-")[2]),
    )
    while f"{key}-{number}" in taken:
        number += 1
    return message.model_copy(update={"id": f"{key}-{number}"})


def _changed(
    extra: Mapping[str, Any], change: Callable[[object], object]
) -> dict[str, object]:
    """Those of the values that are not what they were."""
    changed = ((name, value, change(value)) for name, value in extra.items())
    return {name: after for name, before, after in changed if after != before}


def _is_made(message: Message, conversation_id: str) -> bool:
    """Whether the message's id was made from its words."""
    key, _, number = str(message.id).rpartition("-")
    return number.isdecimal() and key == _content_key(conversation_id, message)


def _check_content(message: Message, field: str) -> None:
    if message.content is None and message.role in {"user", "system", "developer"}:
        raise Rejected(field, "is missing")
    size = len(valid_text(message.text, field).encode())
    if size > MAX_MESSAGE_BYTES:
        raise Rejected(
            field,
            f"is {size:,} bytes of text; the limit is {MAX_MESSAGE_BYTES:,} (1 MB)",
        )


def _storable(part: _Contract) -> bool:
    """Whether it can be written as JSON and read again, with all that the contract does not name."""
    try:
        value = part.model_dump(mode="json", by_alias=True, exclude_unset=True)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _identified(conversation: Conversation) -> list[Message]:
    """The messages, each with an id; two messages with one id are refused."""
    alike: Counter[str] = Counter()
    identified = []
    for message in conversation.messages:
        if message.id is None:
            key = _content_key(conversation.conversation_id, message)
            alike[key] += 1
            message = message.model_copy(update={"id": f"{key}-{alike[key]}"})
        identified.append(message)
    _refuse_repeats(identified)
    return identified


def _content_key(conversation_id: str, message: Message) -> str:
    time = calendar.iso(message.timestamp) if message.timestamp else ""
    return identity.digest(
        conversation_id, message.role, message.name or "", message.text, time, length=16
    )


def _refuse_repeats(messages: Sequence[Message]) -> None:
    seen: set[str | None] = set()
    for index, message in enumerate(messages):
        if message.id in seen:
            raise Rejected(
                f"messages[{index}].id", f"{message.id!r} is used by an earlier message"
            )
        seen.add(message.id)


def _agree(field: str, given: str | None, expected: str) -> None:
    if given is not None and given != expected:
        raise Rejected(field, f"is {given!r}, but this memory belongs to {expected!r}")


def _json_type(value: object) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}
    return names.get(type(value), "a number")
