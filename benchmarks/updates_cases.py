"""The cases of `benchmarks/updates.py`: read from text, and turned into conversations.

A case begins with `== CATEGORY LANGUAGE [SPEAKER]`. Its lines begin with a mark:

| mark | line |
|---|---|
| `-` | the user states what is superseded later |
| `+` | the user states what holds in the end |
| `=` | the user states what holds, in a look-alike |
| `~` | the user says something alike that changes nothing |
| `*` | the user says something else |
| `>` | the assistant answers |
| `?` `<` | a question about the present, about the past |

Each statement begins a conversation of its own, on a later day; after `&` it continues the
one before. Brackets surround the value that an answer must have, and are not said.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "updates"
CHATTER = FOLDER / "chatter"
"""Files of conversations about other things, one of each purpose."""
FITTED, TRAINED = "fitted", "trained"
"""The chatter of the fits, and that of the cross-encoder's training."""
CHOSEN, OTHER = "chosen", "other"
"""That by which hand-set values were chosen, and that of no such use."""
MOST_TOGETHER = 48
"""So many conversations about other things stand in a store of several cases."""
BEGINNING = datetime(2026, 2, 2, 9, tzinfo=UTC)
USER_MARKS = "-+=~*"
ECHOES = {
    "en": (
        "Got it, {0}.",
        "Thanks for letting me know!",
        "Noted: {0}. Anything else?",
        "{0}, I'll remember that.",
        "Okay!",
    ),
    "es": (
        "Entendido, {0}.",
        "¡Gracias por contármelo!",
        "Anotado: {0}. ¿Algo más?",
        "{0}, lo recordaré.",
        "¡Vale!",
    ),
}
_VALUE = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Line:
    """One message: its mark, its words, its value, and whether it continues a conversation."""

    mark: str
    text: str
    value: str
    continues: bool

    @property
    def is_user(self) -> bool:
        """Whether the user says it."""
        return self.mark in USER_MARKS


@dataclass(slots=True)
class Case:
    """One case with its messages and questions. `number` counts from 0 in its file."""

    number: int
    category: str
    language: str
    speaker: str
    lines: list[Line] = field(default_factory=list)
    question: str = ""
    past: str = ""
    phrase: str = ""

    @property
    def searched(self) -> str:
        """What is searched for: the phrase that an agent makes of the question, if there is one."""
        return self.phrase or self.question

    @property
    def is_lookalike(self) -> bool:
        """Whether nothing in the case supersedes anything."""
        return self.category == "lookalike"

    @property
    def right(self) -> str:
        """The value that holds in the end."""
        return [line for line in self.lines if line.mark in "+="][-1].value

    @property
    def stale(self) -> list[str]:
        """The values that do not hold: superseded ones, or a look-alike's."""
        return [line.value for line in self.lines if line.mark in "-~"]


def read_cases(name: str) -> list[Case]:
    """Return the cases of a file of the folder."""
    cases: list[Case] = []
    for raw in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if raw.startswith("== "):
            category, *rest = raw[3:].split()
            language, speaker = (*rest, "", "")[:2]
            cases.append(Case(len(cases), category, language, speaker))
        elif raw.strip() and not raw.startswith("#"):
            _read_line(raw, cases[-1])
    return cases


def read_answered_cases(name: str) -> list[Case]:
    """Return the cases of a file with the replies that were written for it.

    A line of `replies/` answers each message of the user that has no answer of its own.
    """
    text = (FOLDER / "replies" / name).read_text(encoding="utf-8")
    replies = iter(text.splitlines())
    cases = read_cases(name)
    for case in cases:
        lines = case.lines
        case.lines = []
        for line, after in zip(lines, [*lines[1:], None], strict=True):
            case.lines.append(line)
            is_answered = after is not None and after.mark == ">"
            if line.is_user and not is_answered:
                case.lines.append(Line(">", next(replies), "", continues=True))
    return cases


def read_phrased_cases(name: str) -> list[Case]:
    """Return the cases of a file with the phrases of `phrases/`, one line for each."""
    text = (FOLDER / "phrases" / name).read_text(encoding="utf-8")
    cases = read_cases(name)
    for case, phrase in zip(cases, text.splitlines(), strict=True):
        case.phrase = phrase
    return cases


def _read_line(raw: str, case: Case) -> None:
    continues = raw.startswith("&")
    mark, text = raw.removeprefix("&").split(maxsplit=1)
    if mark == "?":
        case.question = text
    elif mark == "<":
        case.past = text
    else:
        value = _VALUE.search(text)
        words = _VALUE.sub(r"\1", text)
        found = value[1] if value else ""
        case.lines.append(Line(mark, words, found, continues or mark == ">"))


