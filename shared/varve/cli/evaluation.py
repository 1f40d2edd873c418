"""`varve eval`."""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.output import format_count, print_result
from varve.domain.errors import Rejected, prefix_field
from varve.domain.experience.trial import (
    FlatMemory,
    Scenario,
    Score,
    TrialMemory,
    parse_scenarios,
    run,
)
from varve.domain.experience.trial_memory import ExperienceMemory
from varve.ports.search import word_embedding


def add_eval(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve eval`."""
    command.add_argument("what", choices=["experience"], help="part of memory to test")
    command.add_argument(
        "--scenarios",
        metavar="FILE",
        action="append",
        required=True,
        help="JSON file with a scenario or an array of them; give the option once for "
        "each file",
    )


def evaluate(options: argparse.Namespace, memory: Memory) -> None:
    """Run the scenarios with this memory and with flat vectors, and print both scores.

    Raises Rejected: names file and field.
    """
    scenarios = _read_scenarios(options.scenarios)
    embedder = memory.sessions.open(memory.scope).embedder
    memories: dict[str, Callable[[], TrialMemory]] = {
        "memory": lambda: ExperienceMemory(embedder.embed, word_embedding(embedder)),
        "flat": lambda: FlatMemory(embedder.embed),
    }
    scores: dict[str, dict[str, Any]] = {}
    for name, build_memory in memories.items():
        score = Score()
        for scenario in scenarios:
            run(scenario, build_memory(), embedder.embed, score)
        scores[name] = score.to_dict()
    value = {"scenarios": len(scenarios), **scores}
    print_result(options, value, _format_scores(scores))


def _read_scenarios(names: list[str]) -> list[Scenario]:
    scenarios: list[Scenario] = []
    for name in names:
        value = _read_json(name)
        with prefix_field(f"{name}: "):
            scenarios += parse_scenarios(value)
    return scenarios


def _read_json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text("utf-8"))
    except FileNotFoundError as error:
        raise Rejected(name, "does not exist") from error
    except (OSError, ValueError) as error:
        reason = f"cannot be read as JSON ({type(error).__name__})"
        raise Rejected(name, reason) from error


def _format_scores(scores: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, score in scores.items():
        shares = score["accuracyByType"].items()
        types = ", ".join(f"{type_} {share:.2f}" for type_, share in shares)
        rounds = format_count(score["rounds"], "round")
        yield f"{name}: {score['right']} of {rounds} right ({types})"
        explicit = "-"
        if score["explicitOutcomeShare"] is not None:
            explicit = f"{score['explicitOutcomeShare']:.2f}"
        yield (
            f"    share of retrieved texts with an explicit outcome: {explicit}; "
            f"applications: {score['rightApplications']} right, "
            f"{score['falseApplications']} wrong"
        )
