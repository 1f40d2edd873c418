"""Fits how a question judges what it finds: `python -m benchmarks.updates_fit_asked`.

Every question of the fitted parts of `benchmarks/updates` is asked, of its case alone and
among seven others, and every one of the corpus about the present. What
`domain/statements/questions/judging.py` is given on the way is kept: the rows found, and their pairs.
Each case is asked the question of another one as well, which nothing in it answers.
The weights of `domain/statements/questions/asked.py` are those by which the right statement most
likely has the greatest chance: that of the value that holds, asked about the past that of
a superseded one, in the corpus those of the evidence. What `asked.py` adds by hand is
added here too, but for the place (`score_order`), which orders answers alone.
Adam, 500 steps, with a penalty of 0.0002 x the squared weights. The weights of signals
times how many values were found (`MANY_OF_ROWS`) are fitted again on the natural chats as well,
with the others held: these stay as cases of one matter show them. A
look-alike counts 3 times, a question among other cases half, one about the past 0.7
times, and one of the everyday memories (four hands of `benchmarks/everyday`) 3 times.
As much counts whether each pair is judged rightly: the value that holds supersedes the
one that does not, and nothing supersedes what still holds. Without that the weights let a
change supersede all that has nothing to do with a question, for that brings its answer up.
Whether the first statement answers at all is then fitted on all questions by logistic
regression. The wording of each part's lines is weighed as fitted on the other parts
(`updates_fit_wording.py`); fit that first.
Printed are the weights, to be copied, and how often weights fitted on two thirds of the
parts put the right statement first in the rest.
"""

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.everyday_cases import USER, Asked, fill, read
from benchmarks.retrieval import corpus, opened
from benchmarks.updates import NOW, fill_store
from benchmarks.updates_cases import FITTED, Case, group_cases, read_cases
from benchmarks.updates_fit_wording import PARTS, fit_table, read_lines, score
from varve.domain.statements.answers import answering
from varve.domain.statements.questions import (
    likely,
    pair_signals,
    row_signals,
)
from varve.domain.statements.questions.asked import (
    LEAST_ODDS,
    score_pair,
    score_row,
    weigh,
    weights_of_rows,
)
from varve.domain.statements.questions.asked_statements import (
    AskedStatements,
)
from varve.domain.statements.questions.asked_weights import PAIR_WEIGHTS
from varve.domain.statements.questions.asking import Asking, Found
from varve.domain.statements.questions.judging import AskedMatters
from varve.domain.statements.questions.pair_signals import (
    Rivals,
    measure_pair,
)
from varve.domain.statements.questions.row_signals import measure_row
from varve.domain.statements.texts.statement import Statement
from varve.domain.statements.texts.wording import Wording

FOLDS = 3
STEPS, RATE, PENALTY = 500, 0.05, 2e-4
CHATS = "talks"
"""The hand of natural chats, of many matters in one message."""
EVERYDAY_HANDS = ("one", "three", "plain", CHATS)
EVERYDAY = "everyday"
COUNTS = {"lookalike": 3.0, "together": 0.5, "past": 0.7, EVERYDAY: 3.0}
"""How much a question counts by its sorts; others count 1."""
LEAST_CHANCE = 1e-12
"""It is added to each chance in the loss, whose slope has no end without it."""
NO_CHANCE = 1e-30
PAIRS_COUNT = 1.0
"""How much the judgement of a question's pairs counts beside what is first."""
OTHER = "other"
GENERAL = ("correction", "negation", "temporary")
"""Categories whose cases are of any matter."""
NONE = "none"
"""The sort of the questions that nothing answers."""


@dataclass(frozen=True, slots=True)
class Row:
    """A matter that a question found, its statement if it has one, and its message's mark.

    `holds`: nothing supersedes it, as far as its case or memory tells. `is_whole`: its message
    tells no other matter.
    """

    found: Found
    statement: Statement | None
    mark: str
    holds: bool
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """One question as judged: its part, its sorts, its rows, and the later ones of each."""

    part: str
    sorts: frozenset[str]
    asking: Asking
    rows: Sequence[Row]
    later: Mapping[tuple[int, int], Rivals]

    @property
    def right(self) -> str:
        """The mark of the messages that answer the question."""
        if NONE in self.sorts:
            return NONE
        return "old" if self.asking.is_past else "new"


