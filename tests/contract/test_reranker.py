"""What the reranker's adapter does with every kind of answer an endpoint gives, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import boto3
import pytest

from tests.support.drivers import open_driver
from tests.support.loopback import LoopbackHandler, LoopbackServer
from tests.support.queues import sqs_server
from varve.adapters.models.http_reranker import (
    MAX_RERANKED_CHARACTERS,
    HttpReranker,
)
from varve.domain.errors import Misconfigured, Rejected, Retryable

KEY = "rank-secret-0451"
TEXTS = ["Dana has a cat.", "The boiler bangs.", "A week in Lisbon."]


class RerankServer(LoopbackServer):
    """Answers `/v1/rerank` with what `answer` holds; `released` lets a slow answer go on."""

    def __init__(self) -> None:
        self.answer: Any = {}
        self.status = 200
        self.requests: list[dict[str, Any]] = []
        self.slow = False
        self.released = threading.Event()
        super().__init__(_Handler)

    @property
    def base_url(self) -> str:
        return f"http://{self.address}/v1"


class _Handler(LoopbackHandler):
    def post(self) -> None:
        server: RerankServer = self.server.owner  # type: ignore[attr-defined]
        body = json.loads(self.body())
        server.requests.append(
            {"path": self.path, "key": self.headers["Authorization"], **body}
        )
        if server.slow:
            self.trickle(server)
        elif isinstance(server.answer, bytes):
            self.answer(server.status, server.answer)
        else:
            self.answer_json(server.status, server.answer)

    def trickle(self, server: RerankServer) -> None:
        """A byte now and then: no single wait is long, the whole answer never comes."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not server.released.wait(0.05):
            self.wfile.write(b" ")


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running
        running.released.set()


def reranker(
    server: RerankServer, deadline: float = 10.0, key: str = KEY
) -> HttpReranker:
    return HttpReranker(
        "some/ranker", api_key=key, base_url=server.base_url, deadline=deadline
    )


@pytest.mark.parametrize(
    "shape", ["cohere", "voyage", "text embeddings inference"]
)
def test_scores_come_back_in_the_order_of_the_texts(
    server: RerankServer, shape: str
) -> None:
    name = (
        "score" if shape == "text embeddings inference" else "relevance_score"
    )
    items = [
        {"index": 1, name: 0.9},
        {"index": 2, name: -3},
        {"index": 0, name: 0.25},
    ]
    server.answer = {
        "cohere": {"results": items},
        "voyage": {"data": items},
    }.get(shape, items)
    assert reranker(server).rerank("what bangs?", TEXTS) == [0.25, 0.9, -3.0]
    (asked,) = server.requests
    assert asked == {
        "path": "/v1/rerank", "key": f"Bearer {KEY}", "model": "some/ranker",
        "query": "what bangs?", "documents": TEXTS,
    }  # fmt: skip


def test_no_texts_are_no_request(server: RerankServer) -> None:
    assert reranker(server).rerank("what?", []) == []
    assert server.requests == []


def test_long_texts_are_cut(server: RerankServer) -> None:
    server.answer = {"results": [{"index": 0, "relevance_score": 1.0}]}
    reranker(server).rerank("q" * 9_000, ["x" * 9_000])
    (asked,) = server.requests
    assert (len(asked["query"]), len(asked["documents"][0])) == (
        MAX_RERANKED_CHARACTERS,
        MAX_RERANKED_CHARACTERS,
    )


def test_an_answer_that_only_trickles_in_is_given_up_at_the_deadline(
    server: RerankServer,
) -> None:
    server.slow = True
    with pytest.raises(Retryable, match=r"took longer than 0\.3 s|no answer"):
        reranker(server, deadline=0.3).rerank("what?", TEXTS)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 1.0}]},
        {
            "results": [
                {"index": i, "relevance_score": "NaN"} for i in range(3)
            ]
        },
        {
            "results": [
                {"index": 7 - i, "relevance_score": 1.0} for i in range(3)
            ]
        },
        {"results": [{"index": i} for i in range(3)]},
        {"results": "none"},
        [1, 2, 3],
        "sorry",
        b"<html>",
    ],
)
def test_an_answer_of_another_shape_is_tried_again_elsewhere(
    server: RerankServer, answer: Any
) -> None:
    server.answer = answer
    with pytest.raises(Retryable):
        reranker(server).rerank("what?", TEXTS)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, Retryable),
        (500, Retryable),
        (401, Misconfigured),
        (404, Misconfigured),
        (422, Rejected),
    ],
)
def test_a_refusal_is_named_by_what_to_do_and_asked_only_once(
    server: RerankServer, status: int, error: type[Exception]
) -> None:
    server.status, server.answer = (
        status,
        {"error": {"message": f"{KEY} {TEXTS[0]}"}},
    )
    with pytest.raises(error) as raised:
        reranker(server).rerank("what?", TEXTS)
    assert len(server.requests) == 1
    assert KEY not in str(raised.value)
    assert TEXTS[0] not in str(raised.value)


def test_a_server_that_is_gone_is_retryable() -> None:
    with RerankServer() as gone:
        url = gone.base_url
    with pytest.raises(Retryable):
        HttpReranker("m", api_key=KEY, base_url=url).rerank("what?", TEXTS)


def test_a_secret_is_read_once_for_all_questions(server: RerankServer) -> None:
    environment = {
        "OPENAI_BASE_URL": server.base_url,
        "VARVE_API_KEY_SECRET": "varve/key",
        "VARVE_RERANKER": "openai:some/ranker",
    }
    server.answer = {"results": [{"index": 0, "relevance_score": 0.5}]}
    with sqs_server(), closing(boto3.client("secretsmanager")) as secrets:
        secrets.create_secret(Name="varve/key", SecretString="old")
        driver = open_driver(environment)
        for secret in ("old", "never read"):
            secrets.put_secret_value(SecretId="varve/key", SecretString=secret)
            for question in ("first", "second"):
                asked = driver.reranker()
                assert asked is not None
                assert asked.rerank(question, TEXTS[:1]) == [0.5]
    assert [request["key"] for request in server.requests] == [
        "Bearer old"
    ] * 4


def test_a_key_that_is_none_is_refused_before_anything_is_sent(
    server: RerankServer,
) -> None:
    with pytest.raises(Misconfigured, match="VARVE_RERANKER"):
        reranker(server, key="").rerank("what?", TEXTS)
    assert server.requests == []
