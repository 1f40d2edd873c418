"""Weights of a search and its half-life, fitted on a caller's own questions.

A fit tries a few values of each weight in turn and keeps the best. Cross-validation
tells the worth of a fit: each fifth of the questions is asked with the setting that was
fitted on the others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, pstdev
from typing import Any

from varve.domain.evaluation import Figures
from varve.domain.search.strategies import BALANCED, HALF_LIFE_DAYS, MAX_WEIGHT

LEAST_QUESTIONS = 50
"""With fewer questions a fit tells more of chance than of the memory."""
FOLDS = 5
FACTORS = (0.5, 2.0)
"""What each weight is multiplied by."""
HALF_LIVES = (30.0, 90.0, 180.0, 365.0, 730.0)
LEAST_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class Setting:
    """A half-life in days, and the weights that differ from the default ones, by name."""

    half_life_days: float = HALF_LIFE_DAYS
    weights: tuple[tuple[str, float], ...] = ()

    def with_weight(self, name: str, weight: float) -> "Setting":
        """Return the setting with one weight replaced."""
        bounded = max(-MAX_WEIGHT, min(MAX_WEIGHT, round(weight, 3)))
        others = {**dict(self.weights), name: bounded}
        if bounded == BALANCED.weights[name]:
            del others[name]
        return Setting(self.half_life_days, tuple(sorted(others.items())))

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that store the setting; none for the default one."""
        found: list[str] = []
        if self.half_life_days != HALF_LIFE_DAYS:
            found.append(
                f"varve config set search.halfLifeDays {self.half_life_days:g}"
            )
        if self.weights:
            text = ",".join(f"{name}={one:g}" for name, one in self.weights)
            found.append(f"varve config set search.weights {text}")
        return tuple(found)


Scorer = Callable[[Setting], Sequence[float]]
"""Returns how well each question is answered with a setting, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What fitting is worth: scores of questions that the fit did not see.

    `before` and `after` are means over all questions, with the present and the fitted
    settings; `error` is the standard error of their difference. `proposed` is the setting
    fitted on all questions, or None: the gain is no more than its error.
    """

    questions: int
    before: float
    after: float
    error: float
    proposed: Setting | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; `commands` store the proposal."""
        setting = self.proposed
        return {
            "questions": self.questions,
            "before": round(self.before, 4),
            "after": round(self.after, 4),
            "standardError": round(self.error, 4),
            "halfLifeDays": setting and setting.half_life_days,
            "weights": setting and dict(setting.weights),
            "commands": list(setting.commands) if setting else [],
        }


def rate(figures: Figures) -> float:
    """Return one figure of an answer: the mean of recall among ten and the first's rank."""
    return (figures.recall[10] + figures.mrr) / 2


def tune(score: Scorer, start: Setting, questions: int) -> Tuning:
    """Fit a setting on questions and tell what it is worth on those it did not see."""
    cache: dict[Setting, Sequence[float]] = {}

    def score_once(setting: Setting) -> Sequence[float]:
        if setting not in cache:
            cache[setting] = score(setting)
        return cache[setting]

    numbers = range(questions)
    before = score_once(start)
    after: dict[int, float] = {}
    for fold in range(FOLDS):
        known = [number for number in numbers if number % FOLDS != fold]
        fitted = score_once(_fit(score_once, known, start))
        for number in range(fold, questions, FOLDS):
            after[number] = fitted[number]
    gains = [after[number] - before[number] for number in numbers]
    error = pstdev(gains) / sqrt(questions)
    proposed = None
    if fmean(gains) > error:
        proposed = _fit(score_once, numbers, start)
    return Tuning(
        questions, fmean(before), fmean(after.values()), error, proposed
    )


def _fit(score: Scorer, numbers: Sequence[int], start: Setting) -> Setting:
    """Return the best setting for these questions that is found by one value after the other."""
    best = start
    reached = _mean(score(best), numbers)
    for name in (None, *BALANCED.weights):
        for other in list(_vary(best, name)):
            mean = _mean(score(other), numbers)
            if mean > reached + LEAST_STEP:
                best = other
                reached = mean
    return best


def _vary(setting: Setting, name: str | None) -> Iterator[Setting]:
    """Yield the setting with other values of one weight, or of the half-life."""
    if name is None:
        for days in HALF_LIVES:
            if days != setting.half_life_days:
                yield Setting(days, setting.weights)
        return
    weight = dict(setting.weights).get(name, BALANCED.weights[name])
    for factor in FACTORS:
        yield setting.with_weight(name, weight * factor)


def _mean(scores: Sequence[float], numbers: Sequence[int]) -> float:
    return fmean(scores[number] for number in numbers)
