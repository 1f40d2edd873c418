"""Fits how a question judges statements: `python -m benchmarks.updates_fit_asked`.

Every question of the fitted parts of `benchmarks/updates` is asked, of its case alone and
among seven others, and every one of the corpus. Of the pairs that
`domain/statements/asked.py` judges on the way, those of a superseded value with the one
that holds are right. Of the rows that `domain/statements/answerhood.py` weighs for a
question about the present, those of the case's own values are right. Logistic regression
by Newton's method, with a penalty of 0.0003 x the squared weights. A right pair counts 5
times, a look-alike's 10 and the corpus' 4; a row that changes nothing counts 3 times. The
weight of the crowd stays -1. Fit `benchmarks/updates_fit.py` first: a pair's own
score is one of the signals. Printed are the weights, to be copied, and what weights
fitted on four fifths of the cases find and break in the other fifth.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.retrieval import corpus, opened
from benchmarks.updates import NOW, fill_store
from benchmarks.updates_cases import Case, group_cases, read_cases
from varve.domain.search.ranking import Ranked
from varve.domain.statements import answering
from varve.domain.statements.answerhood import measure_answer
from varve.domain.statements.answering import read_telling, weigh_answers
from varve.domain.statements.asked import (
    PairQuestion,
    measure_asked,
    score_asked,
)
from varve.domain.statements.cues import Cues
from varve.domain.statements.paired import StoreStatements
from varve.domain.statements.standing import Standings

PARTS = ("fitted", "second", "third", "fourth")
FOLDS = 5
PENALTY, NEWTON_STEPS = 3e-4, 25
COUNTS = {"-+": 5.0, "=~": 10.0, "corpus": 4.0, "alike": 3.0}
"""How much a pair counts by the marks of its lines; others count 1."""
GIVEN: Mapping[str, float] = {"crowd": -1.0}
RIGHT = "-+"
OTHERS = {"-": "d", "+": "u"}
"""The marks of another case's superseded statement, and of the one that holds."""
LEFT_OUT = ("--", "dd", "du")
"""Neither right nor wrong: two superseded values, and another case's update."""
THRESHOLDS = (-0.5, 0.0, 0.3, 0.6, 1.0)


@dataclass(frozen=True, slots=True)
class Judged:
    """The signals of a pair or a row, its case, and what it is."""

    case: int
    what: str
    is_right: bool
    signals: dict[str, float]


@dataclass(slots=True)
class Listener:
    """Notes the pairs and rows that searches judge while it is patched in.

    `marks` has the mark of each line of the case; None: the corpus is asked.
    """

    case: int = 0
    marks: Mapping[str, str] | None = None
    pairs: list[Judged] = field(default_factory=list)
    rows: list[Judged] = field(default_factory=list)

    def hear_pair(
        self, standings: Standings, asked: PairQuestion, row: int, other: int
    ) -> float:
        """Note a pair; supersede nothing."""
        pair = standings.read_pair(asked, row, other)
        if score_asked(asked, pair) == -math.inf:
            return -math.inf
        nearest = float(standings.store.is_nearest(row, other))
        signals = {**measure_asked(asked, pair), "nearest": nearest}
        what = "corpus"
        if self.marks is not None:
            before = self.marks.get(pair.earlier.text, "*")
            what = before + self.marks.get(pair.later.text, "*")
        if what not in LEFT_OUT:
            self.pairs.append(Judged(self.case, what, what == RIGHT, signals))
        return -math.inf

    def hear_rows(
        self, ranked: Sequence[Ranked], store: StoreStatements, question: Cues
    ) -> Sequence[Ranked]:
        """Note the rows of a case, each with its share of the best score."""
        best = ranked[0].score if ranked and self.marks is not None else 0.0
        for item in ranked if best else ():
            told = read_telling(item, store)
            signals = measure_answer(question, told)
            signals |= {"bias": 1.0, "found": item.score / best}
            ids = {name.split("-")[0] for _, name in item.row.messages}
            is_right = not ids.isdisjoint({"old", "new"})
            what = "alike" if "alike" in ids else "row"
            self.rows.append(Judged(self.case, what, is_right, signals))
        return weigh_answers(ranked, store, question)


