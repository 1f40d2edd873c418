"""How much each signal tells whether a statement answers, and whether a later one supersedes.

`benchmarks/updates_fit_asked.py` fitted `ROW_WEIGHTS` and `PAIR_WEIGHTS`, and documents how.
`domain/statements/asked.py` measures the signals. "crowd cosine" alone is set by hand (fitted
1.31): no case has as many statements as the project's corpus, where all of one person's were
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
        "bias": -1.80, "share": 1.21, "first": 0.45,
        "among first": 0.54, "near": 0.64, "fact": 0.12,
        "assistant": -2.61, "telling": 1.33, "changing": 0.74,
        "likeness": 0.47, "unrelated": -0.97, "own": 0.05,
        "asks": -0.76, "question": 1.27, "name": 2.17,
        "number": -0.17, "date": -0.29, "persons": 0.33,
        "present": 1.40, "others": -0.86, "asks help": -0.36,
        "crowd": -0.47, "crowd share": 0.79, "crowd near": 1.55,
        "crowd likeness": 0.19, "crowd telling": -0.16,
        "crowd unrelated": -0.02, "past": -3.21,
        "past share": 1.24, "past changing": -0.72,
        "past unrelated": -0.47, "many": 0.57, "many share": 0.31,
        "many first": 1.29, "many near": 2.12,
        "many likeness": 0.85, "many unrelated": 1.02,
        "many telling": -0.99, "many changing": -0.51,
        "many present": -1.21, "many name": -1.32,
    }
)  # fmt: skip
PAIR_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -1.10, "odds": 0.38, "cosine": 0.68, "words": 1.07,
        "change": 0.00, "changing": 0.37, "telling": 0.14,
        "changed": -0.05, "name": -0.94, "names": 0.27,
        "numbers": 0.12, "same talk": 1.32, "continues": -0.89,
        "never": -1.13, "event": -0.62, "nothing own": -1.60,
        "crowd": -0.69, "crowd cosine": 0.80, "crowd words": 0.58,
        "crowd changing": -0.11, "past": -4.29, "apart": -0.84,
        "apart before": -0.57, "apart after": 1.16,
        "apart change": -0.50, "many bias": -0.37,
        "many cosine": 0.74, "many words": 0.59,
        "many change": -0.33, "many changing": -0.15,
        "many apart": -0.36, "many telling": -0.13,
    }
)  # fmt: skip
THIRD_PERSON_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": 0.5, "share": 4.0, "assistant": -2.5}
)
"""The weights for questions about another person or thing: what was found first is right.

The cases tell the speaker's own matters, so these are set by hand.
"""
ANSWER_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": -0.93, "near": 2.02, "unrelated": -1.61, "margin": 0.51}
)
