"""Fits the weights of the ranking's signals, and shows what they are worth on a conversation not fitted on.

    python -m benchmarks.fit --locomo FILE [--stores DIR] [--without SIGNAL ...]

The search: of every question of the file each message that holds the answer is set against all that do not,
loss = -log(e^s / (e^s + sum of e^s over the others)) with s = 4 x the weighted sum of the signals, mean over
the question's messages, then over the questions, plus 0.005 x the squared weights; Adam, 300 steps of 0.05
from 0.3 each. Recency and importance are not fitted. Printed are the weights fitted on all conversations, to
be rounded to two digits into `domain/strategies.py`, and recall@10 of each conversation by weights fitted on
the others.
"""

import argparse
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from benchmarks.retrieval import Sample, locomo, opened
from varve.bootstrap import Parts
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.query import Filter, SearchRequest
from varve.domain.question import read_question
from varve.domain.routing import route
from varve.domain.signals import Sought, names_in, signals
from varve.domain.strategies import BALANCED
from varve.settings import read_settings

STEPS, RATE, DECAY, SHARPNESS = 300, 0.05, 0.01, 4.0
NOT_FITTED = frozenset({"recency", "importance"})
NOW = datetime(2024, 1, 1, tzinfo=UTC)
Table = list[tuple[np.ndarray, np.ndarray, str]]
"""For each question the signals of every record, whether it holds the answer, and the question's category."""


def table(sample: Sample, folder: Path, names: Sequence[str]) -> Table:
    """The signals of every record for each of a sample's questions."""
    opened(sample, folder)
    parts = Parts(read_settings({}, str(folder / sample.name)), environment={})
    embedder = parts.embedder(parts.config("default"))
    columns = parts.records.columns(Scope("default", "default"), Grain.WORKING, model=embedder.model)
    assert columns is not None
    rows: Table = []
    for asked in sample.questions:
        way = route(SearchRequest(query_text=asked.text), NOW, ZoneInfo("UTC"))
        given = way.understood
        question = read_question(asked.text, given and given.since, given and given.until)
        whole, focus = embedder.embed([asked.text, question.focus(names_in(question, [columns]))])
        sought = Sought(question, whole, focus, embedder.embed_words)
        found = signals(sought, [columns], Filter(), NOW, BALANCED)
        holds = np.array(
            [bool(asked.evidence & set(columns.sources[row])) for row in range(len(found))], np.float32
        )
        nothing = np.zeros(len(found), np.float32)
        rows.append(
            (np.stack([found.values.get(name, nothing) for name in names], axis=1), holds, asked.category)
        )
    return rows


def fitted(tables: Sequence[Table]) -> np.ndarray:
    """The weights for the questions of some samples."""
    rows = [row for one in tables for row in one]
    most = max(len(holds) for _, holds, _ in rows)
    values = np.zeros((len(rows), most, rows[0][0].shape[1]), np.float32)
    holding, absent = np.zeros((len(rows), most), np.float32), np.full((len(rows), most), -1e9, np.float32)
    for i, (signal, holds, _) in enumerate(rows):
        values[i, : len(holds)], holding[i, : len(holds)], absent[i, : len(holds)] = signal, holds, 0
    weights = np.full(values.shape[2], 0.3)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = _slope(weights, values, holding, absent)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights -= RATE * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def _slope(weights: np.ndarray, values: np.ndarray, holding: np.ndarray, absent: np.ndarray) -> np.ndarray:
    scores = SHARPNESS * (values @ weights.astype(np.float32)) + absent
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    others = np.maximum((raised * (1 - holding)).sum(axis=1, keepdims=True), 1e-12)
    missed = holding * others / (raised + others)
    pull = (1 - holding) * raised / others * missed.sum(axis=1, keepdims=True) - missed
    pull /= np.maximum(holding.sum(axis=1, keepdims=True), 1)
    slope: np.ndarray = SHARPNESS * np.einsum("qn,qnd->d", pull, values) / len(values) + DECAY * weights
    return slope


def recalls(weights: np.ndarray, rows: Table, cut: int = 10) -> list[tuple[str, float]]:
    """Each question's category and recall of its records at the cut."""
    found = []
    for signal, holds, category in rows:
        best = np.argsort(-(signal @ weights), kind="stable")[:cut]
        found.append((category, float(holds[best].sum() / max(1.0, holds.sum()))))
    return found


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--stores", type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    given = parser.parse_args()
    names = [name for name in BALANCED.weights if name not in NOT_FITTED | set(given.without)]
    with tempfile.TemporaryDirectory() as temporary:
        samples = list(locomo(given.locomo, None))
        tables = [table(sample, given.stores or Path(temporary), names) for sample in samples]
    weights = fitted(tables)
    print({name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)})
    left_out, all_in = [], []
    for i, sample in enumerate(samples):
        own = recalls(fitted([t for j, t in enumerate(tables) if j != i]), tables[i])
        print(f"{sample.name}: recall@10 {100 * np.mean([r for _, r in own]):.1f} fitted on the others")
        left_out += own
        all_in += recalls(weights, tables[i])
    for title, rows in (("fitted on the others", left_out), ("fitted on all", all_in)):
        by = {c: 100 * np.mean([r for k, r in rows if k == c]) for c in sorted({c for c, _ in rows})}
        print(f"{title}: recall@10 {100 * np.mean([r for _, r in rows]):.1f}", end="; ")
        print(", ".join(f"{category} {value:.1f}" for category, value in by.items()))


if __name__ == "__main__":
    main()
