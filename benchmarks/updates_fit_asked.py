"""Fits how a question judges statements: `python -m benchmarks.updates_fit_asked`.

Every question of the first two parts of `benchmarks/updates` is asked, and every one of
the corpus. Of the pairs that `domain/statements/asked.py` judges on the way, those of a
superseded value with the one that holds are right. Of the rows that
`domain/statements/answerhood.py` weighs for a question about the present, those of the
case's own values are right. Logistic regression by Newton's method, with a penalty of
0.001 x the squared weights. A right pair counts 6 times, a look-alike's 5 and the corpus'
4. The weight of the crowd stays -1. Fit `benchmarks/updates_fit.py` first: a pair's own
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
from benchmarks.updates import NOW, SCOPE
from benchmarks.updates_cases import Case, build_conversations, read_cases
from tests.support.drivers import open_memory
from varve.domain.search.ranking import Ranked
from varve.domain.statements import answering
from varve.domain.statements.answerhood import measure_answer
from varve.domain.statements.answering import read_telling
from varve.domain.statements.asked import PairQuestion, measure_asked
from varve.domain.statements.cues import Cues
from varve.domain.statements.paired import StoreStatements
from varve.domain.statements.standing import Standings

PARTS = ("fitted", "second")
FOLDS = 5
PENALTY, NEWTON_STEPS = 1e-3, 25
COUNTS = {"-+": 6.0, "=~": 5.0, "corpus": 4.0}
"""How much a pair counts by the marks of its lines; others count 1."""
GIVEN: Mapping[str, float] = {"crowd": -1.0}
RIGHT = "-+"
CHAIN = "--"
"""Two superseded values of a case: neither right nor wrong."""
THRESHOLDS = (-1.0, -0.3, 0.0, 0.5)


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
        if pair.score == -math.inf:
            return -math.inf
        nearest = float(standings.store.is_nearest(row, other))
        signals = {**measure_asked(asked, pair), "nearest": nearest}
        what = "corpus"
        if self.marks is not None:
            before = self.marks.get(pair.earlier.text, "*")
            what = before + self.marks.get(pair.later.text, "*")
        if what != CHAIN:
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
            self.rows.append(Judged(self.case, "row", is_right, signals))
        return ranked


def main() -> None:
    """Print the weights, and what thresholds find and break."""
    listener = Listener()
    with TemporaryDirectory() as folder, listen(listener):
        for part in PARTS:
            for case in read_cases(f"{part}.txt"):
                ask_case(case, Path(folder) / part, listener)
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


def ask_case(case: Case, folder: Path, listener: Listener) -> None:
    """Ask the questions of a case; rows are noted of the one about the present alone."""
    conversations = build_conversations(case)
    memory = open_memory(SCOPE, folder / str(case.number), now=lambda: NOW)
    memory.ingest(conversations)
    user = conversations[0].get("userId")
    listener.case += 1
    listener.marks = {line.text: line.mark for line in case.lines}
    memory.search(case.question, user_id=user, max_results=5, now=NOW)
    heard = len(listener.rows)
    if case.past:
        memory.search(case.past, user_id=user, max_results=5, now=NOW)
    del listener.rows[heard:]


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
