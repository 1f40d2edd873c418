"""Fits the weights by which statements are paired: `python -m benchmarks.updates_fit`.

Of each case of the first part (`benchmarks/updates/fitted.txt`) every pair of the user's
messages is set apart by `domain/statements/pairs/superseding.py`; a pair is right if the later one is
the update of the earlier one. The cases are small stores. The pairs of the project's
corpus, where each person says hundreds of things, come beside them as wrong ones; those
that an update question of the corpus names are left out. Logistic regression on the
signals of the pairs that nothing bars: Adam, 2,500 steps of 0.05, 0.0002 x the squared
weights; a right pair counts 8 times, a look-alike's pair 4 times. The weight of the
crowd stays -1: of n later statements that may supersede, each has odds of 1 to n; fitted
freely it would be greater, for the corpus names few of its updates. Printed are the weights
fitted on all pairs, to be copied into `domain/statements/pairs/superseding.py`, and, by weights
fitted on four fifths of the cases each, how many of the other fifth's updates,
look-alikes and other pairs, and of the corpus' statements, reach each threshold.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np

from benchmarks.retrieval import corpus
from benchmarks.updates_cases import (
    FITTED,
    Case,
    build_conversations,
    read_cases,
)
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.calendar import microseconds, parse_instant
from varve.domain.statements.pairs.superseding import (
    changes_others,
    is_barred,
    measure_pair,
)
from varve.domain.statements.stores.paired import MAX_LATER
from varve.domain.statements.texts.statement import Statement

EMBEDDER = WordLlamaEmbedder()
STEPS, RATE, DECAY, FOLDS = 2_500, 0.05, 2e-4, 5
CROWD_WEIGHT = -1.0
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
    pairs += read_corpus_pairs()
    names = list(pairs[0].signals)
    signals = np.array(
        [[pair.signals[name] for name in names] for pair in pairs]
    )
    folds = np.array([pair.case % FOLDS for pair in pairs])
    logits = np.zeros(len(pairs))
    for fold in range(FOLDS):
        rest = [pair for pair in pairs if pair.case % FOLDS != fold]
        weights = fit(signals[folds != fold], rest)
        logits[folds == fold] = signals[folds == fold] @ weights
    fitted = fit(signals, pairs)
    for name, weight in zip(names, fitted, strict=True):
        print(f'    "{name}": {weight:.2f},')
    print(
        "\n| threshold | updates | look-alikes broken | other pairs | corpus |"
    )
    print("| ---: | ---: | ---: | ---: | ---: |")
    for threshold in THRESHOLDS:
        print(row(pairs, logits, threshold))


def row(pairs: Sequence[Pair], logits: np.ndarray, threshold: float) -> str:
    """Return a row of the table."""
    reached = [
        pair
        for pair, logit in zip(pairs, logits, strict=True)
        if logit >= threshold
    ]
    updates = {pair.case for pair in reached if pair.is_right}
    broken = {pair.case for pair in reached if pair.what == "new alike"}
    told = {pair.case for pair in reached if pair.what == "corpus"}
    known = ("old new", "new alike", "corpus")
    others = [pair for pair in reached if pair.what not in known]
    counts = (len(updates), len(broken), len(others), len(told))
    return f"| {threshold} | {' | '.join(map(str, counts))} |"


def read_pairs(case: Case) -> Iterator[Pair]:
    """Yield the pairs of a case that nothing bars."""
    said = read_statements(case)
    for at, (later_mark, later) in enumerate(said):
        before = said[:at]
        cosines = [
            float(earlier.vector @ later.vector) for _, earlier in before
        ]
        nearest = max(cosines, default=0.0)
        pairs = zip(before, cosines, strict=True)
        for place, ((mark, earlier), cosine) in enumerate(pairs):
            is_chain = mark == later_mark == "old"
            if is_chain or cannot_supersede(earlier, later):
                continue
            crowd = len(said) - 1 - place
            is_nearest = cosine == nearest
            signals = measure_pair(
                earlier, later, crowd, is_nearest=is_nearest
            )
            yield Pair(case.number, f"{mark} {later_mark}", signals)


def cannot_supersede(earlier: Statement, later: Statement) -> bool:
    """Return whether the pair has no score."""
    return is_barred(earlier.cues, later.cues) or changes_others(
        earlier, later
    )


def read_corpus_pairs() -> Iterator[Pair]:
    """Yield the corpus' pairs that no update question names, numbered from -1 down.

    A statement's pairs, with the nearest later statements of its speaker, have one number.
    """
    number = 0
    for sample in corpus():
        updates = [
            q.evidence for q in sample.questions if q.category == "update"
        ]
        for said in read_speakers(sample.conversations):
            vectors = np.array([statement.vector for _, statement in said])
            likeness = vectors @ vectors.T
            np.fill_diagonal(likeness, -2)
            for place, (id_, earlier) in enumerate(said):
                number -= 1
                order = np.argsort(
                    -likeness[place, place + 1 :], kind="stable"
                )
                for at in (order[:MAX_LATER] + place + 1).tolist():
                    other, later = said[at]
                    is_named = any({id_, other} <= named for named in updates)
                    if is_named or cannot_supersede(earlier, later):
                        continue
                    crowd = len(said) - 1 - place
                    is_nearest = bool(likeness[at, :at].argmax() == place)
                    signals = measure_pair(
                        earlier, later, crowd, is_nearest=is_nearest
                    )
                    yield Pair(number, "corpus", signals)


def read_speakers(
    conversations: Sequence[dict[str, Any]],
) -> Iterator[list[tuple[str, Statement]]]:
    """Yield what each person says, oldest first, each statement with its message id."""
    said: dict[tuple[str, str], list[tuple[str, Statement]]] = defaultdict(
        list
    )
    for conversation in conversations:
        for position, message in enumerate(conversation["messages"]):
            if message["role"] != "user" or not isinstance(
                message["content"], str
            ):
                continue
            speaker = (conversation.get("userId", ""), message.get("name", ""))
            statement = read_statement(message, conversation, position)
            said[speaker].append((message["id"], statement))
    for statements in said.values():
        yield sorted(statements, key=lambda pair: pair[1].time)


def read_statements(case: Case) -> list[tuple[str, Statement]]:
    """Return what the user says in a case, each with the mark of its line."""
    said = []
    for conversation in build_conversations(case, FITTED):
        for position, message in enumerate(conversation["messages"]):
            if message["role"] != "user":
                continue
            statement = read_statement(message, conversation, position)
            said.append((message["id"].split("-")[0], statement))
    return said


def read_statement(
    message: dict[str, Any], conversation: dict[str, Any], position: int
) -> Statement:
    """Return a message as a statement."""
    time = message.get("timestamp") or conversation["startedAt"]
    (vector,) = EMBEDDER.embed([message["content"]])
    return Statement(
        message["content"],
        vector,
        microseconds(parse_instant(time)),
        conversation["conversationId"],
        position,
    )


def fit(signals: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """Return the weights of the signals; that of the crowd is given."""
    crowd = list(pairs[0].signals).index("crowd")
    right = np.array([float(pair.is_right) for pair in pairs])
    counts = np.array([pair.weight for pair in pairs])
    counts /= counts.sum()
    weights = np.zeros(signals.shape[1])
    weights[crowd] = CROWD_WEIGHT
    mean = np.zeros_like(weights)
    square = np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        odds = 1 / (1 + np.exp(-signals @ weights))
        slope = signals.T @ ((odds - right) * counts) + DECAY * weights
        slope[crowd] = 0
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        change = (mean / (1 - 0.9**step)) / (
            np.sqrt(square / (1 - 0.999**step)) + 1e-8
        )
        weights -= RATE * change
    return weights


if __name__ == "__main__":
    main()
