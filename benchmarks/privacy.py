"""Precision and recall of the personal-data filter on the labelled texts, and what it imports.

Run: `.venv/bin/python benchmarks/privacy.py`. Prints the tables of docs/privacy.md.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from tests.support.labelled import labelled, mistakes, scores  # noqa: E402 - found by the path above
from varve.adapters.detectors.personal import PersonalDetector  # noqa: E402
from varve.adapters.detectors.secrets import SecretDetector  # noqa: E402
from varve.domain.personal import Detection  # noqa: E402

_MODULES = """
import sys
sys.path.insert(0, sys.argv[1])
from varve.adapters.detectors.personal import PersonalDetector
from varve.adapters.detectors.secrets import SecretDetector
before = len(sys.modules)
for detector in (PersonalDetector(("US", "GB", "ES")), SecretDetector()):
    detector.find(sys.argv[2])
print(len(sys.modules) - before)
"""
TEXTS = {
    "no digits, no `@`": "I moved to Lisbon last week, and Dana likes tea.",
    "a date": "The meeting is on 2026-03-02 at 09:15.",
    "an e-mail address": "Write to dana@example.org.",
    "a phone": "Call +1 202-555-0123.",
    "a key": "The key is sk-" + "a1B2c3D4e5" * 5,
}


def find(text: str) -> Sequence[Detection]:
    """What both detectors find, with the default regions."""
    return [*SECRETS.find(text), *PERSONAL.find(text)]


SECRETS, PERSONAL = SecretDetector(), PersonalDetector(("US", "GB", "ES"))


def print_scores(names: Sequence[str]) -> None:
    """Print how many passages of each kind are found in the files of these names."""
    texts = labelled(*names)
    empty = sum(not text.passages for text in texts)
    print(
        f"{', '.join(names) or 'all files'}: {len(texts)} texts, {empty} of them with nothing to find\n"
    )
    print(
        "| kind | passages | found | wrong | precision | recall |\n|---|---|---|---|---|---|"
    )
    for kind, score in scores(texts, find).items():
        if not score.passages:
            continue
        counts = f"{score.passages} | {score.found} | {score.wrong}"
        print(
            f"| {kind} | {counts} | {score.precision:.3f} | {score.recall:.3f} |"
        )
    print("\n" + "\n".join(mistakes(texts, find)))


def main() -> None:
    """Print the tables."""
    for names in ([], ["fitted"], ["apart"]):
        print_scores(names)
    print("\n| text with | modules imported for it |\n|---|---|")
    for name, text in TEXTS.items():
        command = [sys.executable, "-c", _MODULES, str(ROOT / "shared"), text]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=True
        )
        print(f"| {name} | {ran.stdout.strip()} |")


if __name__ == "__main__":
    main()
