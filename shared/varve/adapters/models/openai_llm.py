"""A chat model behind OpenAI's protocol that answers as a given pydantic model."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from varve.adapters.models.openai_client import Provider
from varve.domain.errors import Rejected, Retryable
from varve.ports.meter import Meter
from varve.ports.models import Reply

if TYPE_CHECKING:
    import openai

Message = dict[str, str]

_SUBJECT = "model reply"
_REFUSING = frozenset({400, 404, 422})
_OTHER_CAUSES = frozenset(
    {"model_not_found", "context_length_exceeded", "content_filter"}
)
_SHOWN_FINDINGS = 10
_MOST_STARTS = 1_000
"""Opening braces at which a JSON object is tried; bounds the time for deep nesting."""
_STRICT_SCHEMA = 0
_JSON_OBJECT = 1
_WORDS_ALONE = 2
_LEVELS = (_STRICT_SCHEMA, _JSON_OBJECT, _WORDS_ALONE)
"""How the shape is requested, strictest first."""


class OpenAILLM:
    """The LLM port over chat completions, at temperature 0.

    Requests a strict JSON schema. If the provider refuses that, it requests a JSON object,
    and at last asks in words alone. The instance remembers the level that works, and
    whether the model takes a temperature. `timeout` is in seconds. `meter` counts tokens.
    `reread` returns the current key if one is refused.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        meter: Meter | None = None,
        reread: Callable[[], str] | None = None,
    ) -> None:
        self._provider = Provider(
            model, "VARVE_LLM", base_url, api_key, timeout, max_retries, reread
        )
        self._level = _STRICT_SCHEMA
        self._options: dict[str, Any] = {"temperature": 0}
        self.meter = meter or Meter()

    @property
    def model(self) -> str:
        """The model's name at the provider."""
        return self._provider.model

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """Return a valid answer; ask the model once to correct an invalid one.

        Raises Retryable: no answer; Rejected: refused, cut off, or invalid twice;
        Misconfigured.
        """
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ]
        answer = self._ask(messages, reply)
        try:
            return _parse_reply(answer, reply)
        except ValidationError as error:
            messages += _repair_messages(answer, error, reply)
        answer = self._ask(messages, reply)
        try:
            return _parse_reply(answer, reply)
        except ValidationError as error:
            found = "; ".join(_describe_errors(error))
            raise Rejected(
                _SUBJECT, f"is still invalid after one repair: {found}"
            ) from None

    def _ask(self, messages: list[Message], shape: type[Reply]) -> str:
        """Return one answer's text, at the first level that the provider accepts."""

        def request(client: "openai.OpenAI") -> Any:
            return self._create_at_best_level(client, messages, shape)

        completion = self._provider.ask(_SUBJECT, request)
        self.meter.add_model(self.model, getattr(completion, "usage", None))
        return _text_of(completion)

    def _create_at_best_level(
        self, client: Any, messages: list[Message], shape: type[Reply]
    ) -> Any:
        import openai

        first_refusal: openai.APIStatusError | None = None
        for level in _LEVELS[self._level :]:
            try:
                completion = self._create(client, messages, shape, level)
            except openai.APIStatusError as error:
                if not _concerns_format(error):
                    raise
                first_refusal = first_refusal or error
            else:
                self._level = level
                return completion
        assert first_refusal is not None
        raise first_refusal

    def _create(
        self,
        client: Any,
        messages: list[Message],
        shape: type[Reply],
        level: int,
    ) -> Any:
        import openai

        if level != _STRICT_SCHEMA:
            schema = {"role": "user", "content": _schema_in_words(shape)}
            messages = [*messages, schema]
        request = {"model": self.model, "messages": messages}
        request |= _response_format(level, shape)
        options = self._options
        try:
            return client.chat.completions.create(**request, **options)
        except openai.BadRequestError as error:
            if str(error.param) not in options:
                raise
            # Reasoning models refuse a temperature.
            self._options = {}
            return client.chat.completions.create(**request)


