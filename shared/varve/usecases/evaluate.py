"""Evaluate: ask a caller's own questions and measure the answers."""

from collections.abc import Sequence

from varve.domain.evaluation import (
    CUTS,
    VARIANTS,
    Figures,
    LabelledQuestion,
    average,
    judge,
)
from varve.domain.search.query import SearchRequest
from varve.usecases.search import search
from varve.usecases.session import Session


def evaluate_retrieval(
    session: Session, questions: Sequence[LabelledQuestion]
) -> dict[str, Figures]:
    """Return the mean figures of the questions, for all memory types and for each.

    `withoutSummaries` searches the words and the facts alone. Nothing is written.
    Raises Rejected, Misconfigured, Retryable.
    """
    found: dict[str, Figures] = {}
    for name, types in VARIANTS.items():
        figures = []
        for question in questions:
            request = SearchRequest.model_validate(
                {
                    "query_text": question.question,
                    "user_id": question.user_id,
                    "memory_types": list(types),
                    "max_results": max(CUTS),
                }
            )
            figures.append(judge(question, search(session, request).results))
        found[name] = average(figures)
    return found
