"""A chat model behind OpenAI's protocol that answers in a given shape."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from varve.adapters.models.openai_client import Provider
from varve.domain.errors import Rejected, Retryable
from varve.domain.usage import ModelUsage
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
"""Braces at which an object is looked for: nesting without end would take a while at each."""
_LEVELS = _STRICT_SCHEMA, _JSON_OBJECT, _WORDS_ALONE = (0, 1, 2)


class OpenAILLM:
    """The LLM port over chat completions, at temperature 0.

    Asks for strict JSON schema, where the provider refuses that for a JSON object, and at last in words
    alone; what works, and whether the model takes a temperature, is remembered per instance. `timeout` is
    in seconds. `usage` counts tokens. `reread` reads a refused key anew.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        usage: ModelUsage | None = None,
        reread: Callable[[], str] | None = None,
    ) -> None:
        self._provider = Provider(
            model, "VARVE_LLM", base_url, api_key, timeout, max_retries, reread
        )
        self._level = _STRICT_SCHEMA
        self._options: dict[str, Any] = {"temperature": 0}
        self.usage = ModelUsage() if usage is None else usage

    @property
    def model(self) -> str:
        """The model's name, as the provider knows it."""
        return self._provider.model

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """One answer, validated; an invalid one is shown to the model once, with what is wrong with it.

        Raises Retryable: no answer. Rejected: refused, cut off, or invalid twice. Misconfigured.
        """
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ]
        answer = self._ask(messages, reply)
        try:
            return _validated(answer, reply)
        except ValidationError as error:
            messages += _repair(answer, error, reply)
        try:
            return _validated(self._ask(messages, reply), reply)
        except ValidationError as error:
            found = "; ".join(_findings(error))
            raise Rejected(
                _SUBJECT, f"is still invalid after one repair: {found}"
            ) from None

    def _ask(self, messages: list[Message], shape: type[Reply]) -> str:
        """The text of one answer, on the first level that the provider does not refuse."""
        completion = self._provider.ask(
            _SUBJECT, lambda client: self._create_on_some_level(client, messages, shape)
        )
        self.usage.add(getattr(completion, "usage", None))
        return _text(completion)

    def _create_on_some_level(
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
        self, client: Any, messages: list[Message], shape: type[Reply], level: int
    ) -> Any:
        import openai

        in_words = (
            []
            if level == _STRICT_SCHEMA
            else [{"role": "user", "content": _schema_in_words(shape)}]
        )
        request = {
            "model": self.model,
            "messages": messages + in_words,
            **_format(level, shape),
        }
        options = self._options
        try:
            return client.chat.completions.create(**request, **options)
        except openai.BadRequestError as error:
            if str(error.param) not in options:
                raise
            # Reasoning models take no temperature but their own.
            self._options = {}
            return client.chat.completions.create(**request)


def _format(level: int, shape: type[BaseModel]) -> dict[str, Any]:
    """How the shape is asked for; all levels but the strictest need it in the prompt as well."""
    if level == _STRICT_SCHEMA:
        schema = {
            "name": shape.__name__,
            "strict": True,
            "schema": shape.model_json_schema(),
        }
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"response_format": {"type": "json_object"}} if level == _JSON_OBJECT else {}


def _concerns_format(error: "openai.APIStatusError") -> bool:
    """Whether the refusal may be for the response format: it says so, or it does not say for what."""
    if error.status_code not in _REFUSING or error.code in _OTHER_CAUSES:
        return False
    return error.param is None or str(error.param).startswith("response_format")


def _text(completion: Any) -> str:
    """The answer's words. Raises Rejected: refused or cut off. Retryable: there is no answer in it."""
    choices: Any = getattr(completion, "choices", None)
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    message: Any = getattr(choice, "message", None)
    ending = getattr(choice, "finish_reason", None)
    if message is None or ending == "error":
        raise Retryable(f"{_SUBJECT}: the provider answered without one")
    if ending == "length":
        raise Rejected(
            _SUBJECT, "was cut off at the model's output limit (finish_reason length)"
        )
    if ending == "content_filter" or getattr(message, "refusal", None):
        raise Rejected(_SUBJECT, "was refused by the model or its provider's filter")
    content = getattr(message, "content", None)
    return content if isinstance(content, str) else ""


def _validated(answer: str, shape: type[Reply]) -> Reply:
    """The largest JSON object in the answer that has the shape. Raises ValidationError: none has."""
    objects = sorted(_objects_in(answer), key=len, reverse=True)
    for text in objects:
        with suppress(ValidationError):
            return shape.model_validate_json(text)
    # What is reported is the fault of the outermost object, even where only parts of it can be decoded.
    rest = answer[max(answer.find("{"), 0) :]
    return shape.model_validate_json(next(filter(rest.startswith, objects), rest))


def _objects_in(answer: str) -> Iterator[str]:
    """The JSON objects in a text that may have fences, a preamble or thoughts around them."""
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


def _repair(
    answer: str, error: ValidationError, shape: type[BaseModel]
) -> list[Message]:
    """The model's own words and what is wrong with them."""
    findings = "\n".join(f"- {finding}" for finding in _findings(error))
    asked = f"Your reply is not valid:\n{findings}\n\nAnswer again, corrected. {_schema_in_words(shape)}"
    said = [{"role": "assistant", "content": answer}] if answer.strip() else []
    return [*said, {"role": "user", "content": asked}]


def _schema_in_words(shape: type[BaseModel]) -> str:
    schema = json.dumps(shape.model_json_schema(), separators=(",", ":"))
    return f"Reply with one JSON object and nothing else, valid under this JSON schema:\n{schema}"


def _findings(error: ValidationError) -> list[str]:
    """Where and what, without the faulty values: this also goes into logs and dead letters."""
    details = error.errors(
        include_url=False, include_input=False, include_context=False
    )
    return [
        f"{'.'.join(str(step) for step in detail['loc']) or 'reply'}: {detail['msg']}"
        for detail in details[:_SHOWN_FINDINGS]
    ]
