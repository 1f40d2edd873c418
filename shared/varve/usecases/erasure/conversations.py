"""An agent's conversations on the timeline, divided by what the tombstones bar."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from varve.domain.erasure import Tombstones
from varve.domain.identity import Scope
from varve.ports.objects import Objects
from varve.usecases.erasure.sweep import TimelineLine, read_timeline

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Conversations:
    """The messages on the timeline by conversation: those that go, and those that stay.

    `mixed` are the conversations that lose some of their messages.
    """

    doomed: Mapping[str, list[TimelineLine]]
    kept: Mapping[str, list[TimelineLine]]
    mixed: frozenset[str]

    def doomed_days(self) -> set[tuple[str, str | None]]:
        """Return the local days on which something forgotten was said, by user."""
        days: set[tuple[str, str | None]] = set()
        for line in chain.from_iterable(self.doomed.values()):
            for user_id in line.users or (None,):
                days.add((line.day, user_id))
        return days

    def list_doomed_ids(self) -> list[str]:
        """Return the ids of the forgotten messages."""
        return [line.id for line in chain.from_iterable(self.doomed.values())]

    def doomed_texts(self) -> list[str]:
        """Return the forgotten words, with the speakers' names."""
        return _texts_of(self.doomed)

    def kept_texts(self) -> list[str]:
        """Return the words that stay, with the speakers' names."""
        return _texts_of(self.kept)

    def can_reread(self, conversation: str | None, ids: Iterable[str]) -> bool:
        """Return whether messages of a mixed conversation all stay."""
        if conversation is None or conversation not in self.mixed:
            return False
        kept = {line.id for line in self.kept[conversation]}
        return kept.issuperset(ids)


def read_conversations(
    scope: Scope, barred: Tombstones, objects: Objects
) -> Conversations:
    doomed: dict[str, list[TimelineLine]] = {}
    kept: dict[str, list[TimelineLine]] = {}
    mixed: set[str] = set()
    for name, lines in read_timeline(scope, objects=objects).items():
        gone, left = split(lines, lambda line: line.is_barred_by(barred))
        doomed[name] = gone
        kept[name] = left
        if gone and left:
            mixed.add(name)
    return Conversations(doomed, kept, frozenset(mixed))


def _texts_of(said: Mapping[str, list[TimelineLine]]) -> list[str]:
    texts: list[str] = []
    for line in chain.from_iterable(said.values()):
        texts += [line.message.name or "", line.message.text]
    return texts


def split(
    values: Iterable[T], goes: Callable[[T], bool]
) -> tuple[list[T], list[T]]:
    """Return the values that go, and those that stay."""
    going: list[T] = []
    staying: list[T] = []
    for value in values:
        (going if goes(value) else staying).append(value)
    return going, staying
