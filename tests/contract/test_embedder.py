"""What every embedder promises, asked of each adapter; then what only one of them has to answer for."""

from __future__ import annotations

import gc
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import boto3
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.drivers import open_driver
from tests.support.internals import (
    give_loaded_model,
    hold_words,
    loaded_model,
    unload_model,
)
from tests.support.model_server import (
    EMBEDDINGS,
    Fault,
    ModelServer,
    rate_limited,
    wrong_dimensions,
)
from tests.support.queues import sqs_server
from varve.adapters.models.cached_embedder import (
    CachedEmbedder,
    CachedWordEmbedder,
)
from varve.adapters.models.openai_embedder import OpenAIEmbedder
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.embedding import dimensions_of
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.record import Vector
from varve.domain.search.lexical import Floats
from varve.ports.models import Embedder

GTE = "thenlper/gte-base"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(api_key="sk-secret-0451") as running:
        yield running


def remote(
    server: ModelServer,
    model: str = GTE,
    dimensions: int = 768,
    **options: Any,
) -> OpenAIEmbedder:
    given: dict[str, Any] = {
        "api_key": server.api_key,
        "base_url": server.base_url,
        "max_retries": 0,
    }
    return OpenAIEmbedder(model, dimensions=dimensions, **given | options)


@pytest.fixture(scope="module")
def local() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture(params=["remote", "local", "cached remote", "cached local"])
def embedder(
    request: pytest.FixtureRequest,
    server: ModelServer,
    local: WordLlamaEmbedder,
) -> Embedder:
    inner: Embedder = local if "local" in request.param else remote(server)
    return CachedEmbedder(inner) if "cached" in request.param else inner


def test_a_key_that_is_rotated_while_a_process_lives_is_read_anew_once(
    server: ModelServer,
) -> None:
    with sqs_server(), closing(boto3.client("secretsmanager")) as secrets:
        secrets.create_secret(Name="varve/key", SecretString=server.api_key)
        environment = {
            "OPENAI_BASE_URL": server.base_url,
            "VARVE_API_KEY_SECRET": "varve/key",
        }
        driver = open_driver(
            {**environment, "VARVE_EMBEDDER": f"openai:{GTE}:768"}
        )
        driver.embedder().embed(["before"])
        server.api_key = "sk-rotated-0815"
        with pytest.raises(Misconfigured, match="refused the key"):
            driver.embedder().embed(["not yet in the secret"])
        secrets.put_secret_value(
            SecretId="varve/key", SecretString=server.api_key
        )
        server.requests.clear()
        driver.embedder().embed(["after"])
        driver.embedder().embed(["long after"])
        keys = [
            request.headers["authorization"] for request in server.requests
        ]
        assert keys == [
            "Bearer sk-secret-0451",
            *["Bearer sk-rotated-0815"] * 2,
        ]


