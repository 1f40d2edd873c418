"""A trial of memories: scenarios in rounds, and an agent that decides by rule.

The agent is the same for every memory. It sees the situation, the names of the candidates,
and the answer of its memory: texts with scores, and the familiarity, which is the
probability that the memory has the right answer. If a memory gives no familiarity, the agent
uses the cube root of its best score; of the functions tried, flat vectors do best with it.
From a text the agent reads which candidate is named last, and which words are common.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from varve.domain.errors import Rejected
from varve.domain.experience.alike import Embed, closeness, rarity
from varve.domain.experience.words import spoken_words
from varve.domain.search.lexical import Floats
from varve.domain.validation import rejected

NAME_WEIGHT = 19.2
"""What the likeness of situation and candidate's name adds to the log odds."""
LEAST = 1e-4
"""The least prior probability of a candidate."""

Text = Annotated[str, Field(min_length=1, max_length=10_000)]


class Round(BaseModel):
    """One situation with its right answer, which the agent learns after its decision."""

    model_config = ConfigDict(frozen=True)

    type: Literal["LEARN", "RED_HERRING", "TEST", "SUBTLE", "CORRECTION"]
    situation: Text
    truth: Text
    state: str | None = None
    correction: str = ""


class Scenario(BaseModel):
    """Rounds in order with the same candidates. Other fields of a file are ignored."""

    model_config = ConfigDict(frozen=True)

    name: Text
    candidates: Annotated[list[Text], Field(min_length=2)]
    rounds: Annotated[list[Round], Field(min_length=1)]


def parse_scenarios(value: object) -> list[Scenario]:
    """Return the scenarios of decoded JSON: one scenario, or a list.

    Raises Rejected: names the field that is not valid.
    """
    given = value if isinstance(value, list) else [value]
    try:
        scenarios = [Scenario.model_validate(one) for one in given]
    except ValidationError as error:
        raise rejected(error) from error
    if not scenarios:
        raise Rejected("scenarios", "must hold at least one")
    for scenario in scenarios:
        _check_truths(scenario)
    return scenarios


def _check_truths(scenario: Scenario) -> None:
    reason = f"is none of the candidates of {scenario.name!r}"
    for index, round_ in enumerate(scenario.rounds):
        if round_.truth not in scenario.candidates:
            raise Rejected(f"rounds[{index}].truth", reason)


@dataclass(frozen=True, slots=True)
class Shown:
    """One text that a memory returned.

    `explicit` if it says how the past situation ended; `lesson` if it is a lesson.
    """

    id: str
    text: str
    score: float
    explicit: bool = False
    lesson: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """The answer of a memory; `familiarity` is None if the memory gives none."""

    shown: Sequence[Shown] = ()
    familiarity: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent's question to its memory."""

    situation: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Played:
    """A finished round, with the agent's choice and the ids of the texts it had seen."""

    number: int
    round: Round
    picked: str
    used: Sequence[str]


class TrialMemory(Protocol):
    """A memory on trial."""

    def recall(self, asked: Asked) -> Returned:
        """Return what the memory has for a situation."""

    def learn(self, played: Played) -> None:
        """Store a finished round."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One decision: its scenario, the round's type, and whether it was right.

    `seen` if an earlier round of the scenario had the same right answer.
    """

    scenario: str
    type: str
    seen: bool
    right: bool


@dataclass(slots=True)
class Score:
    """The results of one agent over a set of scenarios."""

    judged: list[Judged] = field(default_factory=list)
    retrieved: int = 0
    explicit: int = 0
    applied_right: int = 0
    applied_wrong: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; a share of nothing is None."""
        right = sum(one.right for one in self.judged)
        rounds = len(self.judged)
        by_cause: defaultdict[str, list[bool]] = defaultdict(list)
        by_type: defaultdict[str, list[bool]] = defaultdict(list)
        by_scenario: Counter[str] = Counter()
        for one in self.judged:
            by_cause["seen" if one.seen else "new"].append(one.right)
            by_type[one.type].append(one.right)
            by_scenario[one.scenario] += one.right
        return {
            "right": right,
            "rounds": rounds,
            "accuracy": _share(right, rounds),
            "accuracyByType": _shares_of(by_type),
            "accuracyByCause": _shares_of(by_cause),
            "retrieved": self.retrieved,
            "explicitOutcomeShare": _share(self.explicit, self.retrieved),
            "rightApplications": self.applied_right,
            "falseApplications": self.applied_wrong,
            "rightByScenario": dict(by_scenario),
        }


def _shares_of(
    groups: Mapping[str, Sequence[bool]],
) -> dict[str, float | None]:
    return {
        name: _share(sum(hits), len(hits))
        for name, hits in sorted(groups.items())
    }


Decide = Callable[[str, Sequence[str], Returned], str]
"""Returns one of the candidates for a situation and what the memory returned."""


def run(
    scenario: Scenario, memory: TrialMemory, decide: Decide, score: Score
) -> list[str]:
    """Play all rounds and return the agent's choices; the memory learns after each."""
    picks: list[str] = []
    known: set[str] = set()
    for number, round_ in enumerate(scenario.rounds):
        returned = memory.recall(Asked(round_.situation, round_.state))
        picked = decide(round_.situation, scenario.candidates, returned)
        right = picked == round_.truth
        seen = round_.truth in known
        score.judged.append(Judged(scenario.name, round_.type, seen, right))
        _count(
            score, right, picked == favourite(scenario.candidates, returned)
        )
        _count_shown(score, returned)
        used = [shown.id for shown in returned.shown]
        memory.learn(Played(number, round_, picked, used))
        known.add(round_.truth)
        picks.append(picked)
    return picks


