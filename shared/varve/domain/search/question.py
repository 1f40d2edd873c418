"""What a question asks for, as far as its words show it without a model."""

import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache

from varve.domain.language.languages import (
    Language,
    gathered,
    installed_languages,
)
from varve.domain.language.phrases import any_of
from varve.domain.language.stopwords import STOP_WORDS
from varve.domain.language.tokens import fold, words, written_words
from varve.domain.search.kinds import kinds_asked
from varve.domain.search.lexical import question_forms


@dataclass(frozen=True, slots=True)
class QuestionPatterns:
    """The patterns of all languages together.

    All but `state` are searched in lower case: to ignore case takes three times as long.
    """

    asks_when: re.Pattern[str]
    current: re.Pattern[str]
    present: re.Pattern[str]
    past: re.Pattern[str]
    state: re.Pattern[str]
    happened: frozenset[str]
    aimed: frozenset[str]
    all_about: re.Pattern[str]


@cache
def _installed_patterns() -> QuestionPatterns:
    return build_patterns(installed_languages())


def build_patterns(languages: Iterable[Language]) -> QuestionPatterns:
    """Build the patterns that show the aim of a question in some languages."""
    tables = [asdict(language.questions) for language in languages]
    words = gathered(tables)
    one_of = {name: any_of(patterns) for name, patterns in words.items()}
    return QuestionPatterns(
        asks_when=re.compile(rf"\b{one_of['asks_when']}\b"),
        current=re.compile(rf"\b{one_of['current']}\b"),
        present=re.compile(
            rf"^\W*(?:{one_of['greeting']}\W+)?{one_of['opening']}\b"
            rf"[^.?!]{{0,40}}?\b{one_of['present']}\b"
        ),
        past=re.compile(rf"\b{one_of['past']}\b"),
        state=re.compile(
            rf"(?i)^\W*{one_of['state_opening']}\b.*\b{one_of['state']}\b"
        ),
        happened=frozenset(words["happened"]),
        aimed=frozenset(words["aimed"]),
        all_about=re.compile(
            rf"(?i)^\W*(?:{one_of['greeting']}\W+)?{one_of['all_about']} "
            r"(?P<whom>[^?!.,;:]{1,60}?)\W*$"
        ),
    )


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranking sees it.

    `forms` are its folded words without stop words, `kinds` the words of each kind of things that it
    asks for. `since` and `until` are the time it speaks of, if that time weighs and does not
    filter; with `lasting` an earlier statement may have held then.
    """

    text: str
    forms: tuple[str, ...]
    kinds: tuple[tuple[str, ...], ...]
    asks_when: bool
    since: datetime | None = None
    until: datetime | None = None
    lasting: bool = False

    def focus(self, names: Collection[str]) -> str:
        """Return the telling words as written, without the names; the text if none are left."""
        passed_over = STOP_WORDS.union(names)
        written = written_words(self.text)
        kept = [
            word
            for word in written
            if word in self.forms or fold(word) not in passed_over
        ]
        return " ".join(kept) or self.text


def read_question(
    text: str,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    lasting: bool = False,
) -> Question:
    """Return the question that a text asks, about a time if one was understood from it."""
    asks_when = bool(_installed_patterns().asks_when.search(text.lower()))
    return Question(
        text,
        question_forms(text),
        kinds_asked(words(text)),
        asks_when,
        since,
        until,
        lasting,
    )


def asks_how_things_stand(text: str) -> bool:
    """Return whether the text asks what holds at present: "where does Dana live now?"."""
    patterns, asked = _installed_patterns(), text.lower()
    if patterns.current.search(asked):
        return True
    if patterns.past.search(asked):
        return False
    return patterns.present.search(asked) is not None


def asks_for_a_state(text: str) -> bool:
    """Return whether the text asks what held at some time: "where did she live in May?".

    A state may have begun before that time.
    """
    return _installed_patterns().state.search(text) is not None


def asks_what_happened(text: str) -> bool:
    """Return whether a question asks for whatever there was, of one person or thing at most.

    The text has no words of time.
    """
    telling = _list_telling(text)
    others = [form for form in telling if form not in _list_happened()]
    most = 1 if len(others) < len(telling) else 0
    return len(others) <= most


def asks_for_everything(text: str) -> bool:
    """Return whether a question asks for whatever there was, of no person or thing.

    The text has no words of time. "Where are we going?" asks for one thing.
    """
    if not _installed_patterns().aimed.isdisjoint(words(text)):
        return False
    return _list_happened().issuperset(_list_telling(text))


def find_whom(text: str) -> str:
    """Return of whom or what a text asks for everything; "" if it asks for less.

    It is "Ana" in "What do we know about Ana?".
    """
    found = _installed_patterns().all_about.search(text)
    return found["whom"] if found else ""


def _list_happened() -> frozenset[str]:
    return _installed_patterns().happened


def _list_telling(text: str) -> list[str]:
    return [form for form in question_forms(text) if form not in STOP_WORDS]