def test_a_client_that_is_left_to_the_garbage_collector_leaves_no_socket_open(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector finalizes what hangs together in the order of its list: here the socket comes first."""

    def used() -> None:
        held = [remote(server)]
        held[0].embed(["Dana moved to Lisbon."])
        (connected,) = [
            each
            for each in gc.get_objects()
            if isinstance(each, socket.socket)
            and _peer(each) == ("127.0.0.1", server.port)
        ]
        # The collector moves whom it reaches by way of `held` behind the socket, which a frame holds.
        gc.collect()
        assert connected.fileno() >= 0

    complaints: list[object] = []
    monkeypatch.setattr(
        sys,
        "unraisablehook",
        lambda unraisable: complaints.append(unraisable.exc_value),
    )
    gc.collect()
    complaints.clear()
    used()
    gc.collect()
    assert complaints == []


def _peer(connection: socket.socket) -> object:
    try:
        return connection.getpeername()
    except OSError:
        return None


class TestEveryEmbedder:
    def test_gives_each_text_a_unit_vector_of_the_dimensions_in_its_name(
        self, embedder: Embedder
    ) -> None:
        for vector in embedder.embed(
            ["Dana moved to Lisbon.", "Error E-4711 in build 2.3.1", "Olá!"]
        ):
            assert vector.dtype == np.float32
            assert vector.shape == (dimensions_of(embedder.model),)
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)

    def test_keeps_the_order_of_more_texts_than_one_request_carries(
        self, embedder: Embedder
    ) -> None:
        texts = [f"ticket number {number}" for number in range(150)]
        together = embedder.embed(texts)
        assert len(together) == 150
        for at in (0, 63, 64, 149):
            assert np.array_equal(together[at], embedder.embed([texts[at]])[0])

    def test_gives_a_text_the_same_vector_in_any_company(
        self, embedder: Embedder
    ) -> None:
        alone = embedder.embed(["Dana likes tea"])[0]
        beside = embedder.embed(
            ["x", "a much longer text " * 50, "Dana likes tea"]
        )[2]
        assert np.array_equal(alone, beside)

    def test_puts_texts_of_one_matter_nearer_than_others(
        self, embedder: Embedder
    ) -> None:
        asked, answer, other = embedder.embed(
            [
                "where does Dana live",
                "Dana does live in Lisbon",
                "seventeen overdue invoices",
            ]
        )
        assert asked @ answer > asked @ other

    def test_gives_no_vectors_for_no_texts(self, embedder: Embedder) -> None:
        assert embedder.embed([]) == []

    def test_takes_a_text_twice_in_one_call(self, embedder: Embedder) -> None:
        first, _, again = embedder.embed(["tea", "coffee", "tea"])
        assert np.array_equal(first, again)

    @pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
    def test_calls_a_blank_text_a_programming_error(
        self, embedder: Embedder, blank: str
    ) -> None:
        with pytest.raises(ValueError, match="blank"):
            embedder.embed(["something", blank])

    def test_takes_a_text_far_longer_than_any_model_reads(
        self, embedder: Embedder
    ) -> None:
        vector = embedder.embed(["word " * 100_000])[0]
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


class TestRemote:
    def test_sends_bounded_requests(self, server: ModelServer) -> None:
        remote(server, batch_texts=2).embed(["one", "two", "three"])
        remote(server).embed(["x" * 5_999] * 40)
        sizes = [len(request.body["input"]) for request in server.embeddings]
        assert sizes == [2, 1, 16, 16, 8]

    def test_cuts_a_text_at_the_stated_number_of_characters(
        self, server: ModelServer
    ) -> None:
        remote(server, text_characters=10).embed(["0123456789abcdef"])
        assert server.embeddings[0].body["input"] == ["0123456789"]

    @pytest.mark.parametrize(
        ("model", "asked"),
        [
            ("text-embedding-3-small", 256),
            ("openai/text-embedding-3-large", 256),
            (GTE, None),
        ],
    )
    def test_asks_for_dimensions_only_where_a_model_can_cut(
        self, server: ModelServer, model: str, asked: int | None
    ) -> None:
        remote(server, model, dimensions=asked or 768).embed(["tea"])
        assert server.embeddings[0].body.get("dimensions") == asked

    def test_names_both_dimensions_when_they_differ(
        self, server: ModelServer
    ) -> None:
        server.fail_next(wrong_dimensions(384))
        with pytest.raises(Misconfigured, match=r"384 .* 768"):
            remote(server).embed(["tea"])

    def test_goes_by_the_index_and_not_by_the_order_of_the_answer(
        self, server: ModelServer
    ) -> None:
        server.fail_next(_answer((1, [0.0, 3.0]), (0, [2.0, 0.0])))
        first, second = remote(server, dimensions=2).embed(["a", "b"])
        assert first.tolist() == [1, 0]
        assert second.tolist() == [0, 1]

    @pytest.mark.parametrize(
        "answer",
        [
            [(0, [1.0, 0.0])],
            [(0, [1.0, 0.0]), (0, [1.0, 0.0])],
            [(1, [1.0, 0.0]), (2, [1.0, 0.0])],
            [(0, [1.0, 0.0]), (1, [0.0, 0.0])],
            [(0, [1.0, 0.0]), (1, [float("nan"), 0.0])],
            [(0, [1.0, 0.0]), (1, ["tea", "coffee"])],
        ],
        ids=[
            "too few",
            "twice the same",
            "wrong numbers",
            "no direction",
            "no numbers",
            "no vector",
        ],
    )
    def test_takes_no_faulty_answer(
        self, server: ModelServer, answer: list[tuple[int, list[Any]]]
    ) -> None:
        server.fail_next(_answer(*answer))
        with pytest.raises(Retryable):
            remote(server, dimensions=2).embed(["a", "b"])

    @pytest.mark.parametrize(
        "body",
        [b"<html>busy</html>", b'{"data": [{', b"\xff\xfe", b"[]", b"null"],
    )
    def test_takes_a_malformed_body_for_an_outage(
        self, server: ModelServer, body: bytes
    ) -> None:
        server.fail_next(Fault(200, body=body))
        with pytest.raises(Retryable):
            remote(server).embed(["tea"])

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (401, Misconfigured),
            (404, Misconfigured),
            (429, Retryable),
            (400, Rejected),
        ],
    )
    def test_says_what_the_caller_must_do(
        self, server: ModelServer, status: int, error: type[Exception]
    ) -> None:
        server.fail_next(Fault(status))
        with pytest.raises(error) as raised:
            remote(server).embed(["my secret diary"])
        assert server.api_key not in str(raised.value)
        assert "diary" not in str(raised.value)

    def test_tries_again_after_the_wait_it_is_told(
        self, server: ModelServer
    ) -> None:
        server.fail_next(rate_limited(0.01))
        assert len(remote(server, max_retries=1).embed(["tea"])) == 1
        assert len(server.embeddings) == 2


def _answer(*items: tuple[int, Sequence[Any]]) -> Fault:
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in items
    ]
    return Fault(
        200,
        body=json.dumps({"object": "list", "data": data}).encode(),
        path=EMBEDDINGS,
    )


class Counting:
    """An embedder that logs what it is asked for."""

    model = "counting:2"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(list(texts))
        return [np.array([len(text), 1], dtype=np.float32) for text in texts]


class TestCache:
    def test_asks_only_for_what_is_new_and_once_for_each(self) -> None:
        inner = Counting()
        cached = CachedEmbedder(inner)
        cached.embed(["a", "bb"])
        vectors = cached.embed(["bb", "ccc", "a", "ccc"])
        assert inner.asked == [["a", "bb"], ["ccc"]]
        assert [vector[0] for vector in vectors] == [2, 3, 1, 3]

    def test_forgets_what_was_used_least_lately(self) -> None:
        inner = Counting()
        cached = CachedEmbedder(inner, capacity=2)
        for text in ("a", "b", "a", "c", "a", "b"):
            cached.embed([text])
        assert inner.asked == [["a"], ["b"], ["c"], ["b"]]

    def test_answers_a_call_larger_than_itself(self) -> None:
        cached = CachedEmbedder(Counting(), capacity=2)
        assert [
            vector[0] for vector in cached.embed(["a", "bb", "ccc", "dddd"])
        ] == [
            1,
            2,
            3,
            4,
        ]

    def test_hands_out_vectors_that_no_caller_can_change(self) -> None:
        vector = CachedEmbedder(Counting()).embed(["a"])[0]
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 7

    def test_keeps_nothing_of_a_failed_call(self, server: ModelServer) -> None:
        cached = CachedEmbedder(remote(server))
        server.fail_next(Fault(429))
        with pytest.raises(Retryable):
            cached.embed(["tea"])
        assert len(cached.embed(["tea"])) == 1

    def test_is_called_what_the_inner_is_called(self) -> None:
        assert CachedEmbedder(Counting()).model == "counting:2"


class Letters:
    """KnowsWords: a word's vector is 256 times the number of its first letter; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_words(self, words: Sequence[str]) -> Floats:
        self.asked += words
        return np.array([[ord(word[0])] * 256 for word in words], np.float32)


class TestCacheOfWords:
    def test_asks_for_each_word_once(self) -> None:
        inner = Letters()
        cached = CachedWordEmbedder(Counting(), inner)
        for words in (["b", "a", "b"], ["a", "c"], []):
            found = cached.embed_words(words)
            assert found.tolist() == [
                [float(ord(word))] * 256 for word in words
            ]
        assert inner.asked == ["b", "a", "c"]

    def test_begins_anew_where_the_words_become_too_many(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hold_words(monkeypatch, 2)
        inner = Letters()
        cached = CachedWordEmbedder(Counting(), inner)
        for words in (["a", "b"], ["b", "c"], ["a", "b", "c"], ["c"]):
            assert cached.embed_words(words)[:, 0].tolist() == [
                float(ord(word)) for word in words
            ]
        assert inner.asked == ["a", "b", "b", "c", "a", "b", "c", "c"]


class TestEmbedded:
    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        deadline=None,
    )
    @given(text=st.text(min_size=1).filter(lambda text: bool(text.strip())))
    def test_has_a_direction_for_every_text_there_is(
        self, local: WordLlamaEmbedder, text: str
    ) -> None:
        assert np.linalg.norm(local.embed([text])[0]) == pytest.approx(
            1, abs=1e-5
        )

    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        deadline=None,
    )
    @given(
        text=st.text(st.characters(codec="utf-8"), min_size=1).filter(
            lambda text: bool(text.strip())
        ),
        times=st.integers(1, 300),
    )
    def test_gives_the_vector_of_the_models_own_method(
        self, local: WordLlamaEmbedder, text: str, times: int
    ) -> None:
        long = f"{text} tea, " * times
        (expected,) = loaded_model(local).embed([long[:8_000]])
        length = np.float32(np.linalg.norm(expected))
        assert np.array_equal(local.embed([long])[0], expected / length)

    def test_gives_a_text_without_tokens_a_fixed_direction(self) -> None:
        class Void:
            ids: tuple[int, ...] = ()

            @property
            def tokenizer(self) -> Void:
                return self

            def encode(self, _text: str, **_options: bool) -> Void:
                return self

        embedder = WordLlamaEmbedder()
        give_loaded_model(embedder, Void())
        assert np.linalg.norm(embedder.embed(["\u2063"])[0]) == 1

    def test_loads_and_embeds_without_a_socket(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(socket, "socket", _no_socket)
        monkeypatch.setattr(socket, "getaddrinfo", _no_socket)
        unload_model()
        assert len(WordLlamaEmbedder().embed(["tea"])) == 1

    def test_leaves_the_applications_logging_alone(self) -> None:
        script = (
            "import logging; from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder as E;"
            "E().embed(['tea']); root = logging.getLogger(); print(root.level, root.handlers)"
        )
        printed = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert printed.stdout.split() == [str(logging.WARNING), "[]"]
        assert printed.stderr == ""


def _no_socket(*args: object, **options: object) -> Callable[..., object]:
    raise AssertionError("the embedded model must not touch the network")
