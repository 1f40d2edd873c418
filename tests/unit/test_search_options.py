"""A wrong memory type is refused by its option, with the words that it may have."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import Memory, Rejected
from varve.cli import main
from varve.domain.search.query import parse_search_request


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            ["--types", "sumary"],
            "--types: must be one of 'fact', 'turn', 'summary', 'note', 'episode', "
            "'lesson' or 'prior_answer', not 'sumary'",
        ),
        (["--types", "fact,turns"], "--types: must be one of 'fact'"),
        (["--types", "Fact"], "--types: must be one of 'fact'"),
        (["--user", ""], "--user: is empty"),
        (["--agent", ""], "--agent: is empty"),
        (["--max-results", "1000"], "varve: --max-results: must be less than"),
        (
            ["--min-days-ago", "5", "--max-days-ago", "2"],
            "varve: --max-days-ago: leaves no time",
        ),
    ],
)
def test_a_faulty_option_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    told: str,
) -> None:
    assert main(["search", "x", *given, "--store", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


def test_a_key_that_is_given_twice_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = ["--where", "channel=phone", "--where", "channel=email"]
    with pytest.raises(SystemExit) as ended:
        main(["search", "x", *entries, "--store", str(tmp_path)])
    assert ended.value.code == 2
    assert "--where: 'channel' is given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["recall", "timeouts"], "no episode or lesson bears on it\n"),
        (
            ["profile", "show"],
            "messages without a user id: 0 attributes, 0 statements\n",
        ),
        (
            ["search", "--since", "2026-03-01", "--grain", "working"],
            "searched 0 records (working) from 2026-03-01T00:00:00Z\n",
        ),
        (
            ["search", "--grain", "working"],
            "searched 0 records (working)\n",
        ),
    ],
)
def test_an_empty_memory_says_so_in_words(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    told: str,
) -> None:
    assert main([*given, "--store", str(tmp_path)]) == 0
    assert told in capsys.readouterr().out


def test_a_window_without_time_is_refused_in_the_callers_own_words(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path)
    with pytest.raises(Rejected, match=r"^maximum_days_ago: leaves no time"):
        memory.search("x", minimum_days_ago=5, maximum_days_ago=2)
    request = parse_search_request({"minimumDaysAgo": 5, "maximumDaysAgo": 2})
    with pytest.raises(Rejected, match=r"^maximumDaysAgo: leaves no time"):
        memory.answer(request)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--then", "call a plumber"], "varve: --when: must name at least"),
        (["--when", "the boiler bangs"], "varve: --then: must say what to do"),
    ],
)
def test_a_vague_lesson_is_refused_by_its_option(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    told: str,
) -> None:
    assert main(["lessons", "add", "x", *given, "--store", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "limits",
    [
        {"until": "2026-03-31"},
        {"minimum_days_ago": 200},
        {"topics": ["roses"]},
    ],
)
def test_the_hint_tells_whether_something_outside_the_limits_matches(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    now = datetime(2026, 11, 20, 10, tzinfo=UTC)
    memory = Memory.open(tmp_path, environment={}, now=now)
    july, march = now.replace(month=7), now.replace(month=3)
    memory.remember("We spent a week in Sagres.", at=july)
    memory.remember("I planted roses.", at=march)
    outside = memory.search("Sagres", **limits)
    nowhere = memory.search("harbour", **limits)
    assert outside.results == nowhere.results == []
    assert outside.hint is not None
    assert "outside them" in outside.hint
    assert "Sagres" not in outside.hint
    assert nowhere.hint is not None
    assert nowhere.hint.startswith("Nothing here matches")
