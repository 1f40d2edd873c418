"""Documents match the code: commands, variables, targets and paths they name exist."""

import argparse
import re
from pathlib import Path

import pytest

from varve.cli.arguments import build_parser

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SETTINGS = (ROOT / "shared/varve/wiring/settings.py").read_text("utf-8")


def commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = (
        a
        for a in build_parser()._actions
        if isinstance(a, argparse._SubParsersAction)
    )
    return dict(action.choices)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_a_document_shows_exists(document: Path) -> None:
    shown = set(
        re.findall(
            r"(?:^|`)varve ([a-z-]+)",
            document.read_text("utf-8"),
            re.MULTILINE,
        )
    )
    assert shown <= set(commands())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_a_document_names_is_there(document: Path) -> None:
    text = document.read_text("utf-8")
    named = set(
        re.findall(
            r"`((?:docs|tests|benchmarks|functions|events|shared)/[\w./-]+\w)`",
            text,
        )
    )
    linked = set(re.findall(r"\]\((?!http|#)([\w./-]+)(?:#[\w-]+)?\)", text))
    places = [ROOT / path for path in named] + [
        document.parent / path for path in linked
    ]
    absent = {place.resolve() for place in places if not place.exists()}
    assert absent == set()


def test_what_a_decision_names_is_in_the_file_it_names() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    text = "\n".join(page.read_text("utf-8") for page in pages)
    named = re.findall(
        r"`(\w+)`(?:,?\s\w+){0,5}\s(?:in|out\s+of)\s+`([\w./]+\.py)`", text
    )
    sources = {
        f"/{path.relative_to(ROOT)}": path.read_text("utf-8")
        for folder in ("shared", "benchmarks", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    missing = [
        (name, place)
        for name, place in named
        if not any(
            f.endswith("/" + place) and re.search(rf"\b{name}\b", t)
            for f, t in sources.items()
        )
    ]
    assert len(named) > 100
    assert missing == []
    files = set(re.findall(r"`([\w./]+\.py)`", text))
    assert [
        f for f in files if not any(s.endswith(f"/{f}") for s in sources)
    ] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_a_document_names_exists(document: Path) -> None:
    targets = set(
        re.findall(
            r"^([a-z-]+):",
            (ROOT / "Makefile").read_text("utf-8"),
            re.MULTILINE,
        )
    )
    named = set(re.findall(r"`make ([a-z-]+)", document.read_text("utf-8")))
    assert {"demo", "test"} < targets
    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_into_a_page_meets_a_heading(document: Path) -> None:
    text = document.read_text("utf-8")
    for path, anchor in re.findall(r"\]\((?!http)([\w./-]*)#([\w-]+)\)", text):
        target = document.parent / path if path else document
        headings = re.findall(
            r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE
        )
        assert anchor in {as_anchor(heading) for heading in headings}, (
            path,
            anchor,
        )


def as_anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


def test_the_readme_fits_its_budget_and_names_the_two_commands() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 130
    assert {"make demo", "make test"} <= {
        " ".join(x.split()[:2]) for x in lines
    }


def test_the_settings_page_names_every_variable_that_is_read() -> None:
    read = set(re.findall(r'"(VARVE_[A-Z_]+|OPENAI_[A-Z_]+)"', SETTINGS))
    settings = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert read == set(
        re.findall(r"`(VARVE_[A-Z_]+|OPENAI_[A-Z_]+)`", settings)
    )


def test_the_index_links_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    notebook = (ROOT / "docs" / "benchmarks" / "index.md").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    tables = {
        path.name for path in (ROOT / "docs" / "benchmarks").glob("*.md")
    }
    decisions = (ROOT / "docs" / "decisions.md").read_text("utf-8")
    subjects = {
        path.name for path in (ROOT / "docs" / "decisions").glob("*.md")
    }
    assert pages == set(re.findall(r"\]\(([\w-]+\.md)", index))
    assert tables - {"index.md"} == set(
        re.findall(r"\]\(([\w-]+\.md)", notebook)
    )
    assert subjects == set(
        re.findall(r"\]\(decisions/([\w-]+\.md)", decisions)
    )


def test_the_decisions_stay_short() -> None:
    pages = [
        ROOT / "docs" / "decisions.md",
        *(ROOT / "docs" / "decisions").glob("*.md"),
    ]
    sizes = {page.name: page.stat().st_size for page in pages}
    assert max(sizes.values()) <= 10_000
    assert sum(sizes.values()) <= 66_000


def test_every_verb_of_the_contract_is_a_command() -> None:
    contract = (
        "demo ingest search show context summarize cleanup status graph profile config forget export import "
        "reembed dlq episode recall lessons answers eval mcp look remember correct agents sql publish costs "
        "share tool-schema completion doctor report note review"
    )
    assert set(contract.split()) == set(commands())


@pytest.mark.parametrize("document", ["security.md", "reliability.md"])
def test_every_test_that_a_table_of_controls_names_exists(
    document: str,
) -> None:
    named = set(
        re.findall(
            r"`(test_\w+)`", (ROOT / "docs" / document).read_text("utf-8")
        )
    )
    written = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(
            r"^ *def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE
        )
    }
    assert len(named) > 15
    assert named - written == set()


@pytest.mark.parametrize(
    "heading", ["How a message travels", "How a question is answered"]
)
def test_a_walk_through_the_code_has_at_most_twelve_steps_each_in_a_file(
    heading: str,
) -> None:
    page = (ROOT / "docs/internals.md").read_text("utf-8")
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    files = re.findall(r"^\d+\. `([\w/]+\.py)`", section, re.MULTILINE)
    assert 10 <= len(files) <= 12
    assert len(set(files)) == len(files)
    for file in files:
        assert (ROOT / file).is_file() or (
            ROOT / "shared/varve" / file
        ).is_file(), file
