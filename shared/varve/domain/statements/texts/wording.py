"""How surely a text's wording tells the speaker's own present, and a change of it.

A linear model over the cues, words and phrases of up to three words of a text. Its weights
are in `wording.tsv`, which `benchmarks/updates_fit_wording.py` writes.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from varve.domain.language.phrases import fold_apostrophes
from varve.domain.statements.texts.cues import Cues, read_cues

MAX_CACHED_TEXTS = 8_192
MAX_CHARACTERS = 2_000
"""A text is judged by its first characters."""
MAX_WORDS = 3
CUE_VALUE = 0.7
PHRASE_VALUE = 2.0
"""A cue counts this much, and all phrases of a text together have this length."""
BIAS = "[bias]"
TABLE = "wording.tsv"
_TOKEN = re.compile(r"\w+|[!?¿.,:;…]")
_NUMBER = "0"
_BEGINNING = "<"
_END = ">"


@dataclass(frozen=True, slots=True)
class Wording:
    """Two logits: the text tells the speaker's own present; what it tells is a change."""

    telling: float
    changing: float


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def read_wording(text: str) -> Wording:
    """Return how a text tells what it tells; 0 is even odds."""
    table = _read_table()
    telling = 0.0
    changing = 0.0
    for name, value in measure_wording(text).items():
        weights = table.get(name)
        if weights is not None:
            telling += weights.telling * value
            changing += weights.changing * value
    return Wording(telling, changing)


def measure_wording(text: str) -> dict[str, float]:
    """Return the signals of a text by name: its cues in brackets, and its phrases."""
    signals = {BIAS: 1.0}
    for name, value in _measure_cues(read_cues(text)):
        signals[f"[{name}]"] = CUE_VALUE * value
    phrases = frozenset(split_phrases(text[:MAX_CHARACTERS]))
    value = PHRASE_VALUE / math.sqrt(len(phrases))
    return signals | dict.fromkeys(phrases, value)


def _measure_cues(cues: Cues) -> Iterator[tuple[str, float]]:
    for name in cues.found:
        yield name, 1.0
    for name in cues.firm:
        yield f"firm {name}", 1.0
    for name in cues.topics:
        yield f"topic {name}", 1.0
    yield "persons", min(2, len(cues.persons))
    yield "present", min(4, cues.present)
    yield "asks", float(cues.asks)
    yield "question", float(cues.particulars.asks)
    yield "other", float(cues.begins_with_other)
    yield "name", float(cues.tells_name)
    yield "number", float(bool(cues.particulars.numbers))
    yield "date", float(bool(cues.particulars.dates))
    yield "denials", cues.particulars.denials


def split_phrases(text: str) -> Iterator[str]:
    """Yield the words and phrases of a folded text; each number is "0"."""
    tokens = [_BEGINNING]
    for token in _TOKEN.findall(fold_apostrophes(text)):
        has_digit = any(character.isdigit() for character in token)
        tokens.append(_NUMBER if has_digit else token)
    tokens.append(_END)
    for length in range(1, MAX_WORDS + 1):
        for start in range(len(tokens) - length + 1):
            yield " ".join(tokens[start : start + length])


@cache
def _read_table() -> dict[str, Wording]:
    """Return the weights of each signal."""
    path = files("varve.domain.statements.texts") / TABLE
    found: dict[str, Wording] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, telling, changing = line.split("\t")
        found[name] = Wording(float(telling), float(changing))
    return found