def _response_format(level: int, shape: type[BaseModel]) -> dict[str, Any]:
    """Return the request parameter of a level.

    All levels but the strictest need the schema in the prompt too.
    """
    if level == _WORDS_ALONE:
        return {}
    if level == _JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    schema = {
        "name": shape.__name__,
        "strict": True,
        "schema": shape.model_json_schema(),
    }
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _concerns_format(error: "openai.APIStatusError") -> bool:
    """Tell whether the provider may have refused the format: it names it, or no cause."""
    if error.status_code not in _REFUSING or error.code in _OTHER_CAUSES:
        return False
    return error.param is None or str(error.param).startswith(
        "response_format"
    )


def _text_of(completion: Any) -> str:
    """Return the answer's text.

    Raises Rejected: refused or cut off; Retryable: the completion has no answer.
    """
    choices: Any = getattr(completion, "choices", None)
    has_choices = isinstance(choices, list) and choices
    choice: Any = choices[0] if has_choices else None
    message: Any = getattr(choice, "message", None)
    ending = getattr(choice, "finish_reason", None)
    if message is None or ending == "error":
        raise Retryable(f"{_SUBJECT}: the provider answered without one")
    if ending == "length":
        raise Rejected(
            _SUBJECT,
            "was cut off at the model's output limit (finish_reason length)",
        )
    if ending == "content_filter" or getattr(message, "refusal", None):
        raise Rejected(
            _SUBJECT, "was refused by the model or its provider's filter"
        )
    content = getattr(message, "content", None)
    return content if isinstance(content, str) else ""


def _parse_reply(answer: str, shape: type[Reply]) -> Reply:
    """Return the largest JSON object in the answer that is valid.

    Raises ValidationError: none is.
    """
    objects = sorted(_find_objects(answer), key=len, reverse=True)
    for text in objects:
        with suppress(ValidationError):
            return shape.model_validate_json(text)
    # Report the errors of the outermost object, even if only parts of it are JSON.
    rest = answer[max(answer.find("{"), 0) :]
    outermost = next(filter(rest.startswith, objects), rest)
    return shape.model_validate_json(outermost)


def _find_objects(answer: str) -> Iterator[str]:
    """Yield the JSON objects in a text that may have fences, a preamble or thoughts."""
    decoder = json.JSONDecoder()
    start = answer.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        try:
            _, end = decoder.raw_decode(answer, start)
            yield answer[start:end]
        except (ValueError, RecursionError):
            end = start + 1
        start = answer.find("{", end)


def _repair_messages(
    answer: str, error: ValidationError, shape: type[BaseModel]
) -> list[Message]:
    """Return the model's own answer and the request to correct its errors."""
    errors = _describe_errors(error)
    findings = "\n".join(f"- {finding}" for finding in errors)
    request = (
        f"Your reply is not valid:\n{findings}\n\n"
        f"Answer again, corrected. {_schema_in_words(shape)}"
    )
    messages = []
    if answer.strip():
        messages.append({"role": "assistant", "content": answer})
    messages.append({"role": "user", "content": request})
    return messages


def _schema_in_words(shape: type[BaseModel]) -> str:
    schema = json.dumps(shape.model_json_schema(), separators=(",", ":"))
    return (
        "Reply with one JSON object and nothing else, "
        f"valid under this JSON schema:\n{schema}"
    )


def _describe_errors(error: ValidationError) -> list[str]:
    """Return the first errors by field and message.

    Invalid values are left out, because this text goes into logs and dead letters.
    """
    details = error.errors(
        include_url=False, include_input=False, include_context=False
    )
    findings = []
    for detail in details[:_SHOWN_FINDINGS]:
        field = ".".join(map(str, detail["loc"])) or "reply"
        findings.append(f"{field}: {detail['msg']}")
    return findings
