"""Evaluate: ask a caller's own questions and measure the answers."""

from collections.abc import Sequence
from dataclasses import replace

from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.evaluation import (
    CUTS,
    VARIANTS,
    Figures,
    LabelledQuestion,
    average,
    judge,
)
from varve.domain.search.query import SearchRequest
from varve.domain.tuning import (
    LEAST_QUESTIONS,
    Setting,
    Tuning,
    rate,
    tune,
)
from varve.usecases.search import build_lookup, look_up, search
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
            request = _build_request(question, types)
            figures.append(judge(question, search(session, request).results))
        found[name] = average(figures)
    return found


def find_unknown_messages(
    session: Session, questions: Sequence[LabelledQuestion]
) -> list[str]:
    """Return the message ids of the questions that no record comes from.

    No search can find these: they are misspelt, of another agent, or have expired.
    Raises Retryable.
    """
    unknown = {id_ for question in questions for id_ in question.message_ids}
    reader = session.records.at(session.scope)
    for grain in Grain:
        for label in reader.periods(session.scope, grain):
            if not unknown:
                return []
            for record in reader.in_period(session.scope, grain, label):
                unknown.difference_update(record.source_ids)
    return sorted(unknown)


def tune_retrieval(
    session: Session, questions: Sequence[LabelledQuestion]
) -> Tuning:
    """Fit half-life and weights on a caller's own questions; nothing is stored.

    Each fifth of the questions is judged with weights fitted on the others. Raises
    Rejected: there are fewer than `LEAST_QUESTIONS`; Misconfigured, Retryable.
    """
    if len(questions) < LEAST_QUESTIONS:
        raise Rejected(
            "questions",
            f"{len(questions)} are too few to fit weights; the least is {LEAST_QUESTIONS}",
        )
    requests = [_build_request(question) for question in questions]
    view = session.views.read(session, requests[0])
    lookup = replace(
        build_lookup(session.with_config(view.config), view), reranker=None
    )

    def score(setting: Setting) -> list[float]:
        asked = replace(
            lookup,
            half_life_days=setting.half_life_days,
            weights=dict(setting.weights),
        )
        scores: list[float] = []
        for question, request in zip(questions, requests, strict=True):
            results = look_up(asked, request).results
            scores.append(rate(judge(question, results)))
        return scores

    weights = sorted(lookup.weights.items())
    own = Setting(lookup.half_life_days, tuple(weights))
    return tune(score, own, len(questions))


def _build_request(
    question: LabelledQuestion, types: Sequence[str] = ()
) -> SearchRequest:
    return SearchRequest.model_validate(
        {
            "query_text": question.question,
            "user_id": question.user_id,
            "memory_types": list(types),
            "max_results": max(CUTS),
        }
    )
