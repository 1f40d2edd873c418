"""Seeded runs in which a user is forgotten at one step of a memory's life, and the erasure is killed.

Everything is in one process, so a run takes a fraction of a second and any change or message may be
the last one before the kill. The outcome is compared with the memory of a user who was never there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.support.builders import ACME
from tests.support.forgetful import Conversation, Forgetful
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import Grain
from varve.usecases.erasure.rereads import read_plan

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
NAMES = {"u-dana": "Danaqq", "u-marco": "Marcozz", "u-priya": "Priyaxx"}
GONE = "u-dana"
THINGS = ("gooseberries", "espresso", "quinces", "sailing", "chess", "ferns")
SAYINGS = (
    "I like {thing}.",
    "I live in {thing}town.",
    "Me too!",
    "I work at {thing} Ltd and I love {thing}.",
    "My sister likes {thing}.",
)
LAST_CHANGE_TO_DIE_AT = 25
KILLS = 2
"""How often one erasure is killed at most."""

Said = list[tuple[str, str, int]]
"""Who speaks, the words, and how many days ago."""


class Killed(BaseException):
    """The process is gone: no code of the library may catch this."""


class MortalObjects(InMemoryObjects):
    """Objects of a process that is killed before its n-th change of anything."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None

    def step(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Killed

    def put(self, key: str, data: bytes) -> None:
        self.step()
        super().put(key, data)

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        self.step()
        return super().put_if(key, data, etag)

    def delete(self, keys: Iterable[str]) -> None:
        self.step()
        super().delete(keys)


class MortalQueue:
    """A queue whose sender is killed before the message arrives, or right after."""

    def __init__(self, inner: Any, objects: MortalObjects) -> None:
        self._inner = inner
        self._objects = objects

    def send(self, body: str, *, group: str, deduplication_id: str) -> None:
        self._objects.step()
        self._inner.send(body, group=group, deduplication_id=deduplication_id)
        self._objects.step()


def mortal(extractor: Any) -> tuple[Forgetful, MortalObjects]:
    """Return an empty memory whose process can be killed at any change."""
    objects = MortalObjects()
    memory = Forgetful(extractor, objects=objects)
    memory.writes = MortalQueue(memory.writes, objects)  # type: ignore[assignment]
    memory.conversations = MortalQueue(memory.conversations, objects)  # type: ignore[assignment]
    return memory, objects


@dataclass
class Tally:
    """What all runs together went through."""

    runs: int = 0
    erasures: int = 0
    kills: int = 0
    messages: int = 0

    def __str__(self) -> str:
        return (
            f"runs {self.runs}, erasures {self.erasures}, kills {self.kills}, "
            f"messages {self.messages}"
        )


def script(seed: int) -> list[Said]:
    """Return what is said in the conversations of a seed."""
    rng = Random(f"erasure {seed}")
    told: list[Said] = []
    for _ in range(rng.randint(1, 3)):
        said: Said = []
        for _ in range(rng.randint(1, 5)):
            who = rng.choice((*NAMES, "assistant"))
            words = rng.choice(SAYINGS).format(thing=rng.choice(THINGS))
            said.append((who, words, rng.randint(0, 2)))
        told.append(said)
    return told


def conversation(
    number: int, said: Said, *, without: str | None
) -> Conversation:
    """Return a conversation; an answer counts as its asker's, and goes with the asker's words."""
    days = sorted((day for *_, day in said), reverse=True)
    last = None
    kept: list[dict[str, Any]] = []
    for index, (who, words, _) in enumerate(said):
        at = NOW - timedelta(days=days[index], hours=3)
        at += timedelta(minutes=index, seconds=number)
        message = {
            "id": f"c{number}-m{index}",
            "role": "assistant",
            "content": words,
            "timestamp": at.isoformat(),
        }
        if who != "assistant":
            message |= {"role": "user", "userId": who, "name": NAMES[who]}
            last = who
        if without is None or last != without:
            kept.append(message)
    return {"conversationId": f"c-{number}", "messages": kept}


def count_steps(seed: int) -> int:
    """Return at how many moments of a seed's run the user can be forgotten."""
    return len(script(seed)) + 2


def play(
    seed: int, step: int, extractor: Callable[[], Any], tally: Tally
) -> list[str]:
    """Forget the user before the step, with kills; return how memory differs in the end."""
    rng = Random(f"kills of {seed} at {step}")
    told = script(seed)
    memory, objects = mortal(extractor())
    for number in range(count_steps(seed)):
        if number == step:
            tally.kills += _forget(memory, objects, rng)
        _advance(memory, told, number)
    objects.left = None
    for number, said in enumerate(told):
        memory.ingest(conversation(number, said, without=None), now=LATER)
    done = memory.forget(user=GONE, now=LATER)
    tally.runs += 1
    tally.erasures += KILLS + 1
    tally.messages += sum(map(len, told))
    control = Forgetful(extractor())
    for number, said in enumerate(told):
        rest = conversation(number, said, without=GONE)
        if rest["messages"]:
            control.ingest(rest, now=NOW)
    wrong = [] if done.complete else ["the erasure is not complete"]
    if read_plan(ACME, objects=objects):
        wrong.append("rereads are left")
    return wrong + _differences(memory, control)


def _advance(memory: Forgetful, told: list[Said], number: int) -> None:
    """Take in the next conversation; after the last one, summarize."""
    if number < len(told):
        memory.ingest(
            conversation(number, told[number], without=None), now=NOW
        )
    else:
        memory.summarize(NOW)


def _forget(memory: Forgetful, objects: MortalObjects, rng: Random) -> int:
    """Forget the user, with up to `KILLS` kills; return how many there were."""
    kills = 0
    for _ in range(KILLS):
        objects.left = rng.randint(0, LAST_CHANGE_TO_DIE_AT)
        try:
            memory.forget(user=GONE, now=NOW)
        except Killed:
            kills += 1
    objects.left = None
    return kills


def _differences(memory: Forgetful, control: Forgetful) -> list[str]:
    wrong = _compare(memory, control)
    memory.summarize(LATER)
    control.summarize(LATER)
    if memory.held() != control.held():
        wrong.append("summaries differ")
    if NAMES[GONE].encode() in memory.bytes():
        wrong.append("an object tells of the forgotten user")
    return wrong


def _compare(memory: Forgetful, control: Forgetful) -> list[str]:
    wrong: list[str] = []
    if memory.held(Grain.WORKING) != control.held(Grain.WORKING):
        wrong.append("facts or turns differ")
    if memory.known() != control.known():
        wrong.append("triples differ")
    if memory.said() != control.said():
        wrong.append("messages differ")
    for user in NAMES:
        if memory.profile(user) != control.profile(user):
            wrong.append(f"the profile of {user} differs")
    return wrong
