"""Evaluate: ask a caller's own questions and measure the answers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.errors import Rejected
from varve.domain.evaluation import (
    CUTS,
    VARIANTS,
    Figures,
    LabelledQuestion,
    average,
    judge,
)
from varve.domain.record import MemoryType
from varve.domain.search.answer import Result
from varve.domain.search.query import SearchRequest
from varve.domain.statements.answers.repeats import StoreWords, list_sources
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.tuning import LEAST_QUESTIONS, Setting, Tuning, rate, tune
from varve.usecases.search.find import Stock, read_columns
from varve.usecases.search.search import build_lookup, look_up, search
from varve.usecases.session import Session


def evaluate_retrieval(
    session: Session, questions: Sequence[LabelledQuestion]
) -> dict[str, Figures]:
    """Return the mean figures of the questions, for all memory types and for each.

    `withoutSummaries` searches the words and the facts alone. Nothing is written.
    Raises Rejected, Misconfigured, Retryable.
    """
    if not questions:
        raise Rejected("questions", "must hold at least one item")
    told = _SummarizedMessages(session)
    found: dict[str, Figures] = {}
    for name, types in VARIANTS.items():
        figures = []
        for question in questions:
            request = _build_request(question, types)
            results = told.name_in(search(session, request).results)
            figures.append(judge(question, results))
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

    told = _SummarizedMessages(session)

    def score(setting: Setting) -> list[float]:
        asked = replace(
            lookup,
            half_life_days=setting.half_life_days,
            weights=dict(setting.weights),
        )
        scores: list[float] = []
        for question, request in zip(questions, requests, strict=True):
            results = told.name_in(look_up(asked, request).results)
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


class _SummarizedMessages:
    """The messages that an agent's summaries tell in a sentence, each summary read once.

    A summary of a year is made from every message; it answers for those alone whose
    words it tells.
    """

    def __init__(self, session: Session) -> None:
        reader = session.records.at(session.scope)
        stock = Stock(session.scope, reader, session.embedder)
        levels = (read_columns(stock, grain) for grain in SUMMARY_GRAINS)
        self._told = read_columns(stock, Grain.WORKING)
        self._levels = [level for level in levels if level is not None]
        self._known: dict[str, list[str]] = {}

    def name_in(self, results: Sequence[Result]) -> list[Result]:
        """Return results whose summaries have the ids of such messages as sources."""
        return [self._name(result) for result in results]

    def _name(self, result: Result) -> Result:
        if result.memory_type != MemoryType.SUMMARY:
            return result
        if result.id not in self._known:
            ids = dict.fromkeys(self._find_messages(result))
            self._known[result.id] = list(ids)
        return result.model_copy(update={"source_ids": self._known[result.id]})

    def _find_messages(self, summary: Result) -> Iterator[str]:
        if self._told is None:
            return
        sources = list_sources([summary.id], self._levels, self._told)
        words = self._told.derive(StoreWords)
        for sentence in read_sentences(summary.content):
            for row in words.list_telling(sentence, sorted(sources)):
                yield from self._told.sources[row]
