"""Matching takes time in proportion to a text's length, whatever the text."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

import varve
from tests.support.hostile import hostile_strings, module_patterns
from tests.support.nightly import NIGHTLY
from varve.adapters.detectors.national_ids import national_ids
from varve.adapters.detectors.personal import PersonalDetector
from varve.adapters.detectors.secrets import SecretDetector, load_patterns
from varve.adapters.detectors.token_shapes import token_shapes
from varve.domain.block import as_data
from varve.domain.echo import without_injected
from varve.domain.experience.outcomes import read_cues
from varve.domain.experience.running import RunningSummary
from varve.domain.extraction import Batch, Utterance
from varve.domain.extractive import sentences as summary_sentences
from varve.domain.identity import Scope
from varve.domain.language.timewords import understand
from varve.domain.language.tokens import words
from varve.domain.names import normalized
from varve.domain.personal import placeholder, replace_detections
from varve.domain.rules import LANGUAGE_READERS, RuleExtractor
from varve.domain.rules.sentences import sentences
from varve.domain.search.question import (
    asks_for_a_state,
    asks_how_things_stand,
    read_question,
)
from varve.domain.transcript import introduction

GROWTH = 2.5
"""The most that the time may grow when a text is twice as long."""
FLOOR_SECONDS = 0.005
"""Shorter times are not compared."""
TRIES = 12
LEAST_STRINGS = 200
SHARES = 6
"""By day a reader tries one string of so many; all readers together try every string."""
NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Lisbon")
SECRETS, PERSONAL = SecretDetector(), PersonalDetector(("US", "GB", "ES"))


@dataclass(frozen=True)
class Reader:
    """A function that reads texts from outside, and the shorter length to try it with."""

    read: Callable[[str], object]
    characters: int


def redacted(text: str) -> str:
    found = [*SECRETS.find(text), *PERSONAL.find(text)]
    return replace_detections(text, found, lambda one: placeholder(one.kind))


def extracted(text: str) -> object:
    said = Utterance("m1", "user", "Dana", text, NOW, "u-42")
    batch = Batch(Scope("acme", "support"), "c-1", (said,), (), ZONE, NOW)
    return RuleExtractor().extract(batch)


def asked(text: str) -> object:
    question = read_question(text)
    return question, asks_how_things_stand(text), asks_for_a_state(text)


READERS_OF_TEXT = {
    "secrets": Reader(SECRETS.find, 16_000),
    "personal data": Reader(PERSONAL.find, 16_000),
    "filter": Reader(redacted, 16_000),
    "sentences": Reader(lambda text: list(sentences(text)), 16_000),
    "rules": Reader(extracted, 2_400),
    "time words": Reader(lambda text: understand(text, NOW, ZONE), 5_000),
    "question": Reader(asked, 5_000),
    "echo": Reader(without_injected, 16_000),
    "data": Reader(as_data, 8_000),
    "transcript": Reader(introduction, 16_000),
    "names": Reader(normalized, 8_000),
    "words": Reader(words, 16_000),
    "summary": Reader(lambda text: list(summary_sentences(text)), 16_000),
    "cues": Reader(lambda text: read_cues([("user", text)]), 8_000),
    "running": Reader(lambda text: RunningSummary().told("user", text), 4_000),
}


@pytest.fixture(scope="module")
def strings() -> list[tuple[str, str]]:
    rules = [
        rule.pattern
        for reader in LANGUAGE_READERS
        for rule in reader.language.rules
    ]
    detectors = [pattern for pattern, _ in load_patterns()]
    shapes = [shape.pattern for shape in token_shapes()]
    numbers = [number.form for number in national_ids()]
    named = [*detectors, *shapes, *numbers]
    return [
        *hostile_strings([*module_patterns(varve), *named, *rules[::8]]),
        *(("", shape.keyword) for shape in token_shapes()),
    ]


def test_the_hostile_strings_hold_the_beginning_of_every_token(
    strings: list[tuple[str, str]],
) -> None:
    units = {unit for _, unit in strings}
    assert {
        each.keyword for each in token_shapes() if each.keyword not in units
    } == set()


def test_there_are_hundreds_of_hostile_strings(
    strings: list[tuple[str, str]],
) -> None:
    assert len(set(strings)) >= LEAST_STRINGS


@pytest.mark.parametrize("name", READERS_OF_TEXT)
def test_twice_the_length_takes_about_twice_the_time(
    name: str, strings: list[tuple[str, str]]
) -> None:
    reader = READERS_OF_TEXT[name]
    assert [*slow(reader, choose(name, strings))] == []


def choose(name: str, strings: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the strings to try: a reader's own share, by night all of them."""
    if NIGHTLY:
        return strings
    return strings[[*READERS_OF_TEXT].index(name) % SHARES :: SHARES]


def slow(reader: Reader, strings: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the strings whose time grows faster than their length."""
    reader.read("My name is Dana, 1 555 0100")  # loads what is loaded once
    for opening, unit in strings:
        growth = measure_growth(reader, opening, unit)
        if growth >= GROWTH:
            yield f"{opening!r} and {unit!r} repeated: {growth:.1f}"


def measure_growth(reader: Reader, opening: str, unit: str) -> float:
    """Return how many times longer a doubled text takes; the least of some tries.

    A growth that is too large is measured again over two doublings, because the machine's
    speed may change between two readings.
    """
    short = build_text(opening, unit, reader.characters)
    growth = compare(
        reader, short, build_text(opening, unit, 2 * reader.characters)
    )
    if growth < GROWTH:
        return growth
    longer = build_text(opening, unit, 4 * reader.characters)
    return math.sqrt(compare(reader, short, longer))


def compare(reader: Reader, short: str, longer: str) -> float:
    """Return how many times longer the longer text takes; 0 if that is too short to tell."""
    best_short = best_longer = float("inf")
    for _ in range(TRIES):
        best_longer = min(best_longer, measure(reader, longer))
        if best_longer < FLOOR_SECONDS:
            return 0.0
        best_short = min(best_short, measure(reader, short))
        if best_longer / best_short < GROWTH:
            break
    return best_longer / best_short


def build_text(opening: str, unit: str, characters: int) -> str:
    """Return a text of this length whose end fits no pattern."""
    count = (characters - len(opening)) // len(unit)
    return f"{opening}{unit * count}\x01"


def measure(reader: Reader, text: str) -> float:
    started = time.process_time()
    reader.read(text)
    return time.process_time() - started