@dataclass(slots=True)
class Listener:
    """Notes what searches judge while it is patched in.

    `case` is the case asked for where several share a store; `evidence` are the messages that
    answer a question of the corpus; `asked` is one of an everyday memory, of which
    `superseded` are the messages that something changes.
    """

    part: str = ""
    sorts: frozenset[str] = frozenset()
    case: int | None = None
    evidence: frozenset[str] | None = None
    asked: Asked | None = None
    superseded: frozenset[str] = frozenset()
    heard: list[Heard] = field(default_factory=list)

    def hear(self, judged: AskedMatters) -> None:
        """Note one judgement."""
        store = judged.store
        matters = list(judged.found)
        rows = []
        later = {}
        for place, matter in enumerate(matters):
            messages = store.statements.list_messages(matter[0])
            ids = frozenset(id_ for _, id_ in messages)
            mark = self._mark(ids)
            is_told = judged.is_compared(matter)
            rows.append(
                Row(
                    found=judged.found[matter],
                    statement=store.read(matter) if is_told else None,
                    mark=mark,
                    holds=self._holds(ids, mark),
                    is_whole=len(store.list_matters(matter[0])) == 1,
                )
            )
            for other in judged.find_later(matter):
                if not judged.changes_another(matter, other):
                    rivals = judged.find_rivals(matter, other)
                    later[place, matters.index(other)] = rivals
        one = Heard(self.part, self.sorts, judged.asking, rows, later)
        self.heard.append(one)

    def _holds(self, ids: frozenset[str], mark: str) -> bool:
        if self.asked is not None:
            return ids.isdisjoint(self.superseded)
        # Among other cases and in the corpus much else is superseded.
        is_alone = self.case is None and self.evidence is None
        return is_alone and mark != "old"

    def _mark(self, ids: frozenset[str]) -> str:
        if self.evidence is not None:
            return OTHER if self.evidence.isdisjoint(ids) else "new"
        if self.asked is not None:
            return _mark_everyday(self.asked, ids)
        for id_ in ids:
            mark, *numbers = id_.split("-")
            is_own = self.case is None or numbers[0] == str(self.case)
            if is_own and mark in ("old", "new"):
                return mark
        return OTHER


def _mark_everyday(asked: Asked, ids: frozenset[str]) -> str:
    if ids & asked.answers:
        return "new"
    return "old" if ids & asked.stale else OTHER


def main() -> None:
    """Print the weights, and how often they put the right statement first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--stores", type=Path, help="keep the stores in this folder"
    )
    arguments = parser.parse_args()
    listener = Listener()
    with TemporaryDirectory() as temporary, listen(listener):
        folder = arguments.stores or Path(temporary)
        for part in PARTS:
            ask_part(part, folder / part, listener, FITTED)
        for hand in EVERYDAY_HANDS:
            ask_everyday(hand, folder / hand, listener)
        ask_corpus(folder / "corpus", listener)
    questions = list(measure(listener.heard))
    report_folds(questions)
    rows, pairs = fit(
        [one for one in questions if NONE not in one.heard.sorts]
    )
    for name, weights in (("ROW_WEIGHTS", rows), ("PAIR_WEIGHTS", pairs)):
        print(f"\n{name}")
        for signal, weight in weights.items():
            print(f'    "{signal}": {weight:.2f},')


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Let a listener note each judgement."""
    order = answering.put_likely_first

    def hear(ranked: Any, statements: Any, judged: AskedStatements) -> Any:
        listener.hear(judged.judged)
        return order(ranked, statements, judged)

    with patch.object(answering, "put_likely_first", hear):
        yield


