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
        "bias": -2.42, "share": 1.93, "first": 0.76, "among first": 0.53,
        "near": 0.30, "fact": -0.39, "assistant": -2.84, "telling": 1.00,
        "changing": 0.26, "likeness": 0.35, "unrelated": 0.50, "own": 0.33,
        "asks": -0.10, "question": -0.10, "name": 0.90, "number": -0.20,
        "date": -0.11, "persons": -0.49, "present": 1.21, "others": -0.24,
        "asks help": -0.21, "crowd": 0.10, "crowd share": 1.23,
        "crowd near": 0.41, "crowd likeness": 0.22, "crowd telling": -0.12,
        "crowd unrelated": -0.47, "past": -2.53, "past share": 0.75,
        "past changing": -1.12, "past unrelated": 0.29, "many": 1.84,
        "covers": -1.25, "lacks": 0.58, "lacks all": 0.97,
        "past lacks": -0.36, "foreign": 2.06, "short": -2.70,
        "short covers": 1.54, "short foreign": -1.33, "no time": -1.22,
        "no number": -1.18, "less near": -3.14, "closed": 1.07,
        "closed ending": 2.16, "length": 3.15, "many share": 1.02,
        "many first": 0.48, "many near": 1.54, "many likeness": 1.84,
        "many unrelated": 0.94, "many telling": -0.84, "many changing": -0.13,
        "many present": -1.62, "many name": -0.23,
    }
)  # fmt: skip
PAIR_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -1.65, "odds": 0.33, "cosine": 1.26, "words": 0.65,
        "change": 0.44, "changing": 0.43, "telling": 0.05, "changed": -0.05,
        "name": -1.11, "names": 0.91, "numbers": -0.19, "same talk": 2.24,
        "continues": -2.04, "never": -0.36, "event": -0.45,
        "nothing own": -0.61, "crowd": -0.42, "crowd cosine": 0.48,
        "crowd words": 0.30, "crowd changing": -0.18, "past": -5.32,
        "apart": -0.52, "apart before": 1.92, "apart after": -0.82,
        "apart change": -0.15, "shared words": 1.25, "of two matters": -0.41,
        "correcting": -1.08, "short apart": -1.10, "short change": 1.43,
        "short explained": -0.98, "closest": 0.52, "less close": -3.34,
        "alone": 0.89, "closed": 1.16, "share lost": 1.56, "words lost": 0.58,
        "numbers alike": 1.05, "other numbers": 1.48, "many bias": -0.74,
        "many cosine": 0.29, "many words": -0.31, "many change": -0.26,
        "many changing": -0.01, "many apart": 3.29, "many telling": 0.03,
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
    {"bias": -0.82, "near": 1.95, "unrelated": -1.86, "margin": 0.66}
)
