"""Fits the weights of recall and of the trial's agent: `python benchmarks/experience_fit.py [--seeds N]`.

Of each domain that may be fitted on, each seed makes one scenario in the usual order of rounds and one in a
shuffled one. Every round is a choice among the candidates: the log of a candidate's odds is the weighted
sum of its signals (`domain/experience/contrast.py`), less log n for each of n candidates never seen, plus
the weighted cosine of its name. The weights maximize the truths' likelihood with 0.5 x their squares taken
off, the signals in tenths (conditional logit, by Newton's method). Printed are the weights fitted on all
domains, and how many of nine rounds are right on each domain by weights fitted on the others: the mean over
the domains with its 95 percent interval, and the shares by type of round.
"""

import argparse
import random
from collections import Counter
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np
from experience import DOMAINS, EMBED, ORDER, WORDS, generated, read

from varve.domain.experience.contrast import Precedent, signals
from varve.domain.experience.trial import Scenario, name_likeness

SIGNALS = ("told", "apart", "novelty", "seen", "name")
SCALE = np.array([10.0, 10.0, 10.0, 1.0, 10.0])
PENALTY, STEPS = 0.5, 30


@dataclass(frozen=True)
class Choice:
    """One round: a row of signals for each candidate, its offset, and which one was right."""

    type: str
    signals: np.ndarray
    offsets: np.ndarray
    truth: int


def choices(scenario: Scenario) -> list[Choice]:
    """The rounds of a scenario, with what could be known before each."""
    made: list[Choice] = []
    past: list[Precedent] = []
    for number, one in enumerate(scenario.rounds):
        (vector,) = EMBED([one.situation])
        found = signals(one.situation, vector, past, WORDS.embed_words) if past else None
        names = name_likeness(one.situation, scenario.candidates, EMBED)
        rows = [
            [found.told[c], found.apart[c], found.novelty, 1.0, names[c]]
            if found and c in found.told
            else [0.0, 0.0, 0.0, 0.0, names[c]]
            for c in scenario.candidates
        ]
        new = [not row[3] for row in rows]
        offsets = np.where(new, -np.log(max(1, sum(new))), 0.0)
        truth = scenario.candidates.index(one.truth)
        made.append(Choice(one.type, np.array(rows) * SCALE, offsets, truth))
        past.append(Precedent(f"{number:02}", one.truth, one.situation, vector, one.correction))
    return made


def fitted(rounds: list[Choice]) -> np.ndarray:
    """The weights of the scaled signals."""
    weights = np.zeros(len(SIGNALS))
    for _ in range(STEPS):
        slope, bend = -PENALTY * weights, -PENALTY * np.eye(len(SIGNALS))
        for one in rounds:
            odds = np.exp(one.signals @ weights + one.offsets)
            shares = odds / odds.sum()
            middle = shares @ one.signals
            slope += one.signals[one.truth] - middle
            bend -= (one.signals.T * shares) @ one.signals - np.outer(middle, middle)
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def main() -> None:
    """Fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    usual, shuffled = {}, {}
    for domain in read(DOMAINS["generated, fitted on"]):
        name = domain["name"]
        usual[name] = [c for seed in seeds for c in choices(generated(domain, seed))]
        orders = {seed: random.Random(seed).sample(ORDER, len(ORDER)) for seed in seeds}
        shuffled[name] = [c for seed in seeds for c in choices(generated(domain, seed, orders[seed]))]
    right: Counter[str] = Counter()
    rounds: Counter[str] = Counter()
    per_domain = []
    for held, own in usual.items():
        weights = fitted([c for name in usual if name != held for c in usual[name] + shuffled[name]])
        hits = [int(np.argmax(c.signals @ weights + c.offsets)) == c.truth for c in own]
        per_domain.append(len(ORDER) * mean(hits))
        right.update(c.type for c, hit in zip(own, hits, strict=True) if hit)
        rounds.update(c.type for c in own)
    weights = fitted([c for name in usual for c in usual[name] + shuffled[name]]) * SCALE
    print(", ".join(f"{name} {weight:.2f}" for name, weight in zip(SIGNALS, weights, strict=True)))
    interval = 1.96 * stdev(per_domain) / len(per_domain) ** 0.5
    print(f"each domain by the others' weights: {mean(per_domain):.2f} ± {interval:.2f} of {len(ORDER)}")
    print(", ".join(f"{type_} {right[type_] / n:.2f}" for type_, n in sorted(rounds.items())))


if __name__ == "__main__":
    main()
