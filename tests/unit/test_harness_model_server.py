"""The scripted model provider, asked by the client library that the project uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.model_server import (
    CHAT,
    MALFORMED,
    SERVER_ERROR,
    ModelServer,
    delayed,
    prompt,
    rate_limited,
    wrong_dimensions,
)

SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "schema": {"type": "object"}},
}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(lambda request: {"said": prompt(request)}) as server:
        yield server


def ask(
    model: ModelServer, text: str = "hello", key: str = "", **options: Any
) -> str:
    messages = [{"role": "user", "content": text}]
    with openai.OpenAI(
        base_url=model.base_url,
        api_key=key or model.api_key,
        max_retries=1,
        timeout=5,
    ) as client:
        create: Any = client.chat.completions.create
        return str(
            create(model="m", messages=messages, **options)
            .choices[0]
            .message.content
        )


def embed(
    model: ModelServer, *texts: str, dimensions: int = 64
) -> list[list[float]]:
    with openai.OpenAI(
        base_url=model.base_url, api_key=model.api_key, max_retries=0
    ) as client:
        answer = client.embeddings.create(
            model="e", input=list(texts), dimensions=dimensions
        )
    return [item.embedding for item in answer.data]


def test_the_reply_is_what_the_script_makes_of_the_request(
    model: ModelServer,
) -> None:
    assert (
        ask(model, "where is Dana", response_format=SCHEMA)
        == '{"said": "where is Dana"}'
    )
    assert model.chats[0].body["response_format"] == SCHEMA


def test_embeddings_are_unit_vectors_near_for_shared_words(
    model: ModelServer,
) -> None:
    first, same, other = embed(
        model,
        "Dana moved to Lisbon",
        "to Lisbon Dana moved",
        "seventeen invoices",
    )
    assert model.embeddings[0].body["encoding_format"] == "base64"
    assert sum(value * value for value in first) == pytest.approx(1, abs=1e-4)
    assert same == pytest.approx(first)
    assert sum(a * b for a, b in zip(first, other, strict=True)) < 0.5


def test_a_server_error_reaches_the_caller_unretried(
    model: ModelServer,
) -> None:
    model.fail_next(SERVER_ERROR)
    with pytest.raises(openai.InternalServerError):
        ask(model)
    assert len(model.requests) == 1
    assert ask(model)


def test_a_rate_limit_is_retried_after_its_wait(model: ModelServer) -> None:
    model.fail_next(rate_limited(0.05))
    assert ask(model)
    assert [request.fault is None for request in model.requests] == [
        False,
        True,
    ]


def test_the_first_request_of_each_conversation_fails(
    model: ModelServer,
) -> None:
    model.fail_first_of_each()
    for text in ("one", "two"):
        with pytest.raises(openai.InternalServerError):
            ask(model, text)
    assert [ask(model, text) for text in ("two", "one")] == [
        '{"said": "two"}',
        '{"said": "one"}',
    ]


def test_a_malformed_body_and_a_slow_answer_break_the_call(
    model: ModelServer,
) -> None:
    model.fail_next(MALFORMED)
    with pytest.raises(json.JSONDecodeError):
        ask(model)
    model.fail_next(delayed(0.6), delayed(0.6))
    with pytest.raises(openai.APITimeoutError):
        ask(model, timeout=0.2)


def test_vectors_of_another_length_only_hit_embeddings(
    model: ModelServer,
) -> None:
    model.fail_next(wrong_dimensions(3))
    assert ask(model)
    assert [len(vector) for vector in embed(model, "a", "b")] == [3, 3]


def test_a_provider_without_json_schema_refuses_it(model: ModelServer) -> None:
    model.supports_json_schema = False
    with pytest.raises(openai.BadRequestError, match="json_schema"):
        ask(model, response_format=SCHEMA)
    assert ask(model)


def test_a_wrong_key_is_refused(model: ModelServer) -> None:
    with pytest.raises(openai.AuthenticationError):
        ask(model, key="other")
    assert model.requests[0].path == CHAT
