"""The answers that repeat what statements to forget tell, and go with them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from varve.domain.erasure import MessageKey
from varve.domain.statements.forgetting.forgetting import (
    asks_to_forget,
    repeats_value,
)
from varve.domain.statements.forgetting.told_sentences import (
    has_any,
    list_values,
)
from varve.domain.statements.texts.parts import split_parts
from varve.domain.statements.texts.persons import is_person, list_own_names
from varve.usecases.forget.fold_proposals import find_sentence
from varve.usecases.forget.proposals import Proposal


@dataclass(frozen=True, slots=True)
class _Echoed:
    """What a person's turn tells of a statement: its value, and its figures and names.

    `own` are the names by which the person speaks.
    """

    users: frozenset[str]
    own: frozenset[str]
    value: str
    values: frozenset[str]

    def is_repeated_in(self, turn: Proposal) -> bool:
        """Return whether another's turn of the same memory repeats it."""
        if turn.users != self.users or turn.speaker in self.own:
            return False
        words = turn.content.removeprefix(f"{turn.speaker}: ")
        if self.value and repeats_value(words, self.value):
            return True
        return any(
            has_any(part, self.values, turn.speaker)
            for part in split_parts(words)
        )


def find_echoes(
    query: str, likely: Iterable[Proposal], statements: Iterable[Proposal]
) -> list[Proposal]:
    """Return others' turns that repeat in the same conversation what likely statements tell.

    What the assistant tells first has no echo. In the conversation of a request to forget
    it may repeat what any of them tells.
    """
    likely = list(likely)
    turns = [one for one in statements if one.speaker]
    told: dict[str, list[_Echoed]] = {}
    for talk, one in _list_told(query, likely, turns):
        told.setdefault(talk, []).append(one)
    every = list(chain(*told.values()))
    for talk in _list_asking(likely):
        told[talk] = every
    echoes: list[Proposal] = []
    for turn in turns:
        near = chain(*(told.get(talk, ()) for talk, _ in turn.messages))
        if any(one.is_repeated_in(turn) for one in near):
            echoes.append(turn)
    return echoes


def _list_asking(likely: Iterable[Proposal]) -> Iterator[str]:
    """Yield the conversations in which a likely statement asks to forget."""
    for one in likely:
        words = one.content.removeprefix(f"{one.speaker}: ")
        if one.speaker and asks_to_forget(words):
            yield from (talk for talk, _ in one.messages)


def _list_told(
    query: str, likely: Iterable[Proposal], turns: Iterable[Proposal]
) -> Iterator[tuple[str, _Echoed]]:
    """Yield what persons' turns tell of likely statements, with their conversations."""
    by_message: dict[MessageKey, Proposal] = {}
    names: dict[frozenset[str], set[str]] = {}
    for turn in turns:
        by_message.update(dict.fromkeys(turn.messages, turn))
        names.setdefault(turn.users, set()).add(turn.speaker)
    for one in likely:
        sentence = find_sentence(query, one)
        # "My dog" means what is told of it, and not all that says "dog".
        value = "" if repeats_value(query, one.value) else one.value
        for key in one.messages & by_message.keys():
            turn = by_message[key]
            if is_person(turn.speaker):
                own = _list_own(turn, names)
                values = _list_values(sentence, turn.speaker)
                yield key[0], _Echoed(turn.users, own, value, values)


def _list_own(
    turn: Proposal, names: Mapping[frozenset[str], Iterable[str]]
) -> frozenset[str]:
    """Return the names by which the speaker of a turn speaks."""
    user = next(iter(turn.users), None)
    return list_own_names(turn.speaker, user, names[turn.users])


def _list_values(text: str, speaker: str) -> frozenset[str]:
    """Return the figures and names of all parts of a text."""
    parts = split_parts(text)
    return frozenset(chain(*(list_values(part, speaker) for part in parts)))