def _count(score: Score, right: bool, applied: bool) -> None:
    """Add a round; an application is a choice that the memory favoured."""
    score.applied_right += applied and right
    score.applied_wrong += applied and not right


def _count_shown(score: Score, returned: Returned) -> None:
    score.retrieved += len(returned.shown)
    score.explicit += sum(shown.explicit for shown in returned.shown)


def decide_by_rule(
    embed: Embed, situation: str, candidates: Sequence[str], returned: Returned
) -> str:
    """Return the agent's choice by Bayes' rule; the first candidate wins a tie.

    The prior comes from memory. A candidate that a text names gets `f * share`: f is the
    familiarity, `share` its part of the scores of all texts that name a candidate. The other
    candidates divide `1 - f` evenly. The likelihood is `exp(NAME_WEIGHT * likeness)` of the
    situation and the candidate's name.
    """
    texts = [shown.text for shown in returned.shown]
    likeness = name_likeness(situation, candidates, texts, embed)
    shares = _shares(candidates, returned)
    familiarity = _familiarity(returned)
    unnamed = max(1, len(candidates) - len(shares))
    rest = (1.0 - familiarity) / unnamed

    def log_odds(candidate: str) -> float:
        prior = rest
        if candidate in shares:
            prior = familiarity * shares[candidate]
        log_prior = log(max(LEAST, prior))
        return log_prior + NAME_WEIGHT * likeness[candidate]

    return max(candidates, key=log_odds)


def _familiarity(returned: Returned) -> float:
    """Return the familiarity, by default the cube root of the best score."""
    if returned.familiarity is not None:
        return returned.familiarity
    scores = [shown.score for shown in returned.shown]
    best = min(1.0, max(scores, default=0.0))
    return float(best ** (1 / 3))


def favourite(candidates: Sequence[str], returned: Returned) -> str | None:
    """Return the candidate with the largest share of the memory's scores, if any."""
    shares = _shares(candidates, returned)
    if not shares:
        return None
    return max(candidates, key=lambda candidate: shares.get(candidate, 0.0))


def name_likeness(
    situation: str,
    candidates: Sequence[str],
    texts: Sequence[str],
    embed: Embed,
) -> dict[str, float]:
    """Return how close each candidate's name comes to the situation's words.

    Words that are rare in `texts` count more.
    """
    spoken = spoken_words(situation)

    def embed_words(words: Sequence[str]) -> Floats:
        return np.stack(embed(words))

    near = closeness(spoken, candidates, embed_words)
    likeness = near @ rarity(spoken, texts)
    return dict(zip(candidates, likeness.tolist(), strict=True))


def _shares(
    candidates: Sequence[str], returned: Returned
) -> Mapping[str, float]:
    """Return each named candidate's share of the scores."""
    votes: defaultdict[str, float] = defaultdict(float)
    for shown in returned.shown:
        named = last_named(candidates, shown.text)
        if named is not None and shown.score > 0:
            votes[named] += shown.score
    total = sum(votes.values())
    return {candidate: vote / total for candidate, vote in votes.items()}


def last_named(candidates: Sequence[str], text: str) -> str | None:
    """Return the candidate named last in the text, or None; at one place the longer name."""
    folded = text.casefold()
    places: list[tuple[int, int, str]] = []
    for candidate in candidates:
        place = folded.rfind(candidate.casefold())
        places.append((place, len(candidate), candidate))
    last_place, _, last = max(places)
    return last if last_place >= 0 else None


def precedent_text(situation: str, correction: str, truth: str) -> str:
    """Return the text of a past round, the same for both memories."""
    return "\n".join(part for part in (situation, correction, truth) if part)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
