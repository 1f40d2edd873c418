"""The input contract: a conversation and its messages, validated, each with an id."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
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
from varve.domain.metadata import Metadata
from varve.domain.validation import (
    build_converter,
    build_validator,
    rejected,
    valid_text,
)

MAX_MESSAGE_BYTES = 1_048_576
MAX_MESSAGES = 10_000

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
OUTCOMES = ("SUCCESS", "FAILURE", "PARTIAL", "UNKNOWN")
SPOKEN: frozenset[str] = frozenset({"user", "assistant"})


def _parse_instant(value: object) -> object:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("must have a time zone")
        value = value.isoformat()
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 date and time, as a string")
    return _convert_instant(value)


_convert_instant = build_converter(calendar.parse_instant_field)


def _check_name(value: str, field: str) -> None:
    if len(value) > 200 or not value.isprintable():
        raise Rejected(field, "must be at most 200 printable characters")


MAX_LABEL_CHARACTERS = 64


def _check_label(value: str, field: str) -> None:
    if (
        not 1 <= len(value.strip()) <= MAX_LABEL_CHARACTERS
        or not value.isprintable()
    ):
        raise Rejected(
            field, f"must be 1 to {MAX_LABEL_CHARACTERS} printable characters"
        )


def check_outcome(value: object, field: str) -> None:
    """Check that the value is the name of an outcome, in upper or lower case.

    Raises Rejected: it is not.
    """
    if not isinstance(value, str) or value.upper() not in OUTCOMES:
        raise Rejected(
            field,
            f"must be one of {', '.join(OUTCOMES)}, not {str(value)[:40]!r}",
        )


PathId = Annotated[str, AfterValidator(build_validator(identity.path_id))]
Reference = Annotated[str, AfterValidator(build_validator(identity.reference))]
Name = Annotated[str, AfterValidator(build_validator(_check_name))]
Label = Annotated[str, AfterValidator(build_validator(_check_label))]
OutcomeName = Annotated[str, AfterValidator(build_validator(check_outcome))]
Instant = Annotated[datetime, BeforeValidator(_parse_instant)]


class _Contract(BaseModel):
    """A model with camel case names in JSON that keeps unknown fields unchanged."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        strict=True,
        frozen=True,
    )

    @property
    def extra(self) -> dict[str, Any]:
        """The fields that the contract does not name, unchanged."""
        return dict(self.model_extra or {})


