"""The arguments and the answers of the tools: what validates them also describes them.

Fields with a description are part of what a language model sees.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from varve.domain.conversation import MAX_MESSAGES, Instant, Name, PathId
from varve.domain.validation import (
    StrictCamelModel,
    build_validator,
    check_words,
)

MAX_RECALLED = 50


def _require_words(text: str, field: str) -> None:
    check_words(**{field: text})


Words = Annotated[str, AfterValidator(build_validator(_require_words))]


class RememberedMessage(StrictCamelModel):
    """One message to remember."""

    role: Annotated[
        Literal["user", "assistant"],
        Field(description="user (default) or assistant"),
    ] = "user"
    content: Annotated[Words, Field(description="The words as they were said")]
    name: Annotated[Name | None, Field(description="Who said them")] = None
    timestamp: Annotated[
        Instant | None,
        Field(description="When, in ISO 8601 with a zone; default: now"),
    ] = None


class RememberArguments(StrictCamelModel):
    """The input of `remember`."""

    messages: Annotated[
        list[RememberedMessage],
        Field(
            min_length=1,
            max_length=MAX_MESSAGES,
            description="What was said, in order",
        ),
    ]
    conversation_id: Annotated[
        PathId | None,
        Field(
            description="The conversation that they continue; default: that of this client"
        ),
    ] = None


class CorrectArguments(StrictCamelModel):
    """The input of `correct`."""

    id: Annotated[
        str, Field(description="The id of a fact or turn that is wrong")
    ]
    text: Annotated[
        str, Field(description="What holds instead, as a sentence")
    ]


class ContextArguments(StrictCamelModel):
    """The input of `get_context`."""

    prompt: Annotated[str, Field(description="The prompt, word for word")]
    max_tokens: Annotated[
        int | None,
        Field(
            ge=1,
            le=1_000_000,
            description="The block's largest length; default 1000",
        ),
    ] = None


class RecallArguments(StrictCamelModel):
    """The input of `recall_experience`."""

    situation: Annotated[
        str, Field(description="The situation that you are in, in plain words")
    ]
    state: Annotated[
        str | None, Field(description="What you are doing, such as debugging")
    ] = None
    limit: Annotated[
        int,
        Field(
            ge=1,
            le=MAX_RECALLED,
            description="Number of episodes and lessons; default 8",
        ),
    ] = 8


class ProposeForgetArguments(StrictCamelModel):
    """The input of `propose_forget`."""

    query: Annotated[
        str, Field(description="What to forget, in plain words: Ana's dog")
    ]


class AcceptedCounts(StrictCamelModel):
    """Counts of accepted input."""

    conversations: int
    messages: int


class StoredCounts(StrictCamelModel):
    """Counts of stored input."""

    messages: int
    turns: int
    facts: int
    triple_operations: int
    ignored: int
    forgotten: int


class UnderstoodForget(StrictCamelModel):
    """A request to forget, as understood: how many statements are hidden from now on.

    They are not erased until a person does that with `confirm`.
    """

    id: str
    hidden: int
    confirm: str


class CorrectAnswer(StrictCamelModel):
    """The answer of `correct`; `stored` is null where a queue delivers it later."""

    accepted: AcceptedCounts
    stored: StoredCounts | None
    forget_requests: list[UnderstoodForget]


class RememberAnswer(StrictCamelModel):
    """The answer of `remember`, with the conversation that the messages are in."""

    conversation_id: str
    accepted: AcceptedCounts
    stored: StoredCounts | None
    forget_requests: list[UnderstoodForget]


class ContextAnswer(StrictCamelModel):
    """The answer of `get_context`."""

    text: str
    tokens: int
    ids: list[str]


class RecalledItem(StrictCamelModel):
    """One episode or lesson."""

    kind: str
    id: str
    content: str
    outcome: str
    explicit: bool
    score: float
    likeness: float
    answer: str | None
    decision: str | None
    correction: str | None
    state: str | None
    confidence: float | None
    conversation_id: str | None
    looks_like: str | None
    chain: list[str]


class RecallAnswer(StrictCamelModel):
    """The answer of `recall_experience`."""

    familiarity: float
    items: list[RecalledItem]
    block: str


class ProposedStatement(StrictCamelModel):
    """One statement that the query names; `tellings` is how many messages tell it."""

    number: int
    date: str
    memory_type: str
    content: str
    likeness: float
    tellings: int


class ProposeForgetAnswer(StrictCamelModel):
    """The answer of `propose_forget`; `confirm` is the command for a person."""

    proposal: int | None
    statements: list[ProposedStatement]
    confirm: str | None
