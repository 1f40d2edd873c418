"""Generated files are what their sources give."""

import re

import pytest

from docs import flow, reference
from tests.docs.blocks import ROOT
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.operate.configure import values


def test_the_picture_of_the_flow_is_what_its_source_gives() -> None:
    drawn = flow.draw(flow.SOURCE.read_text("utf-8"))
    assert flow.PICTURE.read_text("utf-8") == drawn


def test_the_picture_has_colours_for_dark_pages() -> None:
    assert "prefers-color-scheme: dark" in flow.PICTURE.read_text("utf-8")


@pytest.mark.parametrize("page", reference.PAGES)
def test_a_reference_page_is_what_the_code_gives(page: str) -> None:
    stored = (ROOT / "docs" / page).read_text("utf-8")
    generated = reference.PAGES[page]()
    assert stored == reference.with_generated(stored, generated), (
        "stale: run `python -m docs.reference`"
    )


def test_every_configuration_key_is_described_and_no_other() -> None:
    assert {key for key, _, _ in reference.configuration_keys()} == set(
        reference.KEYS
    )


def test_every_setting_that_the_command_lists_is_described() -> None:
    described = set(reference.KEYS)
    listed = set(values(WorkspaceConfig()))
    assert {key for key in listed if not is_described(key, described)} == set()


def is_described(key: str, described: set[str]) -> bool:
    """Tell whether the key, or the part of the configuration above it, is described."""
    names = key.split(".")
    prefixes = {".".join(names[:count]) for count in range(1, len(names) + 1)}
    below = re.compile(re.escape(key) + r"\.")
    return bool(prefixes & described) or any(
        below.match(one) for one in described
    )


def test_every_variable_that_is_read_is_described_and_no_other() -> None:
    source = (ROOT / "shared/varve/wiring/settings.py").read_text("utf-8")
    read = set(re.findall(r'"((?:VARVE|OPENAI|OPENROUTER)_[A-Z_]+)"', source))
    described = {name for name, _, _ in reference.environment_variables()}
    assert read == described
