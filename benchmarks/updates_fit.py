"""Fits the weights by which statements are paired: `python -m benchmarks.updates_fit`.

Of each case of the first part (`benchmarks/updates/fitted.txt`) every pair of the user's
messages is set apart by `domain/statements/pairs.py`; a pair is right if the later one is
the update of the earlier one. Logistic regression on the signals of the pairs that
nothing bars: Adam, 600 steps of 0.05, 0.0002 x the squared weights; a right pair counts
8 times, a look-alike's pair 4 times. Printed are the weights fitted on all cases, to be
rounded into `domain/statements/pairs.py`, and, by weights fitted on four fifths of the
cases each, how many of the other fifth's updates, look-alikes and other pairs reach
each threshold.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np

from benchmarks.updates_cases import Case, build_conversations, read_cases
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.calendar import parse_instant
from varve.domain.search.outline import microseconds
from varve.domain.statements.pairs import Statement, is_barred, measure_pair

EMBEDDER = WordLlamaEmbedder()
STEPS, RATE, DECAY, FOLDS = 600, 0.05, 2e-4, 5
THRESHOLDS = (-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements of a case: what they are (`old new`), and their signals."""

    case: int
    what: str
    signals: dict[str, float]

    @property
    def is_right(self) -> bool:
        """Whether the later one supersedes the earlier one."""
        return self.what == "old new"

    @property
    def weight(self) -> float:
        """How much the pair counts in the fit."""
        return {"old new": 8.0, "new alike": 4.0}.get(self.what, 1.0)


def main() -> None:
    """Print the weights, and what thresholds find and break."""
    cases = read_cases("fitted.txt")
    pairs = [pair for case in cases for pair in read_pairs(case)]
    names = list(pairs[0].signals)
    signals = np.array([[pair.signals[name] for name in names] for pair in pairs])
    folds = np.array([pair.case % FOLDS for pair in pairs])
    logits = np.zeros(len(pairs))
    for fold in range(FOLDS):
        rest = [pair for pair in pairs if pair.case % FOLDS != fold]
        weights = fit(signals[folds != fold], rest)
        logits[folds == fold] = signals[folds == fold] @ weights
    fitted = fit(signals, pairs)
    for name, weight in zip(names, fitted, strict=True):
        print(f'    "{name}": {weight:.2f},')
    print("\n| threshold | updates | look-alikes broken | other pairs |")
    print("| ---: | ---: | ---: | ---: |")
    for threshold in THRESHOLDS:
        print(row(pairs, logits, threshold))


def row(pairs: Sequence[Pair], logits: np.ndarray, threshold: float) -> str:
    """Return a row of the table."""
    reached = [
        pair for pair, logit in zip(pairs, logits, strict=True) if logit >= threshold
    ]
    updates = {pair.case for pair in reached if pair.is_right}
    broken = {pair.case for pair in reached if pair.what == "new alike"}
    others = [pair for pair in reached if pair.what not in ("old new", "new alike")]
    return f"| {threshold} | {len(updates)} | {len(broken)} | {len(others)} |"


def read_pairs(case: Case) -> Iterator[Pair]:
    """Yield the pairs of a case that nothing bars."""
    said = read_statements(case)
    for at, (later_mark, later) in enumerate(said):
        before = said[:at]
        cosines = [float(earlier.vector @ later.vector) for _, earlier in before]
        nearest = max(cosines, default=0.0)
        for (mark, earlier), cosine in zip(before, cosines, strict=True):
            is_chain = mark == later_mark == "old"
            if is_chain or is_barred(earlier.cues, later.cues):
                continue
            signals = measure_pair(earlier, later, is_nearest=cosine == nearest)
            yield Pair(case.number, f"{mark} {later_mark}", signals)


def read_statements(case: Case) -> list[tuple[str, Statement]]:
    """Return what the user says in a case, each with the mark of its line."""
    said = []
    for conversation in build_conversations(case):
        for position, message in enumerate(conversation["messages"]):
            if message["role"] != "user":
                continue
            (vector,) = EMBEDDER.embed([message["content"]])
            statement = Statement(
                message["content"],
                vector,
                microseconds(parse_instant(message["timestamp"])),
                conversation["conversationId"],
                position,
            )
            said.append((message["id"].split("-")[0], statement))
    return said


def fit(signals: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """Return the weights of the signals."""
    right = np.array([float(pair.is_right) for pair in pairs])
    counts = np.array([pair.weight for pair in pairs])
    counts /= counts.sum()
    weights = np.zeros(signals.shape[1])
    mean = np.zeros_like(weights)
    square = np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        odds = 1 / (1 + np.exp(-signals @ weights))
        slope = signals.T @ ((odds - right) * counts) + DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        change = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        weights -= RATE * change
    return weights


if __name__ == "__main__":
    main()
