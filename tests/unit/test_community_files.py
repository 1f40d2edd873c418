"""The contribution guide and the workflow name commands that exist; actions are pinned."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def list_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_every_make_target_in_guide_and_workflow_exists() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"\bmake ([a-z-]+)", guide + WORKFLOW))
    assert named
    assert named <= list_targets()


def test_every_target_is_phony_and_has_a_help_text() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    described = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
    assert set(phony.split()) == described == list_targets()


def test_every_action_is_pinned_by_commit_and_named_by_version() -> None:
    used = re.findall(r"uses: (.+)", WORKFLOW)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action), (
            action
        )


def test_every_push_runs_what_any_machine_runs() -> None:
    assert "run: .ci/run" in WORKFLOW
    assert "make check" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_folder_in_the_guides_layout_exists() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    folders = re.findall(r"^  (\w+)/ ", guide, re.MULTILINE)
    assert len(folders) > 5
    library = ROOT / "shared" / "varve"
    assert [name for name in folders if not (library / name).is_dir()] == []
