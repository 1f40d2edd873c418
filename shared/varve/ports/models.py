"""The ports to models: embedders, extractors, summarizers, chat models, detectors."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pydantic import BaseModel

from varve.domain.allowance import Allowance
from varve.domain.extraction import Batch, Extraction
from varve.domain.personal import Detection
from varve.domain.record import Vector
from varve.domain.summary import Summary, SummaryTask

Reply = TypeVar("Reply", bound=BaseModel)


class Summarizer(Protocol):
    """Writer of a period's summary from its sources."""

    @property
    def name(self) -> str:
        """The model and its prompt, or the rules; changes whenever results may change."""

    def summarize(self, task: SummaryTask) -> Summary:
        """Return the summary, its text within the task's budget of tokens.

        Raises Retryable, Rejected, Misconfigured.
        """


class Embedder(Protocol):
    """A model that turns texts into vectors, the same for writing and for searching."""

    @property
    def model(self) -> str:
        """The model's name and dimensions, as recorded in each store: `name:256`."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, float32, of unit length.

        Raises Retryable, Misconfigured.
        """


class Extractor(Protocol):
    """Reader of a part of a conversation that returns the facts and triples to keep."""

    @property
    def name(self) -> str:
        """The model and its prompt, or the rules; changes whenever results may change."""

    def extract(self, batch: Batch) -> Extraction:
        """Return the batch's facts and triple operations.

        Raises Retryable, Rejected, Misconfigured.
        """


class LLM(Protocol):
    """A chat model that replies in a given JSON shape."""

    @property
    def model(self) -> str:
        """The model's name."""

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """Return one validated reply.

        Raises Retryable, Rejected (the reply is not valid), Misconfigured.
        """


class Detector(Protocol):
    """Detector of personal data or secrets in a text."""

    def find(
        self, text: str, allowance: Allowance | None = None
    ) -> Sequence[Detection]:
        """Return all findings, in any order; findings may overlap.

        Out of time, it returns the findings so far. None: an allowance of its own, without
        a limit of time. Raises Misconfigured.
        """
