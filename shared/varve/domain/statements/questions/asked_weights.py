"""How much each signal tells whether a statement answers, and whether a later one supersedes.

`benchmarks/updates_fit_asked.py` fitted the weights, and documents how.
`domain/statements/questions/asked.py` measures the signals.
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
        "bias": -2.63, "share": 1.45, "first": 0.47, "among first": 0.62,
        "near": -0.62, "fact": 0.03, "assistant": -2.35, "telling": 1.20,
        "changing": 0.50, "likeness": -0.21, "unrelated": -0.81,
        "own": 1.01, "asks": -0.94, "question": 1.35, "name": 2.59,
        "number": -0.24, "date": 0.55, "persons": 0.63, "present": 3.06,
        "others": -0.43, "asks help": -0.21, "crowd": -0.71,
        "crowd share": 1.14, "crowd near": 1.63, "crowd likeness": 0.46,
        "crowd telling": -0.25, "crowd unrelated": 0.38, "past": -2.82,
        "past share": 1.85, "past changing": -1.12,
        "past unrelated": 0.23, "many": 1.40, "many share": 0.36,
        "many first": 1.08, "many near": 1.22, "many likeness": 1.21,
        "many unrelated": 2.03, "many telling": -0.88,
        "many changing": -0.15, "many present": -2.16, "many name": -1.55,
    }
)  # fmt: skip
PAIR_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -1.55, "odds": 0.20, "cosine": 1.08, "words": 1.65,
        "change": 0.37, "changing": 0.56, "telling": 0.27,
        "changed": -0.01, "name": -1.31, "names": 1.02, "numbers": 0.48,
        "same talk": 1.79, "continues": -2.65, "never": -0.51,
        "event": 0.05, "nothing own": -0.90, "crowd": -0.66,
        "crowd cosine": 1.11, "crowd words": 0.40,
        "crowd changing": -0.22, "past": -6.12, "apart": -1.30,
        "apart before": 0.66, "apart after": -1.15, "apart change": -0.39,
        "many bias": -0.58, "many cosine": 0.78, "many words": 0.20,
        "many change": -0.31, "many changing": -0.18, "many apart": 3.72,
        "many telling": -0.22,
    }
)  # fmt: skip
PLACE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": 0.5, "share": 4.0, "assistant": -2.5}
)
"""The weights for questions about another person or thing, or an event: what was found first is
right.

The cases tell the speaker's own states, so these are set by hand.
"""
ANSWER_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": -1.20, "near": 2.41, "unrelated": -1.46, "margin": 0.74}
)
