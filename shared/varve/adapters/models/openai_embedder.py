"""An embedding model behind OpenAI's protocol."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from varve.adapters.models.openai_client import Provider
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.record import Vector
from varve.ports.meter import Meter

MAX_TEXT_CHARACTERS = 6_000
MAX_BATCH_TEXTS = 64
MAX_BATCH_CHARACTERS = 100_000

_SUBJECT = "embedding"


class OpenAIEmbedder:
    """The Embedder port over the embeddings endpoint.

    A request has at most `batch_texts` texts and 100,000 characters. A text is cut to its
    first `text_characters`. `timeout` is in seconds. `meter` counts tokens. `reread`
    returns the current key if one is refused.
    """

    def __init__(
        self,
        model: str,
        *,
        dimensions: int,
        api_key: str | None,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        batch_texts: int = MAX_BATCH_TEXTS,
        text_characters: int = MAX_TEXT_CHARACTERS,
        meter: Meter | None = None,
        reread: Callable[[], str] | None = None,
    ) -> None:
        self._provider = Provider(
            model,
            "VARVE_EMBEDDER",
            base_url,
            api_key,
            timeout,
            max_retries,
            reread,
        )
        self._dimensions = dimensions
        self._batch_texts = batch_texts
        self._text_characters = text_characters
        self.meter = meter or Meter()

    @property
    def model(self) -> str:
        """The model's name and dimensions."""
        return f"{self._provider.model}:{self._dimensions}"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, float32, unit length, in order.

        Raises ValueError: a text is blank; Retryable; Rejected: the provider refuses a
        text; Misconfigured: wrong key or model, or vectors of other dimensions.
        """
        if not all(text.strip() for text in texts):
            raise ValueError("blank texts have no vector")
        cut = [text[: self._text_characters] for text in texts]
        vectors = []
        for batch in self._split(cut):
            vectors += self._embed(batch)
        return vectors

    def _split(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Split the texts into batches of a request's limits."""
        batch: list[str] = []
        size = 0
        for text in texts:
            full = len(batch) == self._batch_texts
            if batch and (full or size + len(text) > MAX_BATCH_CHARACTERS):
                yield batch
                batch = []
                size = 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _embed(self, batch: list[str]) -> list[Vector]:
        def request(client: Any) -> Any:
            # Floats, because not every provider supports the client's default of base64.
            return client.embeddings.create(
                model=self._provider.model,
                input=batch,
                encoding_format="float",
                **self._truncation(),
            )

        answer = self._provider.ask(_SUBJECT, request)
        model = self._provider.model
        self.meter.add_embedding(model, getattr(answer, "usage", None))
        items = _sort_items(answer, len(batch))
        return [self._to_unit(item.embedding) for item in items]

    def _truncation(self) -> dict[str, int]:
        """Return the `dimensions` parameter for models that can shorten their vectors.

        Other models refuse the parameter.
        """
        name = self._provider.model.rpartition("/")[2]
        if not name.startswith("text-embedding-3"):
            return {}
        return {"dimensions": self._dimensions}

    def _to_unit(self, values: Any) -> Vector:
        try:
            vector = np.asarray(values, dtype=np.float32)
        except (TypeError, ValueError):
            raise Retryable(
                f"{_SUBJECT}: {self._provider.host} answered without numbers"
            ) from None
        if vector.shape != (self._dimensions,):
            raise Misconfigured(
                f"VARVE_EMBEDDER: {self._provider.model} gives vectors of {vector.size} "
                f"dimensions, but {self._dimensions} are configured"
            )
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0.0:
            host = self._provider.host
            raise Retryable(
                f"{_SUBJECT}: {host} answered with a vector without direction"
            )
        unit: Vector = vector / np.float32(length)
        return unit


def _sort_items(answer: Any, count: int) -> list[Any]:
    """Return the answer's items in the order of their indices.

    Raises Retryable: there is not exactly one for each text.
    """
    items = getattr(answer, "data", None) or []
    by_index = {getattr(item, "index", None): item for item in items}
    complete = by_index.keys() == set(range(count))
    if len(items) != count or not complete:
        raise Retryable(
            f"{_SUBJECT}: expected vectors 0 to {count - 1}, got {len(items)} vectors"
        )
    return [by_index[index] for index in range(count)]
