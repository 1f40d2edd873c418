"""The memories of `benchmarks/everyday.py`: read from text, and stored.

A memory begins with `== NAME LANGUAGE`. A statement is `ID DAY TEXT`, and the assistant's
reply to it `> TEXT`. A question is `? ANSWERS - STALE | TEXT`: the ids of the statements that
answer it, and of those that did before; one without answers is answered by nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from benchmarks.updates import SCOPE
from benchmarks.updates_cases import BEGINNING
from tests.support.drivers import open_memory
from varve import Memory
from varve.domain.statements.answers.summary_sentences import read_sentences

FOLDER = Path(__file__).parent / "everyday"
HANDS = (
    "one", "two", "three", "diaries", "diaries_apart", "plain", "plain_apart", "chats",
    "talks", "talks_apart", "few", "few_apart",
)  # fmt: skip
NOW = BEGINNING + timedelta(days=260)
USER = "u-1"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the ids of the statements that answer it, and of those that did before."""

    text: str
    answers: frozenset[str]
    stale: frozenset[str]


@dataclass(slots=True)
class Told:
    """One person's memory: the words and the day of each statement, and the questions.

    `replies` are the assistant's, by the ids of the statements.
    """

    name: str
    language: str
    statements: dict[str, str] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=dict)
    replies: dict[str, str] = field(default_factory=dict)
    questions: list[Asked] = field(default_factory=list)

    @property
    def superseded(self) -> frozenset[str]:
        """The ids of the statements that something changed."""
        return frozenset().union(*(asked.stale for asked in self.questions))

    def find_saying(self, wording: str) -> set[str]:
        """Return the id of the first statement with a sentence of these folded words."""
        for id_, text in self.statements.items():
            if any(one.wording == wording for one in read_sentences(text)):
                return {id_}
        return set()


def read(hand: str) -> list[Told]:
    """Return the memories that a hand wrote."""
    found: list[Told] = []
    for line in (
        (FOLDER / f"{hand}.txt").read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("== "):
            _, name, language = line.split()
            found.append(Told(name, language))
        elif line.startswith("?"):
            found[-1].questions.append(_read_question(line))
        elif line.startswith("> "):
            reply = line.removeprefix("> ").replace("\\n", "\n")
            found[-1].replies[next(reversed(found[-1].statements))] = reply
        elif line and not line.startswith("#"):
            id_, day, text = line.split(maxsplit=2)
            found[-1].statements[id_] = text
            found[-1].days[id_] = int(day)
    return found


def _read_question(line: str) -> Asked:
    ids, text = line.removeprefix("?").split("|", 1)
    answers, _, stale = ids.partition(" - ")
    return Asked(
        text.strip(), frozenset(answers.split()), frozenset(stale.split())
    )


def fill(told: Told, folder: Path) -> Memory:
    """Return a memory of a person's statements, each a conversation of its own."""
    memory = open_memory(SCOPE, folder, now=lambda: NOW)
    memory.ingest(list(_list_conversations(told)))
    return memory


def fill_expired(told: Told, folder: Path) -> Memory:
    """Return a memory of a person's statements whose words have expired on plan free."""
    expiry = find_expiry(told)
    memory = open_memory(SCOPE, folder, now=lambda: expiry)
    memory.configure("plan", "free")
    memory.ingest(list(_list_conversations(told)))
    memory.summarize()
    memory.cleanup()
    return memory


def find_expiry(told: Told) -> datetime:
    """Return when a person's words have expired: a week after the last statement."""
    return BEGINNING + timedelta(days=max(told.days.values()) + 8)


def _list_conversations(told: Told) -> Iterator[dict[str, object]]:
    """Yield the conversations: those of a day if the assistant replies, else one a statement."""
    ids = list(told.statements)
    if told.replies:
        days = [list(of) for _, of in groupby(ids, told.days.__getitem__)]
    else:
        days = [[one] for one in ids]
    for place, said in enumerate(days):
        yield {
            "conversationId": f"c-{place}",
            "userId": USER,
            "messages": list(_list_messages(told, said)),
        }


def _list_messages(
    told: Told, said: Iterable[str]
) -> Iterator[dict[str, object]]:
    places = {id_: place for place, id_ in enumerate(told.statements)}
    for id_ in said:
        at = BEGINNING + timedelta(days=told.days[id_], minutes=places[id_])
        yield {
            "id": id_,
            "role": "user",
            "content": told.statements[id_],
            "timestamp": at.isoformat(),
        }
        if id_ in told.replies:
            yield {
                "role": "assistant",
                "content": told.replies[id_],
                "timestamp": at.isoformat(),
            }
