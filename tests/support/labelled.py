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
_CAPITALS = string.ascii_uppercase + "23456789"
_LETTERS = {
    "a": _ALPHANUMERIC,
    "c": _CAPITALS,
    "h": "0123456789abcdef",
    "l": string.ascii_lowercase + string.digits,
    "d": "123456789",
    "u": _ALPHANUMERIC + "_-",
}
# Put together here, so that no scanner takes this file for one with secrets. A pair is a
# number of characters and their sort.
_SHAPES: dict[str, tuple[str | tuple[int, str], ...]] = {
    "databricks": ("da" "pi", (32, "h")),
    "supabase": ("sb" "p_", (40, "h")),
    "supabase-secret": ("sb_" "secret_", (22, "u"), "_", (8, "u")),
    "notion": ("nt" "n_", (46, "a")),
    "notion-old": ("sec" "ret_", (43, "a")),
    "atlassian": ("ATA" "TT3xFfGF0", (170, "u"), "=", (8, "h")),
    "figma": ("fi" "gd_", (40, "u")),
    "postman": ("PM" "AK-", (24, "h"), "-", (34, "h")),
    "newrelic": ("NR" "AK-", (27, "c")),
    "newrelic-license": ((36, "h"), "NR" "AL"),
    "sentry": ("sn" "trys_eyJ", (120, "a"), "=_", (43, "a")),
    "sentry-user": ("sn" "tryu_", (64, "h")),
    "grafana": ("gl" "sa_", (32, "a"), "_", (8, "h")),
    "grafana-cloud": ("gl" "c_eyJ", (110, "a"), "="),
    "vault": ("hv" "s.", (92, "u")),
    "vault-batch": ("hv" "b.", (150, "u")),
    "doppler": ("dp." "pt.", (43, "a")),
    "doppler-service": ("dp." "st.prd.", (43, "a")),
    "onepassword": ("op" "s_eyJ", (260, "a")),
    "planetscale": ("psc" "ale_tkn_", (43, "u")),
    "planetscale-password": ("psc" "ale_pw_", (43, "u")),
    "heroku": ("HR" "KU-AA", (58, "u")),
    "heroku-uuid": ((8, "h"), "-", (4, "h"), "-", (4, "h"), "-", (4, "h"), "-", (12, "h")),
    "xai": ("xa" "i-", (80, "a")),
    "airtable": ("pa" "t", (14, "a"), ".", (64, "h")),
    "docker": ("dck" "r_pat_", (27, "u")),
    "docker-org": ("dck" "r_oat_", (32, "u")),
    "terraform": ((14, "a"), ".atl" "asv1.", (67, "u")),
    "shopify-shared": ("shp" "ss_", (32, "h")),
    "shopify-custom": ("shp" "ca_", (32, "h")),
    "shopify-partner": ("shp" "pa_", (32, "h")),
    "mailgun": ("ke" "y-", (32, "h")),
    "brevo": ("xk" "eysib-", (64, "h"), "-", (16, "a")),
    "mailchimp": ((32, "h"), "-us", (1, "d"), (1, "d")),
    "contentful": ("CF" "PAT-", (43, "u")),
    "fly": ("fo" "1_", (43, "u")),
    "netlify": ("nf" "p_", (36, "a")),
    "pulumi": ("pu" "l-", (40, "h")),
    "prefect": ("pn" "u_", (36, "a")),
    "rubygems": ("rub" "ygems_", (48, "h")),
    "tailscale": ("tsk" "ey-auth-", (12, "a"), "-", (32, "a")),
    "typeform": ("tf" "p_", (44, "u"), "_", (14, "u")),
    "sonar": ("sq" "p_", (40, "h")),
    "resend": ("r" "e_", (8, "a"), "_", (24, "a")),
    "posthog": ("ph" "x_", (43, "a")),
    "langsmith": ("lsv2" "_pt_", (32, "h"), "_", (10, "h")),
    "pinecone": ("pc" "sk_", (6, "a"), "_", (63, "a")),
    "tavily": ("tv" "ly-", (32, "a")),
    "elevenlabs": ("s" "k_", (48, "h")),
    "firecrawl": ("f" "c-", (32, "h")),
    "neon": ("na" "pi_", (64, "l")),
    "hubspot": ("pat-" "na1-", (8, "h"), "-", (4, "h"), "-", (4, "h"), "-", (4, "h"), "-", (12, "h")),
    "dynatrace": ("dt0" "c01.", (24, "c"), ".", (64, "c")),
    "azure-client": ((3, "a"), "8Q" "~", (34, "u")),
    "bedrock": ("AB" "SKQmVkcm9ja0FQSUtleS", (100, "a")),
    "alibaba": ("LT" "AI5t", (20, "a")),
    "dropbox": ("s" "l.", (138, "u")),
    "digitalocean-oauth": ("do" "o_v1_", (64, "h")),
    "mapbox": ("s" "k.eyJ1", (60, "a"), ".", (22, "u")),
    "launchdarkly": ("sd" "k-", (8, "h"), "-", (4, "h"), "-", (4, "h"), "-", (4, "h"), "-", (12, "h")),
    "duffel": ("duf" "fel_live_", (43, "u")),
    "adobe": ("p8" "e-", (32, "a")),
    "readme": ("rd" "me_", (70, "l")),
    "easypost": ("EZ" "AK", (54, "a")),
    "clojars": ("CLO" "JARS_", (60, "l")),
    "shippo": ("ship" "po_live_", (40, "h")),
    "github-server": ("gh" "s_", (36, "a")),
    "gitlab-runner": ("gl" "rt-", (20, "u")),
    "slack-refresh": ("xo" "xe-1-", (146, "a")),
    "google-oauth": ("GOC" "SPX-", (28, "u")),
    "square": ("sq0" "atp-", (22, "u")),
}  # fmt: skip


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
    paths = [FOLDER / f"{name}.txt" for name in names] or sorted(
        FOLDER.glob("*.txt")
    )
    return [
        _read(line)
        for path in paths
        for line in path.read_text("utf-8").splitlines()
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
        found = {
            (f.kind, f.start, f.end) for f in drop_overlaps(find(text.text))
        }
        missed = [p for p in text.passages if not _covered(p, found)]
        wrong = [f for f in found if not _overlaps(f, text.passages)]
        lines += [
            f"missed {k} {text.text[s:e]!r} in {text.text!r}"
            for k, s, e in missed
        ]
        lines += [
            f"not {k}: {text.text[s:e]!r} in {text.text!r}"
            for k, s, e in wrong
        ]
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
        passages.append(
            (Kind(match["kind"]), len(text), len(text) + len(value))
        )
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
        "short": lambda: (
            some(2, string.ascii_lowercase) + some(2, "23456789") + "!"
        ),
        "basic": lambda: _basic("dana", some(14)),
        "discord-hook": lambda: (
            "https://discord"
            + ".com/api/webhooks/"
            + some(18, "123456789")
            + "/"
            + some(68)
        ),
        "onepassword-key": lambda: (
            "A3-"
            + "-".join(some(size, _CAPITALS) for size in (6, 6, 5, 5, 5, 5))
        ),
        "discord": lambda: "M" + some(25) + "." + some(6) + "." + some(38),
    }
    if name in _SHAPES:
        return "".join(
            part if isinstance(part, str) else some(part[0], _LETTERS[part[1]])
            for part in _SHAPES[name]
        )
    return made[name]()


def _basic(name: str, password: str) -> str:
    return base64.b64encode(f"{name}:{password}".encode()).decode()


def _jwt(signature: str) -> str:
    parts = (
        {"alg": "HS256", "typ": "JWT"},
        {"sub": "u-42", "iat": 1772442900},
    )
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode())
        .decode()
        .rstrip("=")
        for part in parts
    ]
    return ".".join([*encoded, signature])


def _pem(label: str, some: Callable[[int], str]) -> str:
    lines = "\n".join(some(64) for _ in range(6))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"
