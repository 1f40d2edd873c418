"""A wrong memory type is refused by its option, with the words that it may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from varve.cli import main


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
        (["--max-results", "1000"], "max_results: must be less than"),
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