def ask_part(
    part: str, folder: Path, listener: Listener, chatter: str
) -> None:
    """Ask the questions of a part's cases, alone and with others, among chatter."""
    cases = read_cases(f"{part}.txt")
    listener.part = part
    for group in [[case] for case in cases] + group_cases(cases):
        is_alone = len(group) == 1
        memory, conversations = fill_store(group, folder, chatter)
        user = conversations[0].get("userId")
        for case in group:
            listener.case = None if is_alone else case.number
            asked = list(list_questions(case, is_alone=is_alone))
            if is_alone and not case.speaker:
                asked.append((find_foreign(case, cases), frozenset({NONE})))
            for question, sorts in asked:
                listener.sorts = sorts
                memory.search(question, user_id=user, max_results=5, now=NOW)


def ask_everyday(hand: str, folder: Path, listener: Listener) -> None:
    """Ask the questions of a hand's everyday memories."""
    listener.part = hand
    for told in read(hand):
        listener.superseded = told.superseded
        memory = fill(told, folder / told.name)
        for one in told.questions:
            kind = EVERYDAY if one.answers else NONE
            listener.sorts = frozenset({kind})
            listener.asked = one
            memory.search(one.text, user_id=USER, max_results=5)
    listener.asked = None


def list_questions(
    case: Case, *, is_alone: bool
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield a case's questions with their sorts."""
    sorts = {case.category} if is_alone else {case.category, "together"}
    yield case.question, frozenset(sorts)
    if case.past:
        yield case.past, frozenset({*sorts, "past"})


def find_foreign(case: Case, cases: Sequence[Case]) -> str:
    """Return the question of a case of another category, which this one cannot answer."""
    turned = [*cases[case.number + 1 :], *cases[: case.number]]
    others = (
        one
        for one in turned
        if one.category not in (case.category, "lookalike", *GENERAL)
        and one.language == case.language
        and not one.speaker
    )
    return next(others).question


def ask_corpus(folder: Path, listener: Listener) -> None:
    """Ask the corpus' questions."""
    listener.part = "corpus"
    listener.sorts = frozenset()
    for sample in corpus():
        memory, _ = opened(sample, folder)
        for question in sample.questions:
            listener.evidence = question.evidence
            memory.search(question.text, max_results=10)


@dataclass(frozen=True, slots=True)
class Measured:
    """A question's signals: of its rows, and of its pairs with their places.

    `row_guards` and `pair_guards` are what is added to their odds by hand. `supersedes` has
    1 for a pair that supersedes, 0 for one that does not, and nan where that is not known.
    """

    heard: Heard
    rows: np.ndarray
    row_guards: np.ndarray
    pairs: np.ndarray
    pair_guards: np.ndarray
    places: np.ndarray
    supersedes: np.ndarray

    @property
    def is_right(self) -> np.ndarray:
        """Mark the rows that answer the question."""
        marks = [row.mark for row in self.heard.rows]
        return np.array([mark == self.heard.right for mark in marks])

    @property
    def counts(self) -> float:
        """How much the question counts."""
        return float(
            np.prod([COUNTS.get(sort, 1.0) for sort in self.heard.sorts])
        )


ROW_NAMES: list[str] = []
PAIR_NAMES: list[str] = []


def measure(heard: Sequence[Heard]) -> Iterator[Measured]:
    """Yield the signals of each question that found a right statement."""
    lines = read_lines()
    for part in (*PARTS, *EVERYDAY_HANDS, "corpus"):
        table = fit_table([line for line in lines if line.part != part])
        known: dict[str, Wording] = {}

        def read(text: str, table: Any = table, known: Any = known) -> Wording:
            if text not in known:
                known[text] = score(text, table)
            return known[text]

        with (
            patch.object(row_signals, "read_wording", read),
            patch.object(pair_signals, "read_wording", read),
        ):
            for one in heard:
                if one.part == part and _is_useful(one):
                    yield measure_one(one)


def _is_useful(one: Heard) -> bool:
    """Return whether a question found something, and what answers it if anything does."""
    if NONE in one.sorts:
        return bool(one.rows)
    return one.right in {row.mark for row in one.rows}


def measure_one(heard: Heard) -> Measured:
    """Return the signals of a question's rows and pairs."""
    asking = heard.asking
    rows = [measure_row(asking, row.found) for row in heard.rows]
    weights = weights_of_rows(asking)
    row_guards = [
        score_row(asking, row.found) - weigh(signals, weights)
        for row, signals in zip(heard.rows, rows, strict=True)
    ]
    pairs, pair_guards, places = [], [], []
    supersedes: list[float] = []
    for (place, other), rivals in heard.later.items():
        earlier = heard.rows[place].statement
        later = heard.rows[other].statement
        if earlier is None or later is None:
            continue
        odds = score_pair(asking, earlier, later, 0.0, rivals)
        if math.isfinite(odds):
            signals = measure_pair(asking, earlier, later, rivals)
            pairs.append(signals)
            pair_guards.append(odds - weigh(signals, PAIR_WEIGHTS))
            places.append((place, other))
            supersedes.append(_judge(heard, place, other))
    ROW_NAMES[:] = rows[0]
    PAIR_NAMES[:] = pairs[0] if pairs else PAIR_NAMES
    return Measured(
        heard=heard,
        rows=np.array([list(one.values()) for one in rows], np.float32),
        row_guards=np.array(row_guards),
        pairs=np.array([list(one.values()) for one in pairs], np.float32),
        pair_guards=np.array(pair_guards),
        places=np.array(places, np.intp).reshape(-1, 2),
        supersedes=np.array(supersedes),
    )


def _judge(heard: Heard, place: int, other: int) -> float:
    """Return 1 if the later row supersedes the one at `place`, 0 if not, nan if unknown."""
    earlier = heard.rows[place]
    later = heard.rows[other]
    if heard.asking.is_past or heard.sorts & {"together", NONE}:
        return math.nan
    if earlier.holds:
        return 0.0
    # Which matter of a message was changed, and by which, nobody marked.
    is_whole = earlier.is_whole and later.is_whole
    is_change = earlier.mark == "old" and later.mark == "new"
    is_known = is_whole and is_change and "lookalike" not in heard.sorts
    return 1.0 if is_known else math.nan


@dataclass(frozen=True, slots=True)
class Weighed:
    """What weights say of a batch's rows, and of its pairs.

    `odds` and `pairs` are logits. Of each row: the chances that it answers by itself, that
    it does or supersedes what answers (their sum), and that nothing supersedes it.
    """

    odds: np.ndarray
    pairs: np.ndarray
    answers: np.ndarray
    reached: np.ndarray
    holds: np.ndarray


class Batch:
    """Many questions as arrays: a row of `rows` for each row found, in one sequence."""

    def __init__(self, questions: Sequence[Measured]) -> None:
        sizes = [len(one.rows) for one in questions]
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp)
        self.starts = starts
        self.rows = np.concatenate([one.rows for one in questions])
        self.row_guards = np.concatenate([one.row_guards for one in questions])
        filled = [
            (one, start)
            for one, start in zip(questions, starts, strict=True)
            if len(one.places)
        ]
        self.pairs = np.concatenate([one.pairs for one, _ in filled])
        self.pair_guards = np.concatenate(
            [one.pair_guards for one, _ in filled]
        )
        supersedes = np.concatenate([one.supersedes for one, _ in filled])
        self.supersedes = np.nan_to_num(supersedes)
        weights = [_weigh_pairs(one) for one, _ in filled]
        self.pair_counts = np.concatenate(weights) / len(questions)
        places = np.concatenate([one.places + at for one, at in filled])
        self.earlier, self.later = places.T
        self.is_right = np.concatenate([one.is_right for one in questions])
        self.question_of = np.repeat(np.arange(len(questions)), sizes)
        self.counts = np.array([one.counts for one in questions])
        past = [one.heard.asking.is_past for one in questions]
        self.is_past = np.array(past)[self.question_of]

    def weigh(self, weights: np.ndarray) -> Weighed:
        """Return what weights say of the rows and their pairs."""
        of_rows = weights[: len(ROW_NAMES)]
        of_pairs = weights[len(ROW_NAMES) :]
        odds = self.rows @ of_rows + self.row_guards
        told = np.maximum(odds, LEAST_ODDS)[self.later]
        pairs = self.pairs @ of_pairs + self.pair_guards
        pairs += of_pairs[PAIR_NAMES.index("odds")] * told
        count = len(self.rows)
        answers = sigmoid(odds)
        follows = np.bincount(
            self.later, answers[self.earlier] * sigmoid(pairs), count
        )
        holds = np.exp(np.bincount(self.earlier, log_sigmoid(-pairs), count))
        return Weighed(odds, pairs, answers, answers + follows, holds)

    def find_chances(self, weighed: Weighed) -> np.ndarray:
        """Return each row's chance to be the answer."""
        gone = weighed.answers * (1 - weighed.holds)
        return np.where(self.is_past, gone, weighed.reached * weighed.holds)

    def find_slope(self, weights: np.ndarray) -> np.ndarray:
        """Return the slope of the mean loss.

        That is minus the logarithm of the right ones' share, and that of each pair's chance to
        be judged rightly.
        """
        weighed = self.weigh(weights)
        slope = self._find_slope_of_chances(self.find_chances(weighed))
        answers, holds = weighed.answers, weighed.holds
        supersedes = sigmoid(weighed.pairs)
        of_reached = np.where(self.is_past, 0.0, slope * holds)
        held = np.where(self.is_past, -answers, weighed.reached)
        of_holds = slope * held * holds
        of_answers = np.where(self.is_past, slope * (1 - holds), of_reached)
        passed = of_reached[self.later] * supersedes
        of_answers += np.bincount(self.earlier, passed, len(self.rows))
        of_pairs = passed * answers[self.earlier] * (1 - supersedes)
        of_pairs -= of_holds[self.earlier] * supersedes
        of_pairs += self.pair_counts * (supersedes - self.supersedes)
        of_odds = of_answers * answers * (1 - answers)
        place = PAIR_NAMES.index("odds")
        weight = weights[len(ROW_NAMES) + place]
        told = np.bincount(self.later, of_pairs * weight, len(self.rows))
        of_odds += told * (weighed.odds > LEAST_ODDS)
        of_signals = self.pairs.T @ of_pairs
        least = np.maximum(weighed.odds, LEAST_ODDS)
        of_signals[place] += of_pairs @ least[self.later]
        return np.concatenate((self.rows.T @ of_odds, of_signals))

    def _find_slope_of_chances(self, chances: np.ndarray) -> np.ndarray:
        """Return the slope of the loss by each row's chance."""
        count = len(self.starts)
        chances = chances + LEAST_CHANCE
        every = np.bincount(self.question_of, chances, count)
        of_right = chances * self.is_right
        right = np.bincount(self.question_of, of_right, count) + LEAST_CHANCE
        gain = self.is_right / right[self.question_of]
        each = self.counts[self.question_of] / count
        return each * (1 / every[self.question_of] - gain)


