"""A reranking model behind a `/rerank` endpoint, as Cohere made it and Jina, vLLM and others have it."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswerInTime
from threading import Thread
from typing import Any

from varve.adapters.models.openai_client import Provider
from varve.domain.errors import Misconfigured, Rejected, Retryable

DEADLINE_SECONDS = 2.0
MAX_TEXT_CHARACTERS = 2_000

_SUBJECT = "rerank"


class HttpReranker:
    """The Reranker port: `{"model", "query", "documents"}` in; `results` (or `data`) of `index` and
    `relevance_score` (or `score`) out. `deadline` is in seconds, from the call to the whole answer.
    `reread` reads a refused key anew.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str,
        deadline: float = DEADLINE_SECONDS,
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

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, in the texts' order. Raises Retryable, Rejected, Misconfigured."""
        if not texts:
            return []
        answer: Future[Any] = Future()
        # The client's own timeout is for each wait alone: an answer that trickles in would outlast it.
        Thread(target=self._ask, args=(query, texts, answer), daemon=True).start()
        try:
            return self._scores(answer.result(timeout=self._deadline), len(texts))
        except NoAnswerInTime:
            raise Retryable(
                f"{_SUBJECT}: {self._provider.host} took longer than {self._deadline:g} s"
            ) from None

    def _ask(self, query: str, texts: Sequence[str], answer: "Future[Any]") -> None:
        body = {
            "model": self._provider.model,
            "query": query[:MAX_TEXT_CHARACTERS],
            "documents": [text[:MAX_TEXT_CHARACTERS] for text in texts],
        }
        try:
            answer.set_result(
                self._provider.ask(
                    _SUBJECT,
                    lambda client: client.post("/rerank", cast_to=object, body=body),
                )
            )
        except (Retryable, Rejected, Misconfigured) as error:
            answer.set_exception(error)

    def _scores(self, answer: Any, count: int) -> list[float]:
        """The scores by index. Raises Retryable: not exactly one for each text."""
        fields = answer if isinstance(answer, dict) else {"results": answer}
        try:
            items = fields.get("results") or fields["data"]
            found = {
                item["index"]: float(item.get("relevance_score", item.get("score")))
                for item in items
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            found = {}
        if found.keys() != set(range(count)) or not all(
            map(math.isfinite, found.values())
        ):
            raise Retryable(
                f"{_SUBJECT}: {self._provider.host} did not answer with a score for each text"
            )
        return [found[index] for index in range(count)]
