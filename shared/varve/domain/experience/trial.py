"""A trial of memory: scenarios in rounds, an agent that decides by rule, and what its memory was worth to it.

The agent is the same whichever memory it has. It sees the situation, the names of the candidates, and what
its memory returned: texts with a score each, and how likely the memory takes the answer to be one it has
(where it does not say, the cube root of its best score: of what was tried, flat vectors do best with it).
Of a text it reads which candidate is named last in it, and which words of the situation are common.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from varve.domain.errors import Rejected
from varve.domain.experience.alike import closeness, rarity
from varve.domain.experience.recall import Embed
from varve.domain.experience.words import spoken_words
from varve.domain.validation import rejected

NAME_WEIGHT = 22.3
"""What the likeness of a situation and a candidate's name adds to the log of its odds."""
LEAST = 1e-4
"""The least that a candidate is given before names are looked at."""

Text = Annotated[str, Field(min_length=1, max_length=10_000)]


class Round(BaseModel):
    """One situation with its truth, which the agent is told after it has picked."""

    model_config = ConfigDict(frozen=True)

    type: Literal["LEARN", "RED_HERRING", "TEST", "SUBTLE", "CORRECTION"]
    situation: Text
    truth: Text
    state: str | None = None
    correction: str = ""


class Scenario(BaseModel):
    """Rounds in order, all with the same candidates. What else a file notes of either is let be."""

    model_config = ConfigDict(frozen=True)

    name: Text
    candidates: Annotated[list[Text], Field(min_length=2)]
    rounds: Annotated[list[Round], Field(min_length=1)]


def parse_scenarios(value: object) -> list[Scenario]:
    """One scenario or a list of them from decoded JSON. Raises Rejected: names the faulty field."""
    given = value if isinstance(value, list) else [value]
    try:
        scenarios = [Scenario.model_validate(one) for one in given]
    except ValidationError as error:
        raise rejected(error) from error
    if not scenarios:
        raise Rejected("scenarios", "must hold at least one")
    for scenario in scenarios:
        for index, one in enumerate(scenario.rounds):
            if one.truth not in scenario.candidates:
                raise Rejected(
                    f"rounds[{index}].truth",
                    f"is none of the candidates of {scenario.name!r}",
                )
    return scenarios


@dataclass(frozen=True, slots=True)
class Shown:
    """One text that a memory returned; `explicit` when it says how that ended, `lesson` when it is one."""

    id: str
    text: str
    score: float
    explicit: bool = False
    lesson: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """What a memory returned, and how much of the situation it takes to be known; None: it does not say."""

    shown: Sequence[Shown] = ()
    familiarity: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What the agent asks its memory."""

    situation: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Played:
    """A round that is over, with what the agent picked and the ids it had looked at."""

    number: int
    round: Round
    picked: str
    used: Sequence[str]


class TrialMemory(Protocol):
    """A memory on trial."""

    def recall(self, asked: Asked) -> Returned:
        """What it has on the situation."""

    def learn(self, played: Played) -> None:
        """What came of it."""


@dataclass(slots=True)
class Score:
    """What one agent did over a set of scenarios."""

    right: Counter[str] = field(default_factory=Counter)
    rounds: Counter[str] = field(default_factory=Counter)
    retrieved: int = 0
    explicit: int = 0
    applied_right: int = 0
    applied_wrong: int = 0
    by_scenario: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; shares are None where there was nothing to count."""
        return {
            "right": sum(self.right.values()),
            "rounds": sum(self.rounds.values()),
            "accuracy": _share(sum(self.right.values()), sum(self.rounds.values())),
            "accuracyByType": {
                t: _share(self.right[t], n) for t, n in sorted(self.rounds.items())
            },
            "retrieved": self.retrieved,
            "explicitOutcomeShare": _share(self.explicit, self.retrieved),
            "rightApplications": self.applied_right,
            "falseApplications": self.applied_wrong,
            "rightByScenario": dict(self.by_scenario),
        }


