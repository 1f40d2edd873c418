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
