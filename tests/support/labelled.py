"""The labelled texts of tests/privacy: what is in them, and how well a detector finds it.

A line is a text; `⟦kind|value⟧` marks a passage, `\\n` a line's end. A value such as `@github` is a secret
that is put together here, so that no file holds anything that looks like one.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from varve.domain.personal import Detection, Kind, drop_overlaps

FOLDER = Path(__file__).parents[1] / "privacy"
_MARKED = re.compile(r"⟦(?P<kind>[a-z-]+)\|(?P<value>[^⟧]+)⟧")
_ALPHANUMERIC = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Labelled:
    """A text, and the passages in it: kind, start, end."""

    text: str
    passages: tuple[tuple[Kind, int, int], ...]


@dataclass
class Score:
    """Of the passages of one kind: how many there are, were found, and were reported without being there."""

    passages: int = 0
    found: int = 0
    wrong: int = 0

    @property
    def recall(self) -> float:
        return self.found / self.passages

    @property
    def precision(self) -> float:
        return self.found / (self.found + self.wrong)


def labelled(*names: str) -> list[Labelled]:
    """The texts of these files, or of all; the same ones every time."""
    paths = [FOLDER / f"{name}.txt" for name in names] or sorted(FOLDER.glob("*.txt"))
    return [
        _read(line) for path in paths for line in path.read_text("utf-8").splitlines()
    ]


def scores(
    texts: Iterable[Labelled], find: Callable[[str], Iterable[Detection]]
) -> dict[Kind, Score]:
    """For each kind; a passage is found when findings of its kind cover all of it."""
    by_kind = {kind: Score() for kind in Kind}
    for text in texts:
        for kind, passages, found, wrong in _counted(
            text, drop_overlaps(find(text.text))
        ):
            score = by_kind[kind]
            score.passages, score.found, score.wrong = (
                score.passages + passages, score.found + found, score.wrong + wrong,
            )  # fmt: skip
    return by_kind


def mistakes(
    texts: Iterable[Labelled], find: Callable[[str], Iterable[Detection]]
) -> list[str]:
    """What was missed and what was found wrongly, a line each."""
    lines = []
    for text in texts:
        found = {(f.kind, f.start, f.end) for f in drop_overlaps(find(text.text))}
        missed = [p for p in text.passages if not _covered(p, found)]
        wrong = [f for f in found if not _overlaps(f, text.passages)]
        lines += [
            f"missed {k} {text.text[s:e]!r} in {text.text!r}" for k, s, e in missed
        ]
        lines += [f"not {k}: {text.text[s:e]!r} in {text.text!r}" for k, s, e in wrong]
    return lines


def _counted(
    text: Labelled, findings: list[Detection]
) -> Iterator[tuple[Kind, int, int, int]]:
    found = {(f.kind, f.start, f.end) for f in findings}
    passages = Counter(kind for kind, _, _ in text.passages)
    covered = Counter(p[0] for p in text.passages if _covered(p, found))
    wrong = Counter(f[0] for f in found if not _overlaps(f, text.passages))
    for kind in Kind:
        yield kind, passages[kind], covered[kind], wrong[kind]


def _covered(
    passage: tuple[Kind, int, int], found: Iterable[tuple[Kind, int, int]]
) -> bool:
    kind, start, end = passage
    return any(k is kind and s <= start and end <= e for k, s, e in found)


def _overlaps(
    finding: tuple[Kind, int, int], passages: Iterable[tuple[Kind, int, int]]
) -> bool:
    kind, start, end = finding
    return any(k is kind and start < e and s < end for k, s, e in passages)


def _read(line: str) -> Labelled:
    text, at = "", 0
    passages: list[tuple[Kind, int, int]] = []
    line = line.replace("\\n", "\n")
    for match in _MARKED.finditer(line):
        text += line[at : match.start()]
        value = match["value"]
        value = secret(value[1:], line) if value.startswith("@") else value
        passages.append((Kind(match["kind"]), len(text), len(text) + len(value)))
        text += value
        at = match.end()
    return Labelled(text + line[at:], tuple(passages))


def secret(name: str, seed: str = "") -> str:
    """A secret of the provider's form and of nobody's account; the same one for the same seed."""
    rng = random.Random(f"{name} {seed}")

    def some(count: int, letters: str = _ALPHANUMERIC) -> str:
        # With digits in it for certain, as all but one in a million have.
        drawn = [rng.choice(letters) for _ in range(count)]
        drawn[1::7] = [rng.choice("23456789") for _ in drawn[1::7]]
        return "".join(drawn)

    hexadecimal = "0123456789abcdef"
    made: dict[str, Callable[[], str]] = {
        "openai": lambda: "sk-" + some(20) + "T3Blbk" + "FJ" + some(20),
        "openai-project": lambda: "sk-" + "proj-" + some(60) + "_" + some(40),
        "anthropic": lambda: "sk-" + "ant-api03-" + some(80) + "-" + some(10),
        "openrouter": lambda: "sk-" + "or-v1-" + some(64, hexadecimal),
        "aws-id": lambda: "AK" + "IA" + some(16, "ABCDEFGHIJKLMNOP234567"),
        "aws-secret": lambda: some(40),
        "github": lambda: "gh" + "p_" + some(36),
        "github-fine": lambda: "github" + "_pat_" + some(22) + "_" + some(59),
        "gitlab": lambda: "gl" + "pat-" + some(20),
        "slack": lambda: (
            "xo"
            + "xb-"
            + some(12, "123456789")
            + "-"
            + some(12, "123456789")
            + "-"
            + some(24).lower()
        ),
        "slack-hook": lambda: (
            "https://hooks.slack"
            + ".com/services/T"
            + some(8)
            + "/B"
            + some(8)
            + "/"
            + some(24)
        ),
        "stripe": lambda: "sk" + "_live_" + some(24),
        "stripe-test": lambda: "sk" + "_test_" + some(24),
        "sendgrid": lambda: "S" + "G." + some(22) + "." + some(43),
        "jwt": lambda: _jwt(some(43)),
        "google": lambda: "AI" + "za" + some(35),
        "huggingface": lambda: "h" + "f_" + some(34),
        "npm": lambda: "np" + "m_" + some(36),
        "pypi": lambda: "py" + "pi-AgEIcHlwaS5vcmc" + some(90),
        "telegram": lambda: some(9, "123456789") + ":" + some(35),
        "azure": lambda: some(86) + "==",
        "digitalocean": lambda: "dop" + "_v1_" + some(64, hexadecimal),
        "pem": lambda: _pem("RSA PRIVATE" + " KEY", some),
        "openssh": lambda: _pem("OPENSSH PRIVATE" + " KEY", some),
        "word": lambda: (
            rng.choice(["tulip", "Harbour", "Zanahoria"])
            + "-"
            + some(5)
            + rng.choice("!#*+")
        ),
        "random32": lambda: some(32, hexadecimal),
        "random40": lambda: some(40),
    }
    return made[name]()


def _jwt(signature: str) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": "u-42", "iat": 1772442900})
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in parts
    ]
    return ".".join([*encoded, signature])


def _pem(label: str, some: Callable[[int], str]) -> str:
    lines = "\n".join(some(64) for _ in range(6))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"
