"""What experience is worth and what it costs: `python benchmarks/experience.py [--seeds N] [--json]`.

Scenarios: the written ones of `tests/scenarios`, and of each domain in its files of domains one for every
seed, in which the seed draws subjects and situations. The weights of recall and of the agent were fitted on
all but those of `natural.json` and `domains-held-back.json`. The agent of `varve eval experience` plays all
of them with this memory, with flat vectors over the same texts, and with none.
Printed: the accuracy by type of round, and over the generated scenarios the mean of the rounds right with
its 95 percent interval (1.96 standard errors); then how the experience store grows with the number of
episodes.
"""

import argparse
import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any

from traffic import markdown

from varve import Memory
from varve.adapters.models.cached_embedder import CachedEmbedder
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.experience.baselines import FlatMemory, NoMemory
from varve.domain.experience.trial import (
    Scenario,
    Score,
    parse_scenarios,
    run,
)
from varve.domain.experience.trial_memory import ExperienceMemory

SCENARIOS = Path(__file__).parents[1] / "tests" / "scenarios"
WORDS = WordLlamaEmbedder()
EMBED = CachedEmbedder(WORDS, 65_536).embed
DOMAINS = {
    "generated, fitted on": (
        "domains.json",
        "domains-more.json",
        "domains-further.json",
    ),
    "generated, held back": ("domains-held-back.json",),
}
NATURAL = "natural.json"
"""Written by three outsiders who knew only what a scenario is; nothing is fitted on it."""
LOOK_ALIKE, OTHER = 1, 2
ORDER = [
    ("LEARN", 0), ("LEARN", 0), ("RED_HERRING", LOOK_ALIKE), ("LEARN", 0), ("TEST", 0), ("TEST", 0),
    ("SUBTLE", OTHER), ("CORRECTION", LOOK_ALIKE), ("SUBTLE", LOOK_ALIKE),
]  # fmt: skip
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


MEMORIES: dict[str, Callable[[], Any]] = {
    "memory": lambda: ExperienceMemory(EMBED, WORDS.embed_words),
    "flat": lambda: FlatMemory(EMBED),
    "none": NoMemory,
}


def read(names: Sequence[str]) -> list[dict[str, Any]]:
    """The domains of some files."""
    return [
        domain
        for name in names
        for domain in json.loads((SCENARIOS / name).read_text("utf-8"))
    ]


def generated(
    domain: dict[str, Any],
    seed: int,
    order: Sequence[tuple[str, int]] = tuple(ORDER),
) -> Scenario:
    """One scenario of a domain: no situation and no subject comes twice."""
    chance = random.Random(f"{domain['name']}/{seed}")
    subjects = chance.sample(domain["subjects"], len(order))
    left = [
        chance.sample(cause["situations"], len(cause["situations"]))
        for cause in domain["causes"]
    ]
    rounds = [
        {
            "type": type_,
            "state": domain["state"],
            "situation": left[cause].pop().format(s=subject),
            "truth": domain["causes"][cause]["truth"],
            "correction": domain["causes"][cause]["correction"],
        }
        for subject, (type_, cause) in zip(subjects, order, strict=True)
    ]
    candidates = chance.sample(domain["candidates"], len(domain["candidates"]))
    name = f"{domain['name']} #{seed}"
    return parse_scenarios(
        {"name": name, "candidates": candidates, "rounds": rounds}
    )[0]


def scored(scenarios: list[Scenario]) -> dict[str, dict[str, Any]]:
    """The same scenarios with each memory."""
    found = {}
    for name, make in MEMORIES.items():
        score = Score()
        for scenario in scenarios:
            run(scenario, make(), EMBED, score)
        found[name] = score.to_dict()
    return found


def written() -> list[Scenario]:
    """The scenarios written out round by round that weights are fitted on."""
    paths = [
        path
        for path in sorted(SCENARIOS.glob("*.json"))
        if not path.name.startswith("domains")
    ]
    return [
        one
        for path in paths
        if path.name != NATURAL
        for one in written_in(path.name)
    ]


def written_in(name: str) -> list[Scenario]:
    """The scenarios of one file."""
    return parse_scenarios(json.loads((SCENARIOS / name).read_text("utf-8")))


def growth() -> list[list[object]]:
    """Rows and bytes of the experience store as episodes with outcomes come, and of a recall's answer."""
    rows: list[list[object]] = []
    with TemporaryDirectory() as folder:
        memory = Memory.open(
            folder, now=START + timedelta(days=400), environment={}
        )
        for number in range(200):
            at = START + timedelta(days=number)
            message = {
                "id": "m",
                "role": "user",
                "content": f"service {number} waits for a connection",
            }
            message |= {"state": "debugging", "timestamp": at.isoformat()}
            memory.ingest(
                {"conversationId": f"c-{number}", "messages": [message]}
            )
            memory.record_outcome(
                f"c-{number}", "SUCCESS", decision="raise the pool", at=at
            )
            if number + 1 in (10, 50, 200):
                store = (
                    Path(folder)
                    / "vectordb"
                    / "default"
                    / "default"
                    / "experience"
                )
                size = sum(
                    path.stat().st_size
                    for path in store.rglob("*")
                    if path.is_file()
                )
                answer = json.dumps(
                    memory.recall_experience(
                        "a service waits for a connection"
                    ).to_dict()
                )
                lessons = len(memory.experience.lessons.all())
                rows.append(
                    [
                        number + 1,
                        size / 1000,
                        size / (number + 1) / 1000,
                        lessons,
                        len(answer),
                    ]
                )
    return rows


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {
        "written": scored(written()),
        "natural, held back": scored(written_in(NATURAL)),
    }
    for title, domains in DOMAINS.items():
        made = [
            generated(domain, seed)
            for domain in read(domains)
            for seed in range(options.seeds)
        ]
        found[title] = scored(made)
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for title, scores in found.items():
        print(f"**{title} scenarios**\n\n{_table(scores)}")
    for scenario in written():
        right = ", ".join(
            f"{name} {found['written'][name]['rightByScenario'][scenario.name]}"
            for name in MEMORIES
        )
        print(f"- {scenario.name}: of {len(scenario.rounds)}, {right}")
    print("\n**Growth of the store**\n")
    headings = [
        "episodes",
        "KB",
        "KB per episode",
        "lessons",
        "bytes of a recall",
    ]
    print(markdown(headings, growth()))


def _table(scores: dict[str, dict[str, Any]]) -> str:
    types = sorted(
        {
            type_
            for score in scores.values()
            for type_ in score["accuracyByType"]
        }
    )
    headings = [
        "",
        "rounds right",
        "per scenario",
        *types,
        "explicit outcome",
        "right applied",
        "false applied",
    ]
    rows: list[list[object]] = []
    for name, score in scores.items():
        per = list(score["rightByScenario"].values())
        interval = (
            f"{mean(per):.2f} ± {1.96 * stdev(per) / len(per) ** 0.5:.2f}"
        )
        shares = [f"{score['accuracyByType'][type_]:.2f}" for type_ in types]
        explicit = score["explicitOutcomeShare"]
        rows.append(
            [
                name, f"{score['right']} of {score['rounds']}", interval, *shares,
                "-" if explicit is None else f"{explicit:.2f}",
                score["rightApplications"], score["falseApplications"],
            ]
        )  # fmt: skip
    return markdown(headings, rows)


if __name__ == "__main__":
    main()
