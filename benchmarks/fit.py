"""Fits the weights of the ranking's signals, and shows what they are worth on a conversation not fitted on.

    python -m benchmarks.fit --locomo FILE [--stores DIR] [--without SIGNAL ...]

The questions are asked twice: of the chats as they are, and of the same `chopped` into short messages
(`benchmarks/retrieval.py`), for people write in both ways. The search: of every question of the file each
message that holds the answer is set against all that do not,
loss = -log(e^s / (e^s + sum of e^s over the others)) with s = 4 x the weighted sum of the signals, mean over
the question's messages, then over the questions, plus 0.005 x the squared weights; Adam, 300 steps of 0.05
from 0.3 each. Recency and importance are not fitted. Printed are the weights fitted on all conversations, to
be rounded to two digits into `domain/search/strategies.py`, and recall@10 of each conversation, as it is and
chopped, by weights fitted on the others.
"""

import argparse
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from benchmarks.retrieval import Sample, chopped, locomo, opened
from tests.support.drivers import open_driver
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.search.query import Filter, SearchRequest
from varve.domain.search.question import read_question
from varve.domain.search.routing import route
from varve.domain.search.signals import (
    EmbeddedQuestion,
    compute_signals,
    names_in,
)
from varve.domain.search.strategies import BALANCED

STEPS, RATE, DECAY, SHARPNESS = 300, 0.05, 0.01, 4.0
NOT_FITTED = frozenset({"recency", "importance"})
NOW = datetime(2024, 1, 1, tzinfo=UTC)
Table = list[tuple[np.ndarray, np.ndarray, str]]
"""For each question the signals of every record, whether it holds the answer, and the question's category."""


def table(sample: Sample, folder: Path, names: Sequence[str]) -> Table:
    """The signals of every record for each of a sample's questions."""
    opened(sample, folder)
    parts = open_driver(store=folder / sample.name)
    embedder = parts.embedder(parts.config("default"))
    columns = parts.records.columns(
        Scope("default", "default"), Grain.WORKING, model=embedder.model
    )
    assert columns is not None
    rows: Table = []
    for asked in sample.questions:
        way = route(SearchRequest(query_text=asked.text), NOW, ZoneInfo("UTC"))
        given = way.understood
        question = read_question(
            asked.text, given and given.since, given and given.until
        )
        whole, focus = embedder.embed(
            [asked.text, question.focus(names_in(question, [columns]))]
        )
        sought = EmbeddedQuestion(question, whole, focus, embedder.embed_words)
        found = compute_signals(sought, [columns], [Filter()], NOW, BALANCED)
        holds = np.array(
            [
                bool(asked.evidence & set(columns.sources[row]))
                for row in range(len(found))
            ],
            np.float32,
        )
        nothing = np.zeros(len(found), np.float32)
        rows.append(
            (
                np.stack(
                    [found.values.get(name, nothing) for name in names], axis=1
                ),
                holds,
                asked.category,
            )
        )
    return rows


def fitted(tables: Sequence[Table]) -> np.ndarray:
    """The weights for the questions of some samples."""
    rows = [row for one in tables for row in one]
    most = max(len(holds) for _, holds, _ in rows)
    values = np.zeros((len(rows), most, rows[0][0].shape[1]), np.float32)
    holding, absent = (
        np.zeros((len(rows), most), np.float32),
        np.full((len(rows), most), -1e9, np.float32),
    )
    for i, (signal, holds, _) in enumerate(rows):
        (
            values[i, : len(holds)],
            holding[i, : len(holds)],
            absent[i, : len(holds)],
        ) = (
            signal,
            holds,
            0,
        )
    weights = np.full(values.shape[2], 0.3)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = _slope(weights, values, holding, absent)
        first, second = (
            0.9 * first + 0.1 * slope,
            0.99 * second + 0.01 * slope**2,
        )
        weights -= (
            RATE
            * first
            / (1 - 0.9**step)
            / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        )
    return weights


def _slope(
    weights: np.ndarray,
    values: np.ndarray,
    holding: np.ndarray,
    absent: np.ndarray,
) -> np.ndarray:
    scores = SHARPNESS * (values @ weights.astype(np.float32)) + absent
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    others = np.maximum(
        (raised * (1 - holding)).sum(axis=1, keepdims=True), 1e-12
    )
    missed = holding * others / (raised + others)
    pull = (1 - holding) * raised / others * missed.sum(
        axis=1, keepdims=True
    ) - missed
    pull /= np.maximum(holding.sum(axis=1, keepdims=True), 1)
    slope: np.ndarray = (
        SHARPNESS * np.einsum("qn,qnd->d", pull, values) / len(values)
        + DECAY * weights
    )
    return slope


def recalls(
    weights: np.ndarray, rows: Table, cut: int = 10
) -> list[tuple[str, float]]:
    """Each question's category and recall of its records at the cut."""
    found = []
    for signal, holds, category in rows:
        best = np.argsort(-(signal @ weights), kind="stable")[:cut]
        found.append(
            (category, float(holds[best].sum() / max(1.0, holds.sum())))
        )
    return found


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--stores", type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    given = parser.parse_args()
    names = [
        name
        for name in BALANCED.weights
        if name not in NOT_FITTED | set(given.without)
    ]
    with tempfile.TemporaryDirectory() as temporary:
        samples = list(locomo(given.locomo, None))
        folder = given.stores or Path(temporary)
        ways = {
            "as they are": [
                table(sample, folder, names) for sample in samples
            ],
            "chopped": [
                table(chopped(sample), folder, names) for sample in samples
            ],
        }
    weights = fitted([one for tables in ways.values() for one in tables])
    print(
        {
            name: round(float(weight), 2)
            for name, weight in zip(names, weights, strict=True)
        }
    )
    left_out = [
        fitted(
            [
                one
                for tables in ways.values()
                for j, one in enumerate(tables)
                if j != i
            ]
        )
        for i in range(len(samples))
    ]
    for way, tables in ways.items():
        for sample, own, rows in zip(samples, left_out, tables, strict=True):
            print(
                f"{sample.name} {way}: {_figures(recalls(own, rows))}, fitted on the others"
            )
        fair = [
            one
            for own, rows in zip(left_out, tables, strict=True)
            for one in recalls(own, rows)
        ]
        print(f"all {way}: {_figures(fair)}, fitted on the others")
        known = [one for rows in tables for one in recalls(weights, rows)]
        print(f"all {way}: {_figures(known)}, fitted on all")


def _figures(found: Sequence[tuple[str, float]]) -> str:
    by = {
        sort: 100 * np.mean([r for kind, r in found if kind == sort])
        for sort in sorted({s for s, _ in found})
    }
    parts = ", ".join(f"{sort} {value:.1f}" for sort, value in by.items())
    return f"recall@10 {100 * np.mean([r for _, r in found]):.1f} ({parts})"


if __name__ == "__main__":
    main()