def read_chatter(language: str, purpose: str) -> list[list[Line]]:
    """Return the conversations about other things in a language, those of one purpose."""
    found: list[list[Line]] = []
    path = CHATTER / f"{purpose}.txt"
    for raw in path.read_text(encoding="utf-8").splitlines():
        if raw.startswith("== "):
            found.append([])
            is_wanted = raw[3:].strip() == language
            if not is_wanted:
                found.pop()
        elif raw and not raw.startswith("#") and is_wanted:
            mark, text = raw.split(maxsplit=1)
            found[-1].append(Line(mark, text, "", continues=True))
    return found


def build_conversations(case: Case, purpose: str) -> list[dict[str, Any]]:
    """Return the case's conversations among others, with the same result each time.

    The others are the chatter of a purpose.
    """
    luck = random.Random(f"{case.category} {case.number}")
    chatter = read_chatter(case.language, purpose)
    luck.shuffle(chatter)
    groups = _split_conversations(_answer(case, luck))
    mixed: list[list[Line]] = []
    for group in groups:
        for _ in range(luck.randint(1, 3)):
            mixed.append(chatter.pop())
        mixed.append(group)
    for _ in range(luck.randint(1, 3)):
        mixed.append(chatter.pop())
    # Every third case has no user id, as in a private assistant's memory.
    user = "" if case.number % 3 == 0 else "u-1"
    return list(_date(mixed, case.speaker, user, luck))


def group_cases(cases: Sequence[Case], size: int = 8) -> list[list[Case]]:
    """Return groups of a language's cases without speakers, each of another category.

    The result is the same each time. Cases that fill no group of at least half the size
    are left out.
    """
    luck = random.Random(size)
    groups: list[list[Case]] = []
    for language in ECHOES:
        left: dict[str, list[Case]] = {}
        for case in cases:
            if case.language == language and not case.speaker:
                left.setdefault(case.category, []).append(case)
        for same in left.values():
            luck.shuffle(same)
        while len(left) >= size // 2:
            largest = sorted(left, key=lambda name: (-len(left[name]), name))
            groups.append([left[name].pop() for name in largest[:size]])
            left = {name: same for name, same in left.items() if same}
    return groups


def build_together(
    group: Sequence[Case], purpose: str
) -> list[dict[str, Any]]:
    """Return the conversations of several cases as one user's, among others.

    The others are the chatter of a purpose, at most `MOST_TOGETHER`. The parts of a message's id
    are its mark and its case's number: `new-12-…`.
    """
    luck = random.Random(" ".join(str(case.number) for case in group))
    streams = [
        [
            (case.number, talk)
            for talk in _split_conversations(_answer(case, luck))
        ]
        for case in group
    ]
    chatter = read_chatter(group[0].language, purpose)
    if len(chatter) > MOST_TOGETHER:
        chatter = luck.sample(chatter, MOST_TOGETHER)
    streams += [[(-1, talk)] for talk in chatter]
    mixed: list[tuple[int, list[Line]]] = []
    while streams:
        stream = luck.choice(streams)
        mixed.append(stream.pop(0))
        streams = [one for one in streams if one]
    talks = [talk for _, talk in mixed]
    dated = list(_date(talks, "", "u-1", luck, gap=4))
    for (case, _), conversation in zip(mixed, dated, strict=True):
        for message in conversation["messages"]:
            mark, rest = message["id"].split("-", 1)
            message["id"] = f"{mark}-{case}-{rest}"
    return dated


def _answer(case: Case, luck: random.Random) -> Iterator[Line]:
    """Yield the lines; the assistant answers most statements that have no answer yet."""
    for number, line in enumerate(case.lines):
        yield line
        after = case.lines[number + 1 : number + 2]
        is_answered = bool(after) and after[0].continues
        if line.is_user and not is_answered and luck.random() < 0.7:
            echo = luck.choice(ECHOES[case.language])
            yield Line(
                ">", echo.format(line.value or "that"), "", continues=True
            )


def _split_conversations(lines: Iterator[Line]) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for line in lines:
        if line.continues and groups:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _date(
    groups: Sequence[Sequence[Line]],
    speaker: str,
    user: str,
    luck: random.Random,
    *,
    gap: int = 9,
) -> Iterator[dict[str, Any]]:
    """Yield the conversations, `gap` days apart at most.

    Message ids begin with the mark of their line.
    """
    at = BEGINNING
    names = {
        "-": "old",
        "+": "new",
        "=": "new",
        "~": "alike",
        "*": "user",
        ">": "reply",
    }
    for number, group in enumerate(groups):
        at += timedelta(
            days=luck.randint(1, gap), minutes=luck.randint(0, 400)
        )
        messages = []
        for place, line in enumerate(group):
            message = {
                "id": f"{names[line.mark]}-{number}-{place}",
                "role": "user" if line.is_user else "assistant",
                "content": line.text,
                "timestamp": (at + timedelta(minutes=place)).isoformat(),
            }
            if speaker and line.is_user:
                message["name"] = speaker
            messages.append(message)
        conversation = {"conversationId": f"c-{number}", "messages": messages}
        yield {**conversation, "userId": user} if user else conversation
