"""Fits the weights of recall and of the trial's agent: `python benchmarks/experience_fit.py [--seeds N]`.

Each seed plays every domain and every written scenario that may be fitted on in another order, so that no
weight learns which cause comes when; each of them counts as much as any other. Every round is a choice
among the candidates: the log of a candidate's odds is the weighted sum of its signals
(`domain/experience/contrast.py`), less log n for each of n candidates never seen, plus the weighted
likeness of its name. The weights maximize the truths' likelihood with half of their squares taken off, the
signals at unit scale (conditional logit, by Newton's method). Printed are the weights fitted on all, and
how many of nine rounds are right by weights fitted on the other domains, and by weights fitted on the other
files, which is to say on other writers' styles: the mean over the domains with its 95 percent interval, for
each file, and by type of round.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np
from experience import DOMAINS, EMBED, ORDER, WORDS, generated, read, written

from varve.domain.experience.contrast import Precedent, measure_signals
from varve.domain.trial.report import shuffle_rounds
from varve.domain.trial.rounds import Scenario, name_likeness, precedent_text

SIGNALS = ("told", "apart", "seen", "name")
SCALE = np.array([20.0, 10.0, 1.0, 20.0])
PENALTY, STEPS = 1.0, 30


@dataclass(frozen=True)
class Choice:
    """One round: a row of signals for each candidate, its offset, and which one was right."""

    type: str
    signals: np.ndarray
    offsets: np.ndarray
    truth: int


@dataclass(frozen=True)
class Domain:
    """What one domain has to teach: its rounds, in several orders."""

    name: str
    file: str
    rounds: Sequence[Choice]


def choices(scenario: Scenario) -> list[Choice]:
    """The rounds of a scenario, with what could be known before each."""
    made: list[Choice] = []
    past: list[Precedent] = []
    texts: list[str] = []
    for number, one in enumerate(scenario.rounds):
        (vector,) = EMBED([one.situation])
        found = (
            measure_signals(one.situation, vector, past, WORDS.embed_words)
            if past
            else None
        )
        names = name_likeness(one.situation, scenario.candidates, texts, EMBED)
        rows = [
            [found.told[c], found.apart[c], 1.0, names[c]]
            if found and c in found.told
            else [0.0, 0.0, 0.0, names[c]]
            for c in scenario.candidates
        ]
        new = [not row[2] for row in rows]
        offsets = np.where(new, -np.log(max(1, sum(new))), 0.0)
        truth = scenario.candidates.index(one.truth)
        made.append(Choice(one.type, np.array(rows) * SCALE, offsets, truth))
        past.append(
            Precedent(
                f"{number:02}",
                one.truth,
                one.situation,
                vector,
                one.correction,
            )
        )
        texts.append(precedent_text(one.situation, one.correction, one.truth))
    return made


def pool(seeds: Sequence[int]) -> list[Domain]:
    """All that may be fitted on, each seed in another order."""
    found = [
        Domain(one.name, "written", shuffled([one] * len(seeds), seeds))
        for one in written()
    ]
    for file in DOMAINS["generated, fitted on"]:
        for domain in read([file]):
            made = [generated(domain, seed) for seed in seeds]
            found.append(Domain(domain["name"], file, shuffled(made, seeds)))
    return found


def shuffled(
    scenarios: Sequence[Scenario], seeds: Sequence[int]
) -> list[Choice]:
    """The rounds of scenarios, each shuffled by its seed."""
    found: list[Choice] = []
    for scenario, seed in zip(scenarios, seeds, strict=True):
        found += choices(shuffle_rounds(scenario, seed + 1))
    return found


def fitted(domains: Sequence[Domain]) -> np.ndarray:
    """The weights of the scaled signals."""
    weighed = []
    for domain in domains:
        share = 3 * len(ORDER) / len(domain.rounds)
        weighed += [(one, share) for one in domain.rounds]
    weights = np.zeros(len(SIGNALS))
    for _ in range(STEPS):
        slope, bend = -PENALTY * weights, -PENALTY * np.eye(len(SIGNALS))
        for one, much in weighed:
            odds = np.exp(one.signals @ weights + one.offsets)
            shares = odds / odds.sum()
            middle = shares @ one.signals
            slope += much * (one.signals[one.truth] - middle)
            bend -= much * (
                (one.signals.T * shares) @ one.signals
                - np.outer(middle, middle)
            )
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def checked(domains: Sequence[Domain], group: str) -> None:
    """Print what weights fitted on other groups are worth on each."""
    right, by_file, by_type = [], defaultdict(list), defaultdict(list)
    for key in sorted({getattr(domain, group) for domain in domains}):
        weights = fitted(
            [domain for domain in domains if getattr(domain, group) != key]
        )
        for domain in (one for one in domains if getattr(one, group) == key):
            hits = [
                int(np.argmax(c.signals @ weights + c.offsets)) == c.truth
                for c in domain.rounds
            ]
            right.append(len(ORDER) * mean(hits))
            by_file[domain.file].append(right[-1])
            for choice, hit in zip(domain.rounds, hits, strict=True):
                by_type[choice.type].append(hit)
    interval = 1.96 * stdev(right) / len(right) ** 0.5
    print(
        f"by weights of other {group}s: {mean(right):.2f} ± {interval:.2f} of {len(ORDER)}"
    )
    print(
        ", ".join(
            f"{file} {mean(each):.2f}"
            for file, each in sorted(by_file.items())
        )
    )
    print(
        ", ".join(
            f"{type_} {mean(hits):.2f}"
            for type_, hits in sorted(by_type.items())
        )
    )


def main() -> None:
    """Fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    domains = pool(range(parser.parse_args().seeds))
    weights = fitted(domains) * SCALE
    print(
        ", ".join(
            f"{name} {weight:.2f}"
            for name, weight in zip(SIGNALS, weights, strict=True)
        )
    )
    for group in ("name", "file"):
        checked(domains, group)


if __name__ == "__main__":
    main()
