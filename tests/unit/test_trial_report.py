"""`varve eval experience`: all memories, shuffled rounds, causes seen or new, intervals."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer, Request, prompt
from varve import Memory, Misconfigured
from varve.cli.evaluation import add_eval, evaluate
from varve.domain.trial.report import compare, shuffle_rounds
from varve.domain.trial.rounds import Judged, Scenario, parse_scenarios

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_eval(parser)
    return parser.parse_args(words)


def judged(
    rights: str, scenario: str = "s", *, seen: bool = True
) -> list[Judged]:
    return [Judged(scenario, "TEST", seen, right == "1") for right in rights]


def a_scenario(*situations: str) -> Scenario:
    rounds = [
        {"type": "LEARN", "situation": one, "truth": "a"} for one in situations
    ]
    (scenario,) = parse_scenarios(
        {"name": "n", "candidates": ["a", "b"], "rounds": rounds}
    )
    return scenario


def test_scenarios_take_one_file_and_leave_the_words_after_it() -> None:
    given = parse(
        "--scenarios", "a.json", "--scenarios", "b.json", "experience"
    )
    assert (given.scenarios, given.what) == (
        ["a.json", "b.json"],
        "experience",
    )


def test_all_memories_are_compared_by_type_and_by_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(SCENARIOS / "hotel.json")
    options = parse("experience", "--scenarios", path, "--shuffles", "2")
    options.json = True
    memory = Memory.open(tmp_path, environment={})
    evaluate(options, memory)
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    arms = ("none", "majority", "nearest", "bm25", "flat", "memory")
    assert {printed[arm]["rounds"] for arm in arms} == {2 * 9}
    assert set(printed["memory"]["accuracyByCause"]) == {"new", "seen"}
    assert set(printed["differences"]) == set(arms[:-1])
    for groups in printed["differences"].values():
        assert set(groups) == {"all", "new", "seen"}
        for one in groups.values():
            assert one["low"] <= one["difference"] <= one["high"]


def test_a_difference_is_paired_and_resamples_scenarios() -> None:
    ours = [*judged("1111", "a"), *judged("1100", "b")]
    theirs = [*judged("1100", "a"), *judged("1100", "b")]
    difference = compare(ours, theirs, "all")
    assert difference is not None
    assert (difference.mean, difference.low, difference.high) == (
        0.25,
        0.0,
        0.5,
    )
    same = compare(ours, ours, "seen")
    assert same is not None
    assert (same.mean, same.low, same.high) == (0.0, 0.0, 0.0)
    assert compare(ours, theirs, "new") is None


def test_a_shuffle_keeps_the_rounds_and_the_first_one_the_order() -> None:
    scenario = a_scenario(*"abcdefgh")
    shuffled = shuffle_rounds(scenario, 1)
    assert shuffle_rounds(scenario, 0) == scenario
    assert shuffled == shuffle_rounds(scenario, 1)
    assert shuffled.rounds != scenario.rounds
    assert sorted(one.situation for one in shuffled.rounds) == list("abcdefgh")


def test_a_round_that_names_an_earlier_one_stays_behind_those_before_it() -> (
    None
):
    scenario = a_scenario(
        "first", "second", "it failed again", "fourth", "fifth"
    )
    for seed in range(1, 20):
        said = [one.situation for one in shuffle_rounds(scenario, seed).rounds]
        place = said.index("it failed again")
        assert {"first", "second"} <= set(said[:place])


def test_a_model_decides_for_every_memory_in_the_same_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = [
        {"type": "LEARN", "situation": f"host {n} is slow", "truth": truth}
        for n, truth in enumerate(("pool", "disk", "disk"))
    ]
    scenario = {"name": "n", "candidates": ["pool", "disk"], "rounds": rounds}
    path = tmp_path / "one.json"
    path.write_text(json.dumps(scenario))

    def answer(request: Request) -> dict[str, str]:
        known = prompt(request).partition("<memory>\n")[2]
        return {"choice": "Disk " if "disk" in known else "pool"}

    words = ("experience", "--scenarios", str(path), "--shuffles", "1")
    options = parse(*words, "--reasoner", "model")
    options.json = True
    with ModelServer(answer) as server:
        given = {"VARVE_LLM": "openai:test", **server.environment}
        evaluate(options, Memory.open(tmp_path / "m", environment=given))
        assert len(server.chats) == 6 * len(rounds)
        systems = {one.body["messages"][0]["content"] for one in server.chats}
    assert len(systems) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["reasoner"] == "model"
    assert (printed["none"]["right"], printed["flat"]["right"]) == (1, 2)
    unset = Memory.open(tmp_path / "m", environment={})
    with pytest.raises(Misconfigured, match="VARVE_LLM"):
        evaluate(options, unset)
