"""What is asked of the context and what it answers: a request, validated, and the block with its account."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from varve.domain.conversation import Reference
from varve.domain.errors import Rejected
from varve.domain.search.answer import Understood
from varve.domain.search.query import IDENTITY_NAMES, spellings
from varve.domain.validation import rejected, valid_text

DEFAULT_TOKENS = 1_000
MAX_PROMPT_CHARACTERS = 1_000_000
MAX_DOCUMENTS = 200


class _Part(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


def _document(value: object) -> object:
    if isinstance(value, str) and len(value) > MAX_PROMPT_CHARACTERS:
        raise ValueError(f"is longer than {MAX_PROMPT_CHARACTERS:,} characters")
    return value


class ContextRequest(_Part):
    """The prompt to gather for, the block's limit, whose memory alone may enter, and texts to choose from."""

    prompt: Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)]
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = DEFAULT_TOKENS
    user_id: Reference | None = None
    documents: Annotated[
        tuple[Annotated[str, BeforeValidator(_document)], ...],
        Field(max_length=MAX_DOCUMENTS),
    ] = ()


def parse_context_request(arguments: Mapping[str, Any]) -> ContextRequest:
    """The request from a call's arguments, in either case. Raises Rejected: names the field."""
    for name in IDENTITY_NAMES & set(arguments):
        raise Rejected(
            name, "identity comes from the caller, never from the tool's arguments"
        )
    try:
        request = ContextRequest.model_validate(dict(arguments))
    except ValidationError as error:
        raise rejected(error, known=spellings(ContextRequest, arguments)) from error
    valid_text(request.prompt, "prompt")
    for number, document in enumerate(request.documents):
        valid_text(document, f"documents[{number}]")
    return request


class Gathered(_Part):
    """Where the context looked: grains and their records, and how many of what else there was to choose from.

    `entities` are those of the graph that the prompt names; `naming` and `reranking` tell of the optional
    models: `off`, `done`, or what went on without them and why.
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


class ContextBlock(_Part):
    """The block to put before a prompt; `str()` of it is the text.

    `head` is the text's beginning, which changes only with the profile (and the limit), and is there for an
    empty block too; `head_hash` tells whether it did. `ids` are those of the entries in the block, in
    their order; `tokens` is the text's length. An empty block says in `reason` why nothing is injected.
    """

    text: str
    head: str
    head_hash: str
    ids: list[str]
    tokens: int
    empty: bool
    reason: str | None
    searched: Gathered

    @property
    def tail(self) -> str:
        """What follows the head: it changes with every prompt."""
        return self.text.removeprefix(self.head)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return self.model_dump(mode="json", by_alias=True)
