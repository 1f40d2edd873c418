"""The trial of memories: the same agent and scenarios with this memory and flat vectors."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import WordEmbedder, attempt
from varve.adapters.models.cached_embedder import CachedEmbedder
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.errors import Rejected
from varve.domain.trial.baselines import FlatMemory
from varve.domain.trial.memory import ExperienceMemory
from varve.domain.trial.rounds import (
    Returned,
    Score,
    Shown,
    decide_by_rule,
    last_named,
    parse_scenarios,
    run,
)

SCENARIOS = Path(__file__).parents[1] / "scenarios"
WORDS = WordLlamaEmbedder()
EMBEDDER = CachedEmbedder(WORDS)


def with_experience() -> ExperienceMemory:
    return ExperienceMemory(EMBEDDER.embed, WORDS.embed_words)


def with_flat_vectors() -> FlatMemory:
    return FlatMemory(EMBEDDER.embed)


def played(memory: Any, *names: str) -> dict[str, Any]:
    score = Score()
    for name in names:
        for scenario in parse_scenarios(
            json.loads((SCENARIOS / name).read_text("utf-8"))
        ):
            decide = partial(decide_by_rule, EMBEDDER.embed)
            run(scenario, memory(), decide, score)
    return score.to_dict()


def test_experience_memory_beats_flat_vectors_in_similar_situations() -> None:
    names = (
        "debugging.json",
        "hotel.json",
        "churn.json",
        "pipeline-failures.json",
    )
    ours, flat = (
        played(with_experience, *names),
        played(with_flat_vectors, *names),
    )
    assert ours["right"] > flat["right"]
    assert ours["explicitOutcomeShare"] == 1.0
    assert flat["explicitOutcomeShare"] == 0.0
    assert ours["falseApplications"] < flat["falseApplications"]
    assert played(with_experience, "debugging.json")["right"] >= 7


def test_a_trial_gives_the_same_result_every_time() -> None:
    assert played(with_experience, "hotel.json") == played(
        with_experience, "hotel.json"
    )


def test_without_memory_the_agent_decides_by_the_names() -> None:
    embed = WordEmbedder().embed
    assert (
        decide_by_rule(
            embed, "the disk is full", ["pool", "disk_full"], Returned()
        )
        == "disk_full"
    )


def test_in_a_familiar_situation_the_agent_follows_its_memory() -> None:
    embed = WordEmbedder().embed
    shown = [Shown("1", "something\npool", 0.9)]
    situation = "the host has been slow since Monday, and its disk is busy"
    assert (
        decide_by_rule(
            embed, situation, ["pool", "disk_full"], Returned(shown, 1.0)
        )
        == "pool"
    )
    assert (
        decide_by_rule(
            embed, situation, ["pool", "disk_full"], Returned(shown, 0.0)
        )
        == "disk_full"
    )


def test_the_agent_reads_the_candidate_named_last() -> None:
    assert (
        last_named(["pool", "release"], "not the pool\nrelease") == "release"
    )
    assert last_named(["pool", "release"], "neither") is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"candidates": ["one"]}, "candidates"),
        ({"rounds": []}, "rounds"),
        (
            {"rounds": [{"type": "GUESS", "situation": "s", "truth": "a"}]},
            "rounds[0].type",
        ),
        (
            {"rounds": [{"type": "LEARN", "situation": "s", "truth": "c"}]},
            "rounds[0].truth",
        ),
    ],
)
def test_a_malformed_scenario_is_refused_by_field(
    change: dict[str, Any], field: str
) -> None:
    scenario = {
        "name": "n",
        "candidates": ["a", "b"],
        "rounds": [
            {
                "type": "LEARN",
                "state": None,
                "situation": "s",
                "truth": "a",
                "correction": "",
            }
        ],
    }
    assert len(parse_scenarios(scenario)) == 1
    assert parse_scenarios(scenario | {"notes": "by hand"}) == parse_scenarios(
        scenario
    )
    error = attempt(parse_scenarios, scenario | change)
    assert isinstance(error, Rejected)
    assert error.field == field
