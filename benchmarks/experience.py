"""How the experience store grows: `python benchmarks/experience.py`.

Also the scenarios that weights may be fitted on (`benchmarks/experience_fit.py`): the written ones of
`tests/scenarios`, and of each domain in its files of domains one for every seed, in which the seed draws
subjects and situations. What memory is worth is measured by `varve eval experience`.
"""

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from traffic import markdown

from varve import Memory
from varve.adapters.models.cached_embedder import CachedEmbedder
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.trial.rounds import Scenario, parse_scenarios

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
ONCE = "once.json"
"""Ten scenarios that were written and committed before anything ran on them, and scored once."""
LOOK_ALIKE, OTHER = 1, 2
ORDER = [
    ("LEARN", 0), ("LEARN", 0), ("RED_HERRING", LOOK_ALIKE), ("LEARN", 0), ("TEST", 0), ("TEST", 0),
    ("SUBTLE", OTHER), ("CORRECTION", LOOK_ALIKE), ("SUBTLE", LOOK_ALIKE),
]  # fmt: skip
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


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
        if path.name not in (NATURAL, ONCE)
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
    """Measure, and print."""
    headings = [
        "episodes",
        "KB",
        "KB per episode",
        "lessons",
        "bytes of a recall",
    ]
    print(markdown(headings, growth()))


if __name__ == "__main__":
    main()