def _weigh_pairs(question: Measured) -> np.ndarray:
    """Return how much each pair counts; those that supersede share it, and those that do not."""
    found = np.zeros(len(question.supersedes))
    for value in (0.0, 1.0):
        known = question.supersedes == value
        found[known] = PAIRS_COUNT * question.counts / max(1, known.sum())
    return found


def sigmoid(odds: np.ndarray) -> np.ndarray:
    """Return the probabilities of these logits."""
    return 1 / (1 + np.exp(-np.clip(odds, -30, 30)))


def log_sigmoid(odds: np.ndarray) -> np.ndarray:
    """Return the natural logarithms of the probabilities of these logits."""
    return -np.logaddexp(0, -odds)


def fit(
    questions: Sequence[Measured],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the weights of rows and of pairs."""
    weights = fit_weights(questions).tolist()
    rows = dict(zip(ROW_NAMES, weights, strict=False))
    pairs = dict(zip(PAIR_NAMES, weights[len(ROW_NAMES) :], strict=True))
    return rows, pairs


def fit_weights(questions: Sequence[Measured]) -> np.ndarray:
    """Return the weights of rows, and then of pairs, in one array."""
    names = [*ROW_NAMES, *PAIR_NAMES]
    weights = np.zeros(len(names))
    weights[ROW_NAMES.index("share")] = 2.0
    weights[len(ROW_NAMES) + PAIR_NAMES.index("odds")] = 0.3
    apart = [one for one in questions if one.heard.part != CHATS]
    weights = descend(Batch(apart), weights, np.ones(len(names)))
    free = np.array([name.split()[0] == "many" for name in names], float)
    return descend(Batch(questions), weights, free)


def descend(batch: Batch, weights: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the weights of the least loss, of which those change that are `free` (1, not 0)."""
    weights = weights.copy()
    speed, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = batch.find_slope(weights) + 2 * PENALTY * weights
        slope *= free
        speed = 0.9 * speed + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        rate = RATE * (1 - step / (STEPS + 1)) / (1 - 0.9**step)
        weights -= rate * speed / (np.sqrt(spread / (1 - 0.999**step)) + 1e-9)
    return weights


@dataclass(frozen=True, slots=True)
class Best:
    """The row with the greatest chance: its question's sorts, and what shows that it answers."""

    sorts: frozenset[str]
    is_right: bool
    signals: dict[str, float]


def report_folds(questions: Sequence[Measured]) -> None:
    """Print how often the right statement stands first in parts apart.

    Then the weights by which the first one answers, and how often they tell so.
    """
    found: list[Best] = []
    for fold in range(FOLDS):
        apart = set(PARTS[fold::FOLDS])
        weights = fit_weights(
            [
                one
                for one in questions
                if one.heard.part not in apart and NONE not in one.heard.sorts
            ]
        )
        own = [one for one in questions if one.heard.part in apart]
        found += find_best(own, weights)
    for name in ("update", "lookalike", "past", "together", NONE):
        print(describe(name, [one for one in found if is_of(one, name)]))
    names = list(found[0].signals)
    signals = np.array([list(one.signals.values()) for one in found])
    is_right = np.array([one.is_right for one in found])
    answer_weights = fit_odds(signals, is_right)
    odds = signals @ answer_weights
    print(f"\nANSWER_WEIGHTS (at least {likely.LIKELY})")
    for name, weight in zip(names, answer_weights.tolist(), strict=True):
        print(f'    "{name}": {weight:.2f},')
    is_none = np.array([NONE in one.sorts for one in found])
    taken = odds >= likely.LIKELY
    print(f"taken of right ones: {taken[is_right].mean():.2f}")
    print(f"of questions that nothing answers: {taken[is_none].mean():.2f}")


def find_best(
    questions: Sequence[Measured], weights: np.ndarray
) -> Iterator[Best]:
    """Yield the row with the greatest chance of each question."""
    batch = Batch(questions)
    chances = batch.find_chances(batch.weigh(weights))
    logarithms = np.log(np.maximum(NO_CHANCE, chances))
    for one, start in zip(questions, batch.starts, strict=True):
        of_one = logarithms[start : start + len(one.rows)]
        best = int(np.argmax(of_one))
        signals = dict(zip(ROW_NAMES, one.rows[best].tolist(), strict=True))
        margin = likely.measure_margin(of_one.tolist())
        yield Best(
            one.heard.sorts,
            bool(one.is_right[best]),
            likely.measure_best(signals, margin),
        )


def is_of(one: Best, name: str) -> bool:
    """Return whether a question belongs to a line of the report."""
    sorts = one.sorts & {"lookalike", "past", "together", NONE}
    if "together" in sorts:
        return name == "together"
    return sorts == ({name} if name != "update" else set())


def describe(name: str, found: Sequence[Best]) -> str:
    """Return a line of the report."""
    right = sum(one.is_right for one in found)
    return f"{name}: {right} of {len(found)} found first"


def fit_odds(signals: np.ndarray, is_right: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, by Newton's method."""
    weights = np.zeros(signals.shape[1])
    for _ in range(25):
        odds = sigmoid(signals @ weights)
        spread = (odds * (1 - odds))[:, None] * signals
        curve = signals.T @ spread + 1e-3 * np.eye(signals.shape[1])
        weights -= np.linalg.solve(curve, signals.T @ (odds - is_right))
    return weights


if __name__ == "__main__":
    main()
