"""The context's contract: a validated request, and the block with its account."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from varve.domain.conversation import PathId, Reference
from varve.domain.errors import Rejected
from varve.domain.search.answer import Understood
from varve.domain.search.query import IDENTITY_NAMES, MAX_AGENTS, spellings
from varve.domain.validation import StrictCamelModel, rejected, valid_text

DEFAULT_TOKENS = 1_000
DEFAULT_WINDOW_TOKENS = 128_000
"""The window of a model whose window the workspace does not tell."""
MAX_PROMPT_CHARACTERS = 1_000_000
MAX_DOCUMENTS = 200


def _check_length(document: object) -> object:
    if isinstance(document, str) and len(document) > MAX_PROMPT_CHARACTERS:
        raise ValueError(
            f"is longer than {MAX_PROMPT_CHARACTERS:,} characters"
        )
    return document


Document = Annotated[str, BeforeValidator(_check_length)]


class ContextRequest(StrictCamelModel):
    """The prompt to find context for, and the limits of the answer.

    The block has at most `max_tokens`, and at most `window_fraction` of the model's
    window of `window_tokens`. With `user_id`, only that user's memory may enter the
    block, and the user's profile always does. Passages of `documents` may enter it too,
    and so may what the other `agents` share with this one.
    """

    prompt: Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)]
    max_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    window_fraction: Annotated[float | None, Field(gt=0, le=1)] = None
    window_tokens: Annotated[int | None, Field(ge=1, le=100_000_000)] = None
    user_id: Reference | None = None
    documents: Annotated[
        tuple[Document, ...], Field(max_length=MAX_DOCUMENTS)
    ] = ()
    agents: Annotated[tuple[PathId, ...], Field(max_length=MAX_AGENTS)] = ()

    @property
    def budget(self) -> int:
        """The most tokens that the block may have."""
        if self.window_fraction is None:
            return self.max_tokens or DEFAULT_TOKENS
        window = self.window_tokens or DEFAULT_WINDOW_TOKENS
        share = max(1, int(self.window_fraction * window))
        return min(share, self.max_tokens or share)


def parse_context_request(arguments: Mapping[str, Any]) -> ContextRequest:
    """Return the request from a call's arguments, in camel or snake case.

    Raises Rejected: names the faulty field.
    """
    for name in IDENTITY_NAMES & set(arguments):
        raise Rejected(
            name,
            "identity comes from the caller, never from the tool's arguments",
        )
    try:
        request = ContextRequest.model_validate(dict(arguments))
    except ValidationError as error:
        raise rejected(
            error, known=spellings(ContextRequest, arguments)
        ) from error
    valid_text(request.prompt, "prompt")
    for number, document in enumerate(request.documents):
        valid_text(document, f"documents[{number}]")
    return request


class LoadRequest(StrictCamelModel):
    """Whose last words the block for a conversation's start bears on, and its limit."""

    user_id: Reference | None = None
    conversation_id: PathId | None = None
    max_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None


def parse_load_request(arguments: Mapping[str, Any]) -> LoadRequest:
    """Return the request from a call's arguments. Raises Rejected: names the field."""
    try:
        return LoadRequest.model_validate(dict(arguments))
    except ValidationError as error:
        raise rejected(
            error, known=spellings(LoadRequest, arguments)
        ) from error


class ContextSearched(StrictCamelModel):
    """Where the context looked, and how many candidates it chose from.

    `records` counts the records in `grains`; `attributes`, `triples`, `passages` and
    `lessons` count the other candidates. `entities` are the graph's entities that the
    prompt names. `naming` and `reranking` report on the optional models: `off`, `done`,
    or the reason why the context did without. `agents` are the other agents whose memory
    was read.
    """

    grains: list[str]
    records: int
    understood: Understood | None
    attributes: int
    entities: list[str]
    triples: int
    passages: int
    lessons: int
    naming: str
    reranking: str
    agents: list[str]


class ContextBlock(StrictCamelModel):
    """The block to put before a prompt; `str()` returns its text.

    `head` is the text's beginning. It changes only with the profile and the limit, and an
    empty block has it too; `head_hash` identifies it. `ids` are the ids of the block's
    entries, in their order (`agent/id` for another agent's); `also_in` has the ids of the
    records folded into an entry, by the entry's id. `tokens` is the text's length.
    `reason` says why a block is empty.
    """

    text: str
    head: str
    head_hash: str
    ids: list[str]
    also_in: dict[str, list[str]]
    tokens: int
    empty: bool
    reason: str | None
    searched: ContextSearched

    @property
    def tail(self) -> str:
        """The text after the head; it changes with every prompt."""
        return self.text.removeprefix(self.head)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the block as JSON values."""
        return self.model_dump(mode="json", by_alias=True)
