"""Figures of a search over a caller's own questions with known answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from varve.domain.conversation import Reference
from varve.domain.errors import Rejected
from varve.domain.language.tokens import fold
from varve.domain.record import MemoryType
from varve.domain.search.answer import Result
from varve.domain.text import estimated_tokens
from varve.domain.validation import StrictCamelModel, rejected

CUTS = (5, 10, 20)
"""How many of the first results each recall counts."""


class LabelledQuestion(StrictCamelModel):
    """A question, and what answers it: the ids of messages, or words of the answer.

    A result answers if it comes from one of the messages, or has all of the words. A
    summary comes from the messages that its sentences tell.
    """

    question: Annotated[str, Field(min_length=1, max_length=10_000)]
    message_ids: tuple[Reference, ...] = ()
    words: tuple[str, ...] = ()
    user_id: Reference | None = None

    @model_validator(mode="after")
    def _require_answer(self) -> "LabelledQuestion":
        has_words = any(fold(word).strip() for word in self.words)
        if not self.message_ids and not has_words:
            raise ValueError("needs messageIds or words that answer it")
        return self

    def is_answered_by(self, result: Result) -> bool:
        """Return whether a result answers the question."""
        if not set(self.message_ids).isdisjoint(result.source_ids):
            return True
        content = fold(result.content)
        return bool(self.words) and all(
            fold(word) in content for word in self.words
        )

    def count_found(self, results: Iterable[Result]) -> float:
        """Return the share of the messages that the results come from.

        Without message ids: 1 if any result has the words, else 0.
        """
        found: set[str] = set()
        answered = False
        for result in results:
            found.update(set(self.message_ids).intersection(result.source_ids))
            answered = answered or self.is_answered_by(result)
        if self.message_ids:
            return len(found) / len(set(self.message_ids))
        return float(answered)


def parse_questions(value: object) -> list[LabelledQuestion]:
    """Return the questions of decoded JSON, an array of objects.

    Raises Rejected: names the question and its field.
    """
    if not isinstance(value, list) or not value:
        raise Rejected(
            "questions", "must be an array of at least one question"
        )
    questions: list[LabelledQuestion] = []
    for number, one in enumerate(value):
        try:
            questions.append(LabelledQuestion.model_validate(one))
        except ValidationError as error:
            raise rejected(error, f"questions[{number}].") from error
    return questions


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one question or, as means, of many.

    `recall` is the share of the answer found among the first results, by their number;
    `precision` the share of the first ten results that answer; `mrr` one divided by the
    rank of the first that does; `tokens` those of the first ten results.
    """

    recall: Mapping[int, float]
    precision: float
    mrr: float
    tokens: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values, rounded to four places."""
        shown: dict[str, Any] = {}
        for cut, share in self.recall.items():
            shown[f"recall@{cut}"] = round(share, 4)
        return shown | {
            "precision@10": round(self.precision, 4),
            "mrr": round(self.mrr, 4),
            "tokens@10": round(self.tokens, 1),
        }


def judge(question: LabelledQuestion, results: Sequence[Result]) -> Figures:
    """Return the figures of one answer, its results best first."""
    answers = [question.is_answered_by(result) for result in results]
    first_ten = results[:10]
    right = sum(answers[:10])
    precision = right / len(first_ten) if first_ten else 0.0
    reciprocal_rank = 0.0
    if True in answers:
        rank = answers.index(True) + 1
        reciprocal_rank = 1 / rank
    return Figures(
        recall={cut: question.count_found(results[:cut]) for cut in CUTS},
        precision=precision,
        mrr=reciprocal_rank,
        tokens=sum(estimated_tokens(result.content) for result in first_ten),
    )


def average(figures: Sequence[Figures]) -> Figures:
    """Return the means of at least one question's figures."""
    recall: dict[int, float] = {}
    for cut in CUTS:
        recall[cut] = fmean(one.recall[cut] for one in figures)
    return Figures(
        recall=recall,
        precision=fmean(one.precision for one in figures),
        mrr=fmean(one.mrr for one in figures),
        tokens=fmean(one.tokens for one in figures),
    )


VARIANTS: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "withoutSummaries": (MemoryType.FACT, MemoryType.TURN),
    "fact": (MemoryType.FACT,),
    "turn": (MemoryType.TURN,),
    "summary": (MemoryType.SUMMARY,),
}
"""The memory types that each line of an evaluation searches; none means all."""
