"""How much each signal tells whether a statement answers, and whether a later one supersedes.

`benchmarks/updates_fit_asked.py` fitted `ROW_WEIGHTS` and `PAIR_WEIGHTS`, and documents how.
`domain/statements/asked.py` measures the signals. "crowd cosine" alone is set by hand (fitted
1.20): no case has as many statements as the project's corpus, where all of one person's were
near enough to supersede each other.
"""

from collections.abc import Mapping
from types import MappingProxyType

MANY_OF_ROWS = (
    "share", "first", "near", "likeness", "unrelated", "telling",
    "changing", "present", "name",
)  # fmt: skip
"""Signals of rows that weigh more or less where somebody tells many things."""
MANY_OF_PAIRS = (
    "bias", "cosine", "words", "change", "changing", "apart", "telling",
)  # fmt: skip
"""Signals of pairs that do."""

ROW_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -1.79, "share": 0.73, "first": 0.50,
        "among first": 0.75, "near": 0.72, "fact": -0.01,
        "assistant": -3.13, "telling": 1.52, "changing": 0.73,
        "likeness": -0.54, "unrelated": -0.51, "own": 0.13,
        "asks": -0.06, "question": 0.76, "name": 2.10, "number": -0.76,
        "date": 0.12, "persons": -0.14, "present": 0.99,
        "others": -0.72, "asks help": 0.28, "crowd": -0.64,
        "crowd share": 0.72, "crowd near": 1.40, "crowd likeness": 0.92,
        "crowd telling": -0.35, "crowd unrelated": 0.31, "past": -4.58,
        "past share": 2.53, "past changing": -0.73,
        "past unrelated": -1.97, "many": 1.19, "many share": 1.08,
        "many first": 2.36, "many near": 2.62, "many likeness": 1.34,
        "many unrelated": 2.42, "many telling": -1.11,
        "many changing": -0.39, "many present": -1.39,
        "many name": -1.27,
    }
)  # fmt: skip
PAIR_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -1.56, "odds": 0.33, "cosine": 0.42, "words": -0.01,
        "change": 0.61, "changing": 0.48, "telling": 0.32,
        "changed": 0.03, "name": -0.70, "names": -0.40, "numbers": 0.20,
        "same talk": 1.18, "continues": -1.66, "never": -1.54,
        "event": 0.26, "nothing own": -1.53, "crowd": -1.38,
        "crowd cosine": 0.80, "crowd words": 1.05,
        "crowd changing": -0.11, "past": -4.81, "apart": -0.47,
        "apart before": -0.09, "apart after": 2.47,
        "apart change": -0.67, "many bias": -0.20, "many cosine": 1.35,
        "many words": 0.57, "many change": -0.24,
        "many changing": -0.50, "many apart": 1.05,
        "many telling": -0.29,
    }
)  # fmt: skip
THIRD_PERSON_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": 0.5, "share": 4.0, "assistant": -2.5}
)
"""The weights for questions about another person or thing: what was found first is right.

The cases tell the speaker's own matters, so these are set by hand.
"""
ANSWER_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": -0.78, "near": 1.81, "unrelated": -1.83, "margin": 0.49}
)
