"""How much each signal tells whether a statement answers, and whether a later one supersedes.

`benchmarks/updates_fit_asked.py` fitted the weights, and documents how.
`domain/statements/questions/asked.py` measures the signals.
"""

from collections.abc import Mapping
from types import MappingProxyType

MANY_OF_ROWS = (
    "share", "first", "among first", "near", "less near", "likeness", "unrelated", "foreign",
    "covers", "lacks all", "assistant", "telling", "changing", "present", "question", "name",
    "number", "date", "short", "length",
)  # fmt: skip
"""Signals of rows that weigh more or less where somebody tells many values."""
MANY_OF_PAIRS = (
    "bias", "words", "change", "changing", "telling", "apart", "apart before", "apart after",
    "name", "nothing own", "continues", "correcting", "numbers alike", "other numbers",
    "closest", "less close", "alone", "share lost",
)  # fmt: skip
"""Signals of pairs that do."""

ROW_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -2.79, "share": 3.10, "assistant": -2.62, "first": 0.68,
        "among first": 0.39, "near": 0.08, "fact": -0.34, "telling": 1.09,
        "changing": 0.19, "likeness": 0.42, "unrelated": 0.95, "own": 0.22,
        "asks": -0.08, "question": -0.07, "name": 0.94, "number": -0.26,
        "date": -0.46, "persons": -0.19, "present": 0.96, "others": -0.42,
        "asks help": -0.27, "crowd": 0.02, "crowd share": 0.84,
        "crowd near": 0.91, "crowd likeness": 0.49, "crowd telling": -0.24,
        "crowd unrelated": -0.37, "past": -7.57, "past share": 0.96,
        "past changing": -0.92, "past unrelated": -0.85, "many": 0.75,
        "covers": -1.04, "lacks": 1.32, "lacks all": 1.08,
        "past lacks": -0.45, "foreign": 3.06, "short": -2.91,
        "short covers": 2.00, "short foreign": -1.01, "no time": -1.17,
        "no number": -0.85, "less near": -3.06, "closed": 1.02,
        "closed ending": 1.73, "length": 3.63, "many share": 0.29,
        "many first": 1.23, "many among first": 0.49, "many near": 1.90,
        "many less near": -2.78, "many likeness": 0.62,
        "many unrelated": 0.65, "many foreign": 1.04, "many covers": 0.61,
        "many lacks all": -0.70, "many assistant": -2.04,
        "many telling": -0.60, "many changing": -0.15, "many present": -1.05,
        "many question": -1.03, "many name": 0.84, "many number": -0.49,
        "many date": -0.45, "many short": 1.62, "many length": -1.09,
    }
)  # fmt: skip
PAIR_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bias": -2.05, "odds": 0.44, "cosine": 0.69, "words": 0.59,
        "change": 0.50, "changing": 0.47, "telling": 0.10, "changed": -0.07,
        "name": -1.12, "names": 0.89, "numbers": -0.22, "same talk": 2.72,
        "continues": -2.63, "never": -0.40, "event": -0.25,
        "nothing own": -0.69, "crowd": -0.67, "crowd cosine": 0.26,
        "crowd words": 0.69, "crowd changing": -0.18, "past": -6.39,
        "apart": -0.70, "apart before": 1.94, "apart after": -0.85,
        "apart change": -0.17, "shared words": 1.24, "of two matters": -0.27,
        "correcting": -1.43, "short apart": -0.83, "short change": 1.63,
        "short explained": -1.06, "closest": 0.63, "less close": -3.75,
        "alone": 0.92, "closed": 1.10, "share lost": 1.69, "words lost": 0.19,
        "numbers alike": 1.14, "other numbers": 1.48, "many bias": 0.10,
        "many words": -0.61, "many change": -0.20, "many changing": -0.07,
        "many telling": -0.10, "many apart": 0.51, "many apart before": -0.90,
        "many apart after": 0.43, "many name": -0.55,
        "many nothing own": -0.59, "many continues": 1.68,
        "many correcting": 0.45, "many numbers alike": 0.48,
        "many other numbers": -0.55, "many closest": 0.69,
        "many less close": -1.99, "many alone": 0.91, "many share lost": 0.81,
    }
)  # fmt: skip
PLACE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": 0.5, "share": 4.0, "assistant": -2.5}
)
"""The weights by which what was found first is right: for questions about another person or thing,
or an event, and in part in a memory of nothing but statements (`Asking.by_place`).

The cases tell the speaker's own states, so these are set by hand.
"""
ANSWER_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"bias": -0.82, "near": 1.95, "unrelated": -1.86, "margin": 0.66}
)
