"""Requests to forget a person, or what was told on some days.

"Forget everything I said today" means all that its speaker told that day. "Forget about Pablo"
means all that is told of Pablo, if it is a whole message. Beside other words it is more often
a figure of speech: "Let's plan dinner. Forget about Pablo" plans a dinner without him.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from varve.domain.extractive import sentences
from varve.domain.language.courtesies import is_courtesy
from varve.domain.language.forgetting_words import ForgettingWords
from varve.domain.language.names import PARTICLES
from varve.domain.language.phrases import any_of, fold_apostrophes
from varve.domain.language.stopwords import GIVEN_NAMES
from varve.domain.language.timewords import understand
from varve.domain.language.tokens import words
from varve.domain.statements.forgetting.requests import (
    begin_politely,
    end_trailing,
)
from varve.domain.statements.forgetting.told_sentences import list_capitalized

_MOST_NAMED = 4
"""So many words name a person at most."""
_JOINTS = re.compile(r",? (?:and|y|e) |, ")
_PARTICLES = re.compile(PARTICLES)
_ANY_DAY = date(2026, 6, 17)
_ZONE = ZoneInfo("UTC")
"""Days are read as labels of the calendar, which have no zone."""

Days = tuple[date, date]
"""The first and the last day of some."""


class Wholes:
    """One language's requests of a person, and of days."""

    def __init__(self, given: ForgettingWords) -> None:
        polite = begin_politely(given)
        trailing = rf"{end_trailing(given)}\W*"
        verbs = any_of((*given.asks, *given.erases))
        self._persons = re.compile(
            rf"{polite}{any_of(given.about_persons)} (?P<whom>.+?){trailing}"
        )
        self._days = re.compile(
            rf"{polite}{verbs} {any_of(given.told_then)} (?P<days>.+?){trailing}"
        )

    def list_persons(self, text: str) -> Iterator[str]:
        """Yield the persons whom a text asks to forget, folded."""
        found = self._persons.fullmatch(fold_apostrophes(text))
        if found is None:
            return
        capitals = list_capitalized(text, 1)
        persons = _JOINTS.split(found["whom"])
        if all(_is_person(one, capitals) for one in persons):
            yield from persons

    def find_days(self, text: str) -> str:
        """Return the words of the days whose telling a folded text asks to forget, else ""."""
        found = self._days.fullmatch(text)
        days = found["days"] if found else ""
        return days if days and read_days(days, _ANY_DAY) else ""


def is_whole(sentence: str, text: str) -> bool:
    """Return whether a text says nothing beside one of its sentences, but for courtesies."""
    others = [one for one in sentences(text) if one != sentence]
    return all(map(is_courtesy, others))


def read_days(phrase: str, today: date) -> Days | None:
    """Return the days up to today that a phrase means as seen from it; None: it means no such days."""
    noon = datetime.combine(today, time(12), UTC)
    found = understand(phrase, noon, _ZONE)
    if found is None or found.phrase != phrase or found.since is None:
        return None
    first, last = found.since.date(), today
    if found.until is not None:
        last = min(today, found.until.date() - timedelta(days=1))
    return (first, last) if first <= last else None


def _is_person(named: str, capitals: frozenset[str]) -> bool:
    """Return whether some words are a given name, and other names behind it."""
    first, *others = words(named)
    if first not in GIVEN_NAMES or len(others) >= _MOST_NAMED:
        return False
    return all(one in capitals or _PARTICLES.fullmatch(one) for one in others)