def run(
    scenario: Scenario, memory: TrialMemory, embed: Embed, score: Score
) -> list[str]:
    """Play all rounds; what the agent picked. The memory learns after each round."""
    picks: list[str] = []
    for number, one in enumerate(scenario.rounds):
        returned = memory.recall(Asked(one.situation, one.state))
        picked = decide(one.situation, scenario.candidates, returned, embed)
        spoken_for = favourite(scenario.candidates, returned)
        hit = picked == one.truth
        score.rounds[one.type] += 1
        score.right[one.type] += hit
        score.retrieved += len(returned.shown)
        score.explicit += sum(shown.explicit for shown in returned.shown)
        score.applied_right += hit and picked == spoken_for
        score.applied_wrong += not hit and picked == spoken_for
        memory.learn(
            Played(number, one, picked, [shown.id for shown in returned.shown])
        )
        picks.append(picked)
    name = scenario.name
    score.by_scenario[name] = sum(
        p == r.truth for p, r in zip(picks, scenario.rounds, strict=True)
    )
    return picks


def decide(
    situation: str, candidates: Sequence[str], returned: Returned, embed: Embed
) -> str:
    """The agent's choice, by Bayes' rule: what memory says comes first, the names are weighed with it.

    A candidate's prior is `f * share`, with f the familiarity and `share` its part of the scores of all
    texts that name one; the candidates that no text names divide `1 - f` evenly. The likelihood is
    `exp(NAME_WEIGHT * likeness)` of the situation and the candidate's name. Of equals the first.
    """
    likeness = name_likeness(
        situation, candidates, [shown.text for shown in returned.shown], embed
    )
    shares, known = _shares(candidates, returned), returned.familiarity
    if known is None:
        known = min(
            1.0, max((shown.score for shown in returned.shown), default=0.0)
        ) ** (1 / 3)
    rest = (1.0 - known) / max(1, len(candidates) - len(shares))
    prior = {c: known * shares[c] if c in shares else rest for c in candidates}
    return max(
        candidates, key=lambda c: log(max(LEAST, prior[c])) + NAME_WEIGHT * likeness[c]
    )


def favourite(candidates: Sequence[str], returned: Returned) -> str | None:
    """The candidate that memory speaks for most, if it speaks for any."""
    shares = _shares(candidates, returned)
    return max(candidates, key=lambda c: shares.get(c, 0.0)) if shares else None


def name_likeness(
    situation: str, candidates: Sequence[str], texts: Sequence[str], embed: Embed
) -> dict[str, float]:
    """How near each candidate's name comes to the situation's words; the rarer in the texts, the more."""
    spoken = spoken_words(situation)
    near = closeness(spoken, candidates, lambda words: np.stack(embed(words))) @ rarity(
        spoken, texts
    )
    return dict(zip(candidates, near.tolist(), strict=True))


def _shares(candidates: Sequence[str], returned: Returned) -> Mapping[str, float]:
    votes: defaultdict[str, float] = defaultdict(float)
    for shown in returned.shown:
        named = last_named(candidates, shown.text)
        if named is not None and shown.score > 0:
            votes[named] += shown.score
    total = sum(votes.values())
    return {candidate: vote / total for candidate, vote in votes.items()}


def last_named(candidates: Sequence[str], text: str) -> str | None:
    """The candidate whose name stands last in the text; of two at one place the longer."""
    places = [(text.casefold().rfind(c.casefold()), len(c), c) for c in candidates]
    place, _, candidate = max(places)
    return candidate if place >= 0 else None


def precedent_text(situation: str, correction: str, truth: str) -> str:
    """The text of a past round, the same for both memories."""
    return "\n".join(part for part in (situation, correction, truth) if part)


class FlatMemory:
    """The texts of past rounds and their vectors: the nearest by cosine, nothing else."""

    def __init__(self, embed: Embed, limit: int = 5) -> None:
        self._embed, self._limit = embed, limit
        self._texts: list[str] = []

    def recall(self, asked: Asked) -> Returned:
        """The nearest texts with their cosines."""
        if not self._texts:
            return Returned()
        vector, *stored = self._embed([asked.situation, *self._texts])
        near = sorted(
            ((max(0.0, float(np.dot(vector, v))), i) for i, v in enumerate(stored)),
            reverse=True,
        )
        shown = [
            Shown(str(i), self._texts[i], cosine) for cosine, i in near[: self._limit]
        ]
        return Returned(shown)

    def learn(self, played: Played) -> None:
        """One more text."""
        one = played.round
        self._texts.append(precedent_text(one.situation, one.correction, one.truth))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