def main() -> None:
    """Print the weights, and what thresholds find and break."""
    listener = Listener()
    with TemporaryDirectory() as folder, listen(listener):
        for part in PARTS:
            cases = read_cases(f"{part}.txt")
            for group in [[case] for case in cases] + group_cases(cases):
                ask_group(group, Path(folder) / part, listener)
        ask_corpus(Path(folder), listener)
    for name, judged in (("pairs", listener.pairs), ("rows", listener.rows)):
        print(f"\n{name}: {len(judged)}")
        for signal, weight in fit(judged).items():
            print(f'    "{signal}": {weight:.2f},')
    print("\n| threshold | updates | look-alikes broken | corpus |")
    print("| ---: | ---: | ---: | ---: |")
    odds = cross_fit(listener.pairs)
    for threshold in THRESHOLDS:
        print(describe(listener.pairs, odds, threshold))


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Let a listener judge in the library's place."""

    def hear_pair(*given: Any) -> float:
        return listener.hear_pair(*given)

    with (
        patch.object(Standings, "_score_asked", hear_pair),
        patch.object(answering, "weigh_answers", listener.hear_rows),
    ):
        yield


def ask_group(group: Sequence[Case], folder: Path, listener: Listener) -> None:
    """Ask the questions of cases that share a store.

    Rows are noted of questions about the present in stores of one case alone.
    """
    memory, conversations = fill_store(group, folder)
    user = conversations[0].get("userId")
    for case in group:
        listener.case += 1
        listener.marks = mark_lines(group, case)
        heard = len(listener.rows)
        memory.search(case.question, user_id=user, max_results=5, now=NOW)
        if len(group) == 1:
            heard = len(listener.rows)
        if case.past:
            memory.search(case.past, user_id=user, max_results=5, now=NOW)
        del listener.rows[heard:]


def mark_lines(group: Sequence[Case], asked: Case) -> dict[str, str]:
    """Return the mark of each line; those of other cases than the one asked for differ."""
    marks: dict[str, str] = {}
    for case in group:
        for line in case.lines:
            other = OTHERS.get(line.mark, "o")
            marks[line.text] = line.mark if case is asked else other
    return marks


def ask_corpus(folder: Path, listener: Listener) -> None:
    """Ask the corpus' questions; its few updates count as wrong."""
    listener.marks = None
    for sample in corpus():
        memory, _ = opened(sample, folder)
        for question in sample.questions:
            listener.case += 1
            memory.search(question.text, max_results=10)


def fit(judged: Sequence[Judged]) -> dict[str, float]:
    """Return the weights of the signals, without those that are given."""
    names = [name for name in judged[0].signals if name not in GIVEN]
    signals = np.array(
        [[one.signals[name] for name in names] for one in judged]
    )
    given = np.array([add_given(one) for one in judged])
    right = np.array([float(one.is_right) for one in judged])
    counts = np.array([COUNTS.get(one.what, 1.0) for one in judged])
    counts /= counts.sum()
    weights = np.zeros(len(names))
    penalty = PENALTY * np.eye(len(names))
    for _ in range(NEWTON_STEPS):
        odds = 1 / (1 + np.exp(-signals @ weights - given))
        slope = signals.T @ ((odds - right) * counts) + PENALTY * weights
        spread = (odds * (1 - odds) * counts)[:, None]
        weights -= np.linalg.solve(
            signals.T @ (spread * signals) + penalty, slope
        )
    return dict(zip(names, weights.tolist(), strict=True))


def add_given(one: Judged) -> float:
    """Return what the given weights add to the odds."""
    return sum(
        weight * one.signals.get(name, 0.0) for name, weight in GIVEN.items()
    )


def cross_fit(judged: Sequence[Judged]) -> list[float]:
    """Return the odds of each by weights fitted on the other folds' cases."""
    by_fold = []
    for fold in range(FOLDS):
        rest = [one for one in judged if one.case % FOLDS != fold]
        by_fold.append(fit(rest))
    odds = []
    for one in judged:
        weights = by_fold[one.case % FOLDS]
        told = sum(
            weight * one.signals[name] for name, weight in weights.items()
        )
        odds.append(told + add_given(one))
    return odds


def describe(
    judged: Sequence[Judged], odds: Sequence[float], threshold: float
) -> str:
    """Return a row of the table: cases in which a pair reaches the threshold."""
    reached: dict[str, set[int]] = {}
    for one, told in zip(judged, odds, strict=True):
        if told >= threshold:
            reached.setdefault(one.what, set()).add(one.case)
    counts = [len(reached.get(what, ())) for what in (RIGHT, "=~", "corpus")]
    return f"| {threshold} | {' | '.join(map(str, counts))} |"


if __name__ == "__main__":
    main()
