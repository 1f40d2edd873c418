"""What reads and writes words: embedders, extractors, summarizers, chat models, detectors."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pydantic import BaseModel

from varve.domain.extraction import Batch, Extraction
from varve.domain.personal import Detection
from varve.domain.record import Vector
from varve.domain.summary import Summary, SummaryTask

Reply = TypeVar("Reply", bound=BaseModel)


class Summarizer(Protocol):
    """Says in few words what a period's sources say."""

    @property
    def name(self) -> str:
        """Which model and prompt, or which rules, in a form that changes when the results may."""

    def summarize(self, task: SummaryTask) -> Summary:
        """The summary, its text within the task's budget. Raises Retryable, Rejected, Misconfigured."""


class Embedder(Protocol):
    """Turns texts into vectors; the same one for writing and asking."""

    @property
    def model(self) -> str:
        """The model's name and dimensions, as recorded in each store: `name:256`."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, float32, unit length. Raises Retryable, Misconfigured."""


class Extractor(Protocol):
    """Reads a batch of a conversation and says what to remember."""

    @property
    def name(self) -> str:
        """Which model and prompt, or which rules, in a form that changes when the results may."""

    def extract(self, batch: Batch) -> Extraction:
        """The batch's facts and triple operations. Raises Retryable, Rejected, Misconfigured."""


class LLM(Protocol):
    """A chat model that answers in a given shape."""

    @property
    def model(self) -> str:
        """The model's name."""

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """One answer, validated. Raises Retryable, Rejected (no valid answer), Misconfigured."""


class Detector(Protocol):
    """Finds personal data or secrets in a text."""

    def find(self, text: str) -> Sequence[Detection]:
        """The findings, in any order, overlapping ones each for itself. Raises Misconfigured."""