class Message(_Contract):
    """One OpenAI chat message, optionally with an id and a time.

    `state` is what the agent is doing (debugging, planning, any label). `signal` marks
    where an episode begins or ends. `outcome` is how it ended, in upper or lower case.
    `metadata` is what search may filter by; that of the conversation holds for each message.
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
    metadata: Metadata = None

    @property
    def text(self) -> str:
        """The words: the string, or the text parts of a list joined by line ends."""
        if not isinstance(self.content, list):
            return self.content or ""
        parts = (
            part for part in self.content if part.get("type") in _TEXT_PARTS
        )
        texts = [part.get("text") for part in parts]
        return "\n".join(text for text in texts if isinstance(text, str))


_TEXT_PARTS = ("text", "input_text", "output_text")


def owner_of_each(
    said: Iterable[tuple[str, str | None, str | None]],
) -> list[str | None]:
    """Return the user whose memory each message belongs to; None: no user's.

    A message is given by its role, its own user and its conversation's user. An answer
    without its own user is likely to repeat the words that it answers, so it belongs
    to the user of the last user message before it.
    """
    owners: list[str | None] = []
    asking: str | None = None
    for role, own, shared in said:
        if role == "user":
            asking = own or shared
            owners.append(asking)
        else:
            owners.append(own or asking or shared)
    return owners


class Conversation(_Contract):
    """The messages of one conversation in order: all of them, or the newest ones."""

    conversation_id: PathId
    messages: list[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    workspace_id: PathId | None = None
    agent_id: PathId | None = None
    user_id: Reference | None = None
    started_at: Instant | None = None
    metadata: Metadata = None

    def in_scope(self, scope: identity.Scope) -> "Conversation":
        """Return the conversation with workspace and agent filled in.

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
        """Return the contract's JSON form, without the fields that were not given."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def parse_conversation(value: object) -> Conversation:
    """Return the conversation from decoded JSON or from a Conversation.

    Every message of the result has an id. A message without one gets a hash of the
    conversation's id and its own role, name, words and time, with a number among equals.
    So the same message, sent again, gets the same id.
    Raises Rejected: names the first faulty field.
    """
    conversation = _validate(value)
    for index, message in enumerate(conversation.messages):
        _check_content(message, f"messages[{index}].content")
    if not _is_storable(conversation):
        raise Rejected(
            _find_unstorable(conversation),
            "is not valid Unicode text or is nested too deeply",
        )
    messages = _with_shared_metadata(
        _with_ids(conversation), conversation.metadata
    )
    return conversation.model_copy(update={"messages": messages})


def _validate(value: object) -> Conversation:
    if isinstance(value, Conversation):
        return value
    if not isinstance(value, Mapping):
        raise Rejected(
            "conversation", f"must be a JSON object, not {_json_type(value)}"
        )
    _require_spelling(value, Conversation, "")
    messages = value.get("messages")
    if isinstance(messages, list):
        for index, message in enumerate(messages):
            if isinstance(message, Mapping):
                _require_spelling(message, Message, f"messages[{index}].")
    try:
        return Conversation.model_validate(dict(value))
    except ValidationError as error:
        raise rejected(error) from error


def _require_spelling(
    value: Mapping[str, Any], model: type[_Contract], place: str
) -> None:
    """Raise Rejected if a key is a known name in other letters, such as `userID`.

    It would be kept as an unknown field, and the known one would be missing in silence.
    """
    for key in value:
        name = _folded_names(model).get(_fold_name(str(key)))
        if name is not None and key not in (name, to_camel(name)):
            raise Rejected(f"{place}{key}", f"is written {to_camel(name)!r}")


@cache
def _folded_names(model: type[_Contract]) -> Mapping[str, str]:
    return {_fold_name(name): name for name in model.model_fields}


def _fold_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def _with_shared_metadata(
    messages: list[Message], shared: Mapping[str, Any] | None
) -> list[Message]:
    """Give each message its conversation's metadata too; its own values come first."""
    if not shared:
        return messages
    return [
        one.model_copy(update={"metadata": {**shared, **(one.metadata or {})}})
        for one in messages
    ]


def _check_content(message: Message, field: str) -> None:
    if message.content is None and message.role in {
        "user",
        "system",
        "developer",
    }:
        raise Rejected(field, "is missing")
    size = len(valid_text(message.text, field).encode())
    if size > MAX_MESSAGE_BYTES:
        raise Rejected(
            field,
            f"is {size:,} bytes of text; the limit is {MAX_MESSAGE_BYTES:,} (1 MB)",
        )


def _find_unstorable(conversation: Conversation) -> str:
    """Return the path of the first message that cannot be stored, or `conversation`."""
    for index, message in enumerate(conversation.messages):
        if not _is_storable(message):
            return f"messages[{index}]"
    return "conversation"


def _is_storable(part: _Contract) -> bool:
    """Return whether the part, unknown fields included, can be written as JSON."""
    try:
        value = part.model_dump(mode="json", by_alias=True, exclude_unset=True)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _with_ids(conversation: Conversation) -> list[Message]:
    """Return the messages, each with an id. Raises Rejected: two have the same id."""
    alike: Counter[str] = Counter()
    identified = []
    for message in conversation.messages:
        if message.id is None:
            key = content_key(conversation.conversation_id, message)
            alike[key] += 1
            message = message.model_copy(update={"id": f"{key}-{alike[key]}"})
        identified.append(message)
    refuse_repeats(identified)
    return identified


def content_key(conversation_id: str, message: Message) -> str:
    time = calendar.iso(message.timestamp) if message.timestamp else ""
    name = message.name or ""
    parts = (conversation_id, message.role, name, message.text, time)
    return identity.digest(*parts, length=16)


def refuse_repeats(messages: Sequence[Message]) -> None:
    seen: set[str | None] = set()
    for index, message in enumerate(messages):
        if message.id in seen:
            raise Rejected(
                f"messages[{index}].id",
                f"{message.id!r} is used by an earlier message",
            )
        seen.add(message.id)


def _agree(field: str, given: str | None, expected: str) -> None:
    if given is not None and given != expected:
        raise Rejected(
            field, f"is {given!r}, but this memory belongs to {expected!r}"
        )


def _json_type(value: object) -> str:
    names = {
        type(None): "null",
        bool: "a boolean",
        str: "a string",
        list: "an array",
    }
    return names.get(type(value), "a number")
