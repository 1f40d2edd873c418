"""A reranking model behind a `/rerank` endpoint, as Cohere, Jina and vLLM offer it."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Thread
from typing import TYPE_CHECKING, Any

from varve.adapters.models.openai_client import Provider
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.usage import Item
from varve.ports.meter import Meter

if TYPE_CHECKING:
    import openai

DEADLINE_SECONDS = 2.0
MAX_RERANKED_CHARACTERS = 2_000

_SUBJECT = "rerank"


class HttpReranker:
    """The Reranker port over `/rerank`.

    It sends `{"model", "query", "documents"}`. The answer is a list `results` (or `data`)
    of items with `index` and `relevance_score` (or `score`). `deadline` is in seconds, from
    the call to the complete answer. `meter` counts the answers. `reread` returns the
    current key if one is refused.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str,
        deadline: float = DEADLINE_SECONDS,
        meter: Meter | None = None,
        reread: Callable[[], str] | None = None,
    ) -> None:
        self._provider = Provider(
            model,
            "VARVE_RERANKER",
            base_url,
            api_key,
            timeout=deadline,
            max_retries=0,
            reread=reread,
        )
        self._deadline = deadline
        self._meter = meter or Meter()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order.

        Raises Retryable, Rejected, Misconfigured.
        """
        if not texts:
            return []
        answer: Future[Any] = Future()
        # The client's own timeout limits single waits, so a slow answer could exceed it.
        thread = Thread(
            target=self._ask, args=(query, texts, answer), daemon=True
        )
        thread.start()
        try:
            body = answer.result(timeout=self._deadline)
            self._meter.add(Item.MODEL_CALLS.of(self._provider.model))
            return self._scores(body, len(texts))
        except FutureTimeoutError:
            host = self._provider.host
            raise Retryable(
                f"{_SUBJECT}: {host} took longer than {self._deadline:g} s"
            ) from None

    def _ask(
        self, query: str, texts: Sequence[str], answer: "Future[Any]"
    ) -> None:
        body = {
            "model": self._provider.model,
            "query": query[:MAX_RERANKED_CHARACTERS],
            "documents": [text[:MAX_RERANKED_CHARACTERS] for text in texts],
        }

        def post(client: "openai.OpenAI") -> object:
            return client.post("/rerank", cast_to=object, body=body)

        try:
            answer.set_result(self._provider.ask(_SUBJECT, post))
        except (Retryable, Rejected, Misconfigured) as error:
            answer.set_exception(error)

    def _scores(self, answer: Any, count: int) -> list[float]:
        """Return the answer's scores by index.

        Raises Retryable: there is not exactly one finite score for each text.
        """
        try:
            scores = _parse_scores(answer)
        except (AttributeError, KeyError, TypeError, ValueError):
            scores = {}
        complete = scores.keys() == set(range(count))
        finite = all(map(math.isfinite, scores.values()))
        if not complete or not finite:
            host = self._provider.host
            raise Retryable(
                f"{_SUBJECT}: {host} did not answer with a score for each text"
            )
        return [scores[index] for index in range(count)]


def _parse_scores(answer: Any) -> dict[int, float]:
    fields = answer if isinstance(answer, dict) else {"results": answer}
    scores = {}
    for item in fields.get("results") or fields["data"]:
        score = item.get("relevance_score", item.get("score"))
        scores[item["index"]] = float(score)
    return scores
