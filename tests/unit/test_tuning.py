"""Weights are fitted on one's own questions, judged on those that the fit did not see."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.cli.main import main
from varve.domain.errors import Rejected
from varve.domain.evaluation import parse_questions
from varve.domain.search.strategies import (
    BALANCED,
    CURRENT,
    MAX_WEIGHT,
    parse_weights,
    with_weights,
)
from varve.domain.tuning import Setting, tune


def test_a_gain_on_unseen_questions_is_proposed() -> None:
    def score(setting: Setting) -> list[float]:
        better = 0.2 if setting.half_life_days == 30 else 0.0
        weight = dict(setting.weights).get("date", BALANCED.weights["date"])
        better += 0.2 if weight < BALANCED.weights["date"] else 0.0
        return [0.3 + better + 0.01 * (number % 3) for number in range(60)]

    found = tune(score, Setting(), 60)
    assert found.proposed is not None
    assert found.after - found.before > 0.39
    assert found.proposed.commands == (
        "varve config set search.halfLifeDays 30",
        "varve config set search.weights date=0.61",
    )


def test_what_helps_a_few_questions_by_chance_is_not_proposed() -> None:
    def score(setting: Setting) -> list[float]:
        # Every setting but the default one helps one question in fifty and harms another.
        chosen = hash(setting) % 50 if setting != Setting() else None
        return [
            0.5 + (number == chosen) * 0.2 - (number == 7) * 0.2
            for number in range(50)
        ]

    assert tune(score, Setting(), 50).proposed is None


def test_a_fitted_weight_stays_within_its_bounds() -> None:
    setting = Setting()
    for _ in range(9):
        setting = setting.with_weight("kin", 2 * MAX_WEIGHT)
    assert dict(setting.weights) == {"kin": MAX_WEIGHT}
    assert setting.with_weight("kin", BALANCED.weights["kin"]) == Setting()


@pytest.mark.parametrize(
    "text", ["moon=1", "date", "date=9", "date=nan", "", "date=1,date=1"]
)
def test_weights_of_a_wrong_form_are_refused(text: str) -> None:
    with pytest.raises(Rejected, match="weights"):
        parse_weights(text)


def test_a_question_about_the_present_keeps_its_weight_of_recency() -> None:
    own = {"recency": 0.0, "date": 0.5}
    assert with_weights(BALANCED, own).weights["recency"] == 0.0
    present = with_weights(CURRENT, own).weights
    assert present["recency"] == CURRENT.weights["recency"]
    assert present["date"] == 0.5


def test_16_a_workspaces_weights_rank_and_are_told_under_explain(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.ingest([talk(1, "The kiln is full."), talk(9, "The kiln is hot.")])
    plain = memory.search("kiln", explain=True)
    assert plain.searched.weights == {}
    memory.configure("search.weights", "recency=3,turn=0")
    told = memory.search("kiln", explain=True)
    assert told.searched.weights == {"recency": 3.0, "turn": 0.0}
    assert told.results[0].why.parts is not None
    assert told.results[0].why.parts["turn"] == 0
    assert told.results[0].score != plain.results[0].score
    assert "weights" not in memory.search("kiln").to_dict()["searched"]


def test_16_fewer_than_fifty_questions_are_never_fitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest(talk(1, "The kiln is full.", "Ana has the key."))
    asked = {"question": "Who has the key?", "messageIds": ["m1-1"]}
    with pytest.raises(Rejected, match="too few"):
        memory.tune_retrieval(parse_questions([asked] * 49))
    file = tmp_path / "questions.json"
    file.write_text(json.dumps([asked] * 50))
    options = ["--store", str(tmp_path / "memory"), "--questions", str(file)]
    assert main(["eval", "retrieval", "--tune", *options]) == 0
    assert "keep the settings" in capsys.readouterr().out


def test_a_context_ranks_with_the_workspaces_weights_as_search_does(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=datetime(2026, 3, 10, tzinfo=UTC))
    memory.ingest([talk(1, "The kiln is full."), talk(9, "The kiln is hot.")])
    memory.configure("search.halfLifeDays", "2")
    for weight, first in (("-3", "full"), ("3", "hot")):
        memory.configure("search.weights", f"recency={weight}")
        asked = "Tell me about the kiln"
        best = memory.search(asked).results[0]
        assert first in best.content
        block = memory.context(asked, max_tokens=120)
        assert block.ids[0] == best.id
