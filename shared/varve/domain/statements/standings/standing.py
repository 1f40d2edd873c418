"""How one statement stands, and what supersedes it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Standing:
    """How a statement stands.

    `current` is False if it is superseded or has ended; `successor` is then the id of
    the record that says what holds now, if memory has one. `is_corrected`: that record
    corrects it by name. `odds` is the logit of its being superseded, less the care among
    many statements; infinite if that record corrects it or a model judged so.
    `confirmed` is when it was last said or confirmed, in microseconds since 1970.
    """

    current: bool
    confirmed: int
    successor: str | None = None
    is_corrected: bool = False
    odds: float = -np.inf


@dataclass(frozen=True, slots=True)
class Successor:
    """The row that supersedes another one, and the pair's score.

    The score is infinite if a correction or a model's verdict names the pair.
    """

    row: int
    score: float

    @property
    def is_named(self) -> bool:
        """Whether it supersedes the other one for certain, not only likely."""
        return self.score == np.inf
