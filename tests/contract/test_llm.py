"""What the chat model's adapter does with every kind of answer a provider gives, over real HTTP."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import openai
import pytest
from pydantic import BaseModel, ConfigDict

from tests.support.model_server import (
    NO_RETRY,
    Fault,
    ModelServer,
    delayed,
    prompt,
    rate_limited,
)
from varve.adapters.models.openai_llm import OpenAILLM
from varve.domain.errors import Misconfigured, Rejected, Retryable, VarveError
from varve.domain.usage import ModelUsage
from varve.prompts.extract import ExtractReply

KEY = "sk-secret-0451"
DIARY = "Dear diary, the safe opens with 7-2-9."


class Weather(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={"additionalProperties": False}
    )

    sky: Literal["blue", "grey"]
    degrees: float


FINE = {"sky": "blue", "degrees": 21.5}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda _: FINE, api_key=KEY) as running:
        yield running


def model_of(server: ModelServer, **options: Any) -> OpenAILLM:
    given: dict[str, Any] = {
        "api_key": KEY,
        "base_url": server.base_url,
        "max_retries": 0,
        "timeout": 5,
    }
    return OpenAILLM("some/model", **given | options)


def shown(llm: OpenAILLM) -> str:
    """What a traceback or a debugger shows of a client: each of its fields."""
    return " ".join(repr(value) for value in vars(llm).values())


def ask(llm: OpenAILLM) -> Weather:
    return llm.complete("Tell the weather.", DIARY, Weather)


def formats(server: ModelServer) -> list[str | None]:
    return [
        (chat.body.get("response_format") or {}).get("type")
        for chat in server.chats
    ]


def scripted(
    *replies: str | dict[str, Any],
) -> Callable[[Any], str | dict[str, Any]]:
    rest = iter(replies)
    return lambda _: next(rest)


def refusal(
    param: str | None, code: str | None = None, status: int = 400
) -> Fault:
    error = {
        "message": f"{DIARY} {KEY}",
        "type": "invalid_request_error",
        "param": param,
        "code": code,
    }
    return Fault(status, body=json.dumps({"error": error}).encode())


def completion(
    message: dict[str, Any] | None, finish_reason: str = "stop"
) -> Fault:
    choices = (
        []
        if message is None
        else [{"index": 0, "message": message, "finish_reason": finish_reason}]
    )
    return Fault(
        200,
        body=json.dumps(
            {"id": "1", "object": "chat.completion", "choices": choices}
        ).encode(),
    )


class TestAsking:
    def test_asks_for_the_shape_strictly_and_at_temperature_zero(
        self, server: ModelServer
    ) -> None:
        assert ask(model_of(server)) == Weather(sky="blue", degrees=21.5)
        body = server.chats[0].body
        assert body["temperature"] == 0
        assert body["response_format"]["json_schema"]["strict"] is True
        assert (
            body["response_format"]["json_schema"]["schema"][
                "additionalProperties"
            ]
            is False
        )
        assert [message["role"] for message in body["messages"]] == [
            "system",
            "user",
        ]

    def test_counts_the_tokens_of_every_answer(
        self, server: ModelServer
    ) -> None:
        server.reply = scripted("{}", FINE, FINE)
        llm = model_of(server)
        assert ModelUsage.of(llm.meter.total) == ModelUsage()
        ask(llm)
        ask(llm)
        usage = ModelUsage.of(llm.meter.total)
        assert usage.calls == 3
        words = sum(len(prompt(chat.body).split()) for chat in server.chats)
        assert usage.prompt_tokens == words
        assert usage.completion_tokens == 1 + 4 + 4

    def test_builds_no_client_before_the_first_call(self) -> None:
        assert OpenAILLM("m", api_key=None, base_url="nowhere").model == "m"

    def test_the_extraction_schema_is_one_that_strict_mode_accepts(
        self,
    ) -> None:
        for shape in _objects_of(ExtractReply.model_json_schema()):
            assert shape["additionalProperties"] is False
            assert shape["required"] == list(shape["properties"])


def _objects_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *schema["$defs"].values()]


class TestFormats:
    def test_falls_back_to_a_json_object_and_remembers(
        self, server: ModelServer
    ) -> None:
        server.supports_json_schema = False
        llm = model_of(server)
        assert ask(llm) == ask(llm)
        assert formats(server) == ["json_schema", "json_object", "json_object"]
        assert '"degrees"' in prompt(server.chats[1].body), (
            "the shape must now stand in the prompt"
        )

    @pytest.mark.parametrize("status", [400, 404, 422])
    def test_falls_back_to_words_alone(
        self, server: ModelServer, status: int
    ) -> None:
        llm = model_of(server)
        server.fail_next(
            refusal("response_format", status=status),
            refusal("response_format.type"),
        )
        assert ask(llm) == ask(llm)
        assert formats(server) == ["json_schema", "json_object", None, None]
        assert '"degrees"' in prompt(server.chats[3].body)

    def test_gives_up_when_even_words_are_refused(
        self, server: ModelServer
    ) -> None:
        server.fail_next(*[refusal(None)] * 3)
        with pytest.raises(Rejected):
            ask(model_of(server))
        assert len(server.chats) == 3

    @pytest.mark.parametrize(
        "other",
        [
            refusal("messages"),
            refusal(None, "context_length_exceeded"),
            refusal(None, status=413),
        ],
    )
    def test_does_not_fall_back_for_what_the_format_cannot_mend(
        self, server: ModelServer, other: Fault
    ) -> None:
        server.fail_next(other)
        with pytest.raises(Rejected):
            ask(model_of(server))
        assert len(server.chats) == 1

    def test_leaves_the_temperature_to_a_model_that_insists(
        self, server: ModelServer
    ) -> None:
        llm = model_of(server)
        server.fail_next(refusal("temperature", "unsupported_value"))
        assert ask(llm) == ask(llm)
        assert ["temperature" in chat.body for chat in server.chats] == [
            True,
            False,
            False,
        ]
        assert formats(server) == ["json_schema"] * 3


class TestReplies:
    @pytest.mark.parametrize(
        "words",
        [
            "```json\n{}\n```",
            "```\n{}\n```",
            "Here you are: {} I hope {{this}} helps.",
            '<think>Is it {{grey}}? {{"a": 1}}</think>\n{}',
            "\n\n  {}  \n",
        ],
    )
    def test_finds_the_object_among_other_words(
        self, server: ModelServer, words: str
    ) -> None:
        server.reply = scripted(
            words.replace("{}", json.dumps(FINE))
            .replace("{{", "{")
            .replace("}}", "}")
        )
        assert ask(model_of(server)).sky == "blue"
        assert len(server.chats) == 1

    def test_shows_the_model_its_reply_and_what_is_wrong_with_it(
        self, server: ModelServer
    ) -> None:
        server.reply = scripted({"sky": "pink"}, FINE)
        assert ask(model_of(server)).sky == "blue"
        *_, mine, asked = server.chats[1].body["messages"]
        assert mine == {"role": "assistant", "content": '{"sky": "pink"}'}
        assert "sky: Input should be 'blue' or 'grey'" in asked["content"]
        assert "degrees: Field required" in asked["content"]

    def test_rejects_after_one_repair_without_quoting_anyone(
        self, server: ModelServer
    ) -> None:
        server.reply = scripted({"sky": DIARY}, {"sky": DIARY})
        with pytest.raises(
            Rejected, match="after one repair: sky: Input should be"
        ) as raised:
            ask(model_of(server))
        assert raised.value.field == "model reply"
        assert "diary" not in str(raised.value)
        assert len(server.chats) == 2

    @pytest.mark.parametrize(
        "words",
        ["", "No.", "{", '{"sky": "blue", "degrees"', "[1]", "{}" * 500],
    )
    def test_repairs_what_is_no_object_at_all(
        self, server: ModelServer, words: str
    ) -> None:
        server.reply = scripted(words, FINE)
        assert ask(model_of(server)).sky == "blue"
        assert all(
            message["content"] for message in server.chats[1].body["messages"]
        )

    @pytest.mark.parametrize(
        "words", ["[" * 100_000, '{"a":' * 5_000, "{" * 5_000]
    )
    def test_survives_nesting_without_end(
        self, server: ModelServer, words: str
    ) -> None:
        server.reply = scripted(words, FINE)
        assert ask(model_of(server)).sky == "blue"

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            (
                completion(
                    {"role": "assistant", "content": None, "refusal": DIARY}
                ),
                "refused",
            ),
            (
                completion(
                    {"role": "assistant", "content": None}, "content_filter"
                ),
                "refused",
            ),
            (
                completion(
                    {"role": "assistant", "content": '{"sky": "bl'}, "length"
                ),
                "finish_reason length",
            ),
        ],
        ids=["refusal", "filter", "length"],
    )
    def test_rejects_a_refusal_and_a_reply_cut_off(
        self, server: ModelServer, fault: Fault, reason: str
    ) -> None:
        server.fail_next(fault)
        with pytest.raises(Rejected, match=reason) as raised:
            ask(model_of(server))
        assert "diary" not in str(raised.value)
        assert len(server.chats) == 1

    @pytest.mark.parametrize(
        "fault",
        [
            completion(None),
            completion({"role": "assistant", "content": "{"}, "error"),
            Fault(200, body=b'{"error": {"code": 502}}'),
            Fault(200, body=b'{"choices": [null]}'),
            Fault(200, body=b'{"choices": "none"}'),
            Fault(200, body=b'{"choices": [{"ind'),
            Fault(200, body=b"null"),
            Fault(200, body=b"\xff\xfe\x00"),
            Fault(
                200, {"Content-Type": "text/html"}, body=b"<html>busy</html>"
            ),
        ],
    )
    def test_takes_an_answer_without_a_reply_for_an_outage(
        self, server: ModelServer, fault: Fault
    ) -> None:
        server.fail_next(fault)
        with pytest.raises(Retryable):
            ask(model_of(server))


class TestErrors:
    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (400, Rejected), (401, Misconfigured), (402, Misconfigured), (403, Misconfigured),
            (404, Misconfigured), (405, Rejected), (408, Retryable), (409, Retryable), (413, Rejected),
            (418, Rejected), (422, Rejected), (425, Retryable), (429, Retryable), (500, Retryable),
            (502, Retryable), (503, Retryable), (504, Retryable), (529, Retryable),
        ],
    )  # fmt: skip
    def test_every_status_says_what_the_caller_must_do(
        self, server: ModelServer, status: int, error: type[VarveError]
    ) -> None:
        server.fail_next(*[refusal(None, status=status)] * 3)
        with pytest.raises(error) as raised:
            ask(model_of(server))
        assert type(raised.value) is error
        assert str(status) in str(raised.value)

    def test_every_error_of_the_client_is_translated(self) -> None:
        public = [getattr(openai, name) for name in openai.__all__]
        errors = [
            e
            for e in public
            if isinstance(e, type) and issubclass(e, Exception)
        ]
        assert openai.APIStatusError in errors
        foreign = {
            e.__name__ for e in errors if not issubclass(e, openai.OpenAIError)
        }
        assert foreign <= {"InvalidWebhookSignatureError"}, (
            "the adapter translates OpenAIError and below"
        )

    def test_a_refused_key_names_its_setting_and_never_the_key(
        self, server: ModelServer
    ) -> None:
        server.fail_next(refusal(None, "invalid_api_key", 401))
        with pytest.raises(Misconfigured, match="OPENAI_API_KEY") as raised:
            ask(model_of(server))
        assert KEY not in str(raised.value)
        assert raised.value.__suppress_context__, (
            "the provider's own words may quote the key"
        )
        assert KEY not in shown(model_of(server))

    def test_a_refused_key_is_read_anew_and_the_question_asked_again(
        self, server: ModelServer
    ) -> None:
        keys = iter(["sk-old-2", "sk-new"])
        llm = model_of(server, api_key="sk-old-1", reread=lambda: next(keys))
        server.api_key = "sk-new"
        with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
            ask(llm)
        assert ask(llm).sky == "blue"

    def test_an_unknown_model_names_itself_and_its_setting(
        self, server: ModelServer
    ) -> None:
        server.fail_next(refusal("model", "model_not_found", 404))
        with pytest.raises(Misconfigured, match=r"VARVE_LLM.*some/model"):
            ask(model_of(server))
        assert len(server.chats) == 1

    def test_input_that_a_moderator_flags_is_not_the_keys_fault(
        self, server: ModelServer
    ) -> None:
        error = {
            "message": DIARY,
            "code": 403,
            "metadata": {"reasons": ["violence"], "flagged_input": DIARY},
        }
        server.fail_next(
            Fault(403, body=json.dumps({"error": error}).encode())
        )
        with pytest.raises(Rejected) as raised:
            ask(model_of(server))
        assert "diary" not in str(raised.value)

    @pytest.mark.parametrize(
        ("options", "setting"),
        [
            ({"api_key": None}, "OPENAI_API_KEY"),
            ({"api_key": "  "}, "OPENAI_API_KEY"),
            ({"api_key": "schlüssel"}, "OPENAI_API_KEY"),
            ({"api_key": "two\nlines"}, "OPENAI_API_KEY"),
            ({"base_url": ""}, "OPENAI_BASE_URL"),
            ({"base_url": "localhost:1234/v1"}, "OPENAI_BASE_URL"),
            ({"base_url": "ftp://example.org"}, "OPENAI_BASE_URL"),
            ({"base_url": "http://[::1"}, "OPENAI_BASE_URL"),
            ({"base_url": "http://example.org:port/v1"}, "OPENAI_BASE_URL"),
        ],
    )
    def test_a_setting_that_cannot_work_is_named_before_any_request(
        self, server: ModelServer, options: dict[str, Any], setting: str
    ) -> None:
        with pytest.raises(Misconfigured, match=setting):
            ask(model_of(server, **options))
        assert server.requests == []

    def test_a_key_with_a_line_break_at_its_end_is_a_key(
        self, server: ModelServer
    ) -> None:
        assert ask(model_of(server, api_key=KEY + "\n")).sky == "blue"


class TestPatience:
    def test_waits_as_long_as_it_is_told_and_tries_again(
        self, server: ModelServer
    ) -> None:
        server.fail_next(rate_limited(0.3))
        began = time.monotonic()
        assert ask(model_of(server, max_retries=1)).sky == "blue"
        assert time.monotonic() - began >= 0.3
        assert len(server.chats) == 2

    def test_leaves_an_absurd_wait_to_the_queue(
        self, server: ModelServer
    ) -> None:
        server.fail_next(rate_limited(86_400))
        began = time.monotonic()
        with pytest.raises(Retryable, match="429"):
            ask(model_of(server, max_retries=2))
        assert time.monotonic() - began < 5
        assert len(server.chats) == 1

    def test_tries_only_so_often(self, server: ModelServer) -> None:
        server.fail_next(*[Fault(503, {"Retry-After-Ms": "1"})] * 9)
        with pytest.raises(Retryable, match="503"):
            ask(model_of(server, max_retries=2))
        assert len(server.chats) == 3

    def test_a_slow_answer_is_no_answer(self, server: ModelServer) -> None:
        server.fail_next(delayed(1.0))
        with pytest.raises(Retryable, match="APITimeoutError"):
            ask(model_of(server, timeout=0.1))

    def test_nobody_there_is_an_outage(self, server: ModelServer) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
            with pytest.raises(Retryable, match=r"127\.0\.0\.1"):
                ask(model_of(server, base_url=url))

    def test_nothing_is_remembered_of_an_outage(
        self, server: ModelServer
    ) -> None:
        server.fail_next(Fault(500, NO_RETRY))
        llm = model_of(server)
        with pytest.raises(Retryable):
            ask(llm)
        assert ask(llm).sky == "blue"
        assert formats(server) == ["json_schema"] * 2


def test_neither_words_nor_keys_reach_a_log(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.fail_next(rate_limited(0.01))
    server.reply = scripted({"sky": DIARY}, FINE)
    ask(model_of(server, max_retries=1))
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert len(server.requests) == 3
    assert "diary" not in logged
    assert KEY not in logged
