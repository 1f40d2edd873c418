"""Languages as data: what a file adds without any code, and the phrases of time that are refused."""

import re
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from varve.domain.calendar import Grain
from varve.domain.language.grammar import (
    Grammar,
    build_grammar,
    installed_grammar,
)
from varve.domain.language.languages import (
    Language,
    Refusal,
    common_times,
    installed_languages,
    read_languages,
)
from varve.domain.language.statements import Lean, build_expressions
from varve.domain.language.stopwords import united
from varve.domain.language.time_expressions import find_refusals
from varve.domain.language.timewords import understand
from varve.domain.search.kinds import read_members
from varve.domain.search.question import build_patterns

NOW = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)
ZONE = ZoneInfo("UTC")

MADE_UP = """
name = "Volapunk"
order = 9

[words]
stemmer = "dutch"
stop_words = "zo zi zu"
courtesies = "glid"

[questions]
asks_when = ["kiup"]
happened = ["jenos"]

[kinds.pet]
asked_by = "nim"
members = "dog miaug"

[times]
months = [["yanul"], ["febul"], ["mazul"], [], [], [], [], [], [], [], [], []]
weekdays = [["mudel"], [], [], [], [], [], []]

[times.units]
day = ["del", "dels"]
week = ["vig", "vigs"]

[times.numbers]
3 = ["kil"]

[times.fixed]
"-1 day" = ["ädelo"]

[times.forms]
ago = ["bo {n} {unit}"]

[times.leads]
in = ["inu"]

[[times.refused]]
name = "song"
example = "Kanit ädelo"
form = "fixed"
before = '''(?i)kanit $'''

[statements]
not_after = ["jü"]

[statements.forms]
fixed = ["{fixed}"]
ago = ["bo {n} {unit}"]
"""


@pytest.fixture(name="languages")
def _languages(tmp_path: Path) -> tuple[Language, ...]:
    """The installed languages, and a made-up one beside them."""
    (tmp_path / "vo.toml").write_text(MADE_UP, encoding="utf-8")
    return (*installed_languages(), *read_languages(tmp_path))


@pytest.fixture(name="grammar")
def _grammar(languages: tuple[Language, ...]) -> Grammar:
    return build_grammar(languages)


def test_an_added_language_adds_its_stop_words(
    languages: tuple[Language, ...],
) -> None:
    assert languages[-1].code == "vo"
    assert {"zo", "zi", "zu", "the", "el"} <= united(languages, "stop_words")
    assert languages[-1].words.stemmer == "dutch"


@pytest.mark.parametrize(
    ("text", "first", "last", "grain"),
    [
        ("Kis äjenos bo kil vigs?", "2026-10-26", "2026-11-01", Grain.WEEKLY),
        ("inu mazul", "2026-03-01", "2026-03-31", Grain.MONTHLY),
        ("inu mazul 2025", "2025-03-01", "2025-03-31", Grain.MONTHLY),
        ("Kis äjenos adelo?", "2026-11-20", "2026-11-20", Grain.DAILY),
        ("last week", "2026-11-09", "2026-11-15", Grain.WEEKLY),
    ],
)
def test_an_added_language_tells_times(
    grammar: Grammar, text: str, first: str, last: str, grain: Grain
) -> None:
    found = understand(text, NOW, ZONE, grammar)
    assert found is not None
    assert found.since is not None
    assert found.until is not None
    days = (found.until - found.since).days
    assert found.since.date() == date.fromisoformat(first)
    assert (
        days == (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    )
    assert found.grain == grain


def test_an_added_language_refuses_phrases_of_its_own(
    grammar: Grammar,
) -> None:
    assert understand("Kanit ädelo", NOW, ZONE, grammar) is None
    assert "song" in find_refusals("Kanit ädelo", grammar)


def test_an_added_language_dates_statements(
    languages: tuple[Language, ...],
) -> None:
    expressions = build_expressions(languages[-1])
    found = expressions.find(
        "ägolob bo kil dels", date(2026, 11, 21), Lean.PAST
    )
    assert found is not None
    assert found.first == date(2026, 11, 18)
    assert expressions.find("jü ädelo", date(2026, 11, 21), Lean.PAST) is None


def test_an_added_language_asks(languages: tuple[Language, ...]) -> None:
    patterns = build_patterns(languages)
    assert patterns.asks_when.search("kiup ekömol?")
    assert "jenos" in patterns.happened
    assert {"miaug", "puppy"} <= set(read_members(languages)["nim"])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('name = "X"\norder = 1\ncolour = "red"', "colour"),
        ('name = "X"\norder = 1\n[times]\nmonth = []', "month"),
        ('name = "X"\norder = 1\n[words]\nstopwords = ""', "stopwords"),
        ('name = "X"', "order"),
        ("name = X", "line 1"),
    ],
)
def test_a_wrong_file_is_refused_and_named(
    tmp_path: Path, text: str, wrong: str
) -> None:
    (tmp_path / "xx.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"xx\.toml: .*{wrong}"):
        read_languages(tmp_path)


def test_a_form_that_names_unknown_words_is_refused(tmp_path: Path) -> None:
    text = 'name = "X"\norder = 1\n[times.forms]\nago = ["{colour} ago"]'
    (tmp_path / "xx.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape("{colour}")):
        build_grammar([*installed_languages(), *read_languages(tmp_path)])


ROWS = [
    *common_times().refused,
    *(row for one in installed_languages() for row in one.times.refused),
]


def test_every_refusal_has_a_name_of_its_own() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert [row.name for row in installed_grammar().refused] == names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_example_of_a_refusal_is_refused_by_it(row: Refusal) -> None:
    assert row.name in find_refusals(row.example, installed_grammar())
    assert understand(row.example, NOW, ZONE) is None
