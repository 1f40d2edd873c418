"""What the words of a statement show without a model: whose state it tells, and what of it.

A statement supersedes another one only if it tells of the same speaker's present. The cues
come from each language's `[changes]`; a language without that table shows none of them,
and its statements change only by meaning and by what models, people and the graph say.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache, lru_cache

from varve.domain.language.languages import Language, installed_languages
from varve.domain.language.phrases import Phrases, any_of, fold_apostrophes
from varve.domain.language.tokens import fold, words
from varve.domain.language.word_lists import WordLists
from varve.domain.statements.texts.particulars import (
    Particulars,
    read_particulars,
)

MAX_CACHED_TEXTS = 8_192
TOPIC = "topic "
SEVERAL = "several "
"""The prefixes of the name of a topic, and of an attribute of several values, among the lists."""
GUARDS = ("supposed", "almost", "refused", "reported", "visiting", "past")
STRONG = frozenset({"correcting", "ending", "changing", "fixing"})
PASSING = frozenset({"supposed", "visiting", "past"})
"""Lists whose phrases concern one clause: another clause may tell what holds."""
_CLAUSES = re.compile(r"[,.;:!?()]+|\s(?:and|but|y|pero)\s", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[?¿!…:;\n]|\.(?:\s|$)")
_SENTENCES = re.compile(r"[^.!?…]+[.!?…]*")
_PARTS = re.compile(r"[,;:]\s|\s[-–—]+\s|(?=¿)")
"""Borders between the clauses of a question."""
MIN_STATED = 3
"""A clause beside a question states something if it has so many telling words."""
MOST_PRESENT = 4
"""More words of the present tense than these tell nothing more."""
CHANGES = ("correcting", "ending", "changing", "fixing", "now")


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one text.

    `found` are the names of the lists of `[changes]` of which it has a phrase; "own" and
    "others" stand for the persons it tells of. `topics` are its everyday topics.
    `persons` are the other persons that it names, as written. `firm` are the names found
    in the clauses that tell of no wish, visit or bygone times. `present` counts its words
    of the present tense. `begins_with_other`: it begins with another person, as "My sister
    moved" does.
    """

    found: frozenset[str]
    firm: frozenset[str]
    topics: frozenset[str]
    persons: frozenset[str]
    asks: bool
    present: int
    begins_with_other: bool
    particulars: Particulars

    def has(self, name: str) -> bool:
        """Return whether the text has a phrase of this list."""
        return name in self.found

    @property
    def tells_name(self) -> bool:
        """Whether the text has a name behind its first telling word."""
        return any(word.named for word in self.particulars.telling[1:])

    @property
    def may_tell_value(self) -> bool:
        """Whether the text has a speaker, a change, a name, a number or a date.

        "The kiln is hot" has none: it ends nothing that was said of the kiln.
        """
        told = self.particulars
        has_value = self.tells_name or bool(told.numbers or told.dates)
        return has_value or self.has("own") or self.tells_change

    @property
    def adds(self) -> bool:
        """Whether the text tells a state beside another one: "I also work at Initech"."""
        return self.has("adding") and not self.tells_change

    @property
    def is_strong(self) -> bool:
        """Whether the text tells a correction, an end, a change or a repair."""
        return not self.found.isdisjoint(STRONG)

    @property
    def tells_change(self) -> bool:
        """Whether the text tells a change, an end, a correction or the present."""
        return any(name in self.found for name in CHANGES)


@dataclass(frozen=True, slots=True)
class _Reader:
    """The lists of one language: all of them, those of one's own person, other persons."""

    lists: WordLists
    phrases: Phrases
    own: Phrases
    persons: re.Pattern[str]
    present: re.Pattern[str]

    def find(self, text: str) -> tuple[set[str], set[str]]:
        """Return the names of the lists that the text has, and the persons in it."""
        if self.lists.only_without_accents and not text.isascii():
            text = _WORD.sub(self._drop_accented, text)
        names = set(self.phrases.find(text))
        folded = fold_apostrophes(text)
        persons = {match[0] for match in self.persons.finditer(folded)}
        if persons and "own" in names:
            alone = self.persons.sub(" ", folded)
            if not self.own.find(alone):
                names.discard("own")
        return names, persons

    def _drop_accented(self, found: re.Match[str]) -> str:
        """Return a word, but "" for one like "sí", which is no "si"."""
        word = found[0]
        plain = fold(word)
        if word.casefold() == plain:
            return word
        return "" if plain in self.lists.only_without_accents else word

    def begins_with_other(self, folded: str) -> bool:
        """Return whether at most one word of no own person stands before another one."""
        person = self.persons.search(folded)
        if person is None or " " not in person[0]:
            return False
        before = folded[: person.start()]
        return len(words(before)) <= 1 and not self.own.find(before)

    def count_present(self, folded: str) -> int:
        """Return how many words of the present tense a folded text has."""
        return len(self.present.findall(folded))


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def read_cues(text: str) -> Cues:
    """Return the cues of a text in the language that most of its words belong to."""
    found: set[str] = set()
    persons: set[str] = set()
    present = 0
    begins_with_other = False
    folded = fold_apostrophes(text)
    for reader in _choose_readers(text):
        more, others = reader.find(text)
        found |= more
        persons |= others
        present = max(present, reader.count_present(folded))
        begins_with_other |= reader.begins_with_other(folded)
    topics = {
        name.removeprefix(TOPIC) for name in found if name.startswith(TOPIC)
    }
    particulars = read_particulars(text)
    return Cues(
        found=frozenset(name for name in found if not name.startswith(TOPIC)),
        firm=frozenset(_find_firm(text, found)),
        topics=frozenset(topics),
        persons=frozenset(persons),
        asks=particulars.asks and _only_asks(text),
        present=present,
        begins_with_other=begins_with_other,
        particulars=particulars,
    )


def _only_asks(text: str) -> bool:
    """Return whether no clause of a text states anything beside its questions.

    "Prod is on Postgres 13.4, can I use MERGE there?" states something.
    """
    for sentence in _SENTENCES.findall(text):
        parts = [sentence]
        if read_particulars(sentence).asks:
            parts = [part for part in _PARTS.split(sentence) if part][:-1]
        if any(_states(part) for part in parts):
            return False
    return True


def _states(part: str) -> bool:
    """Return whether a part of a text does not begin like a question, and says enough."""
    if _asking().match(fold_apostrophes(part).strip()):
        return False
    told = read_particulars(part)
    count = len(told.telling) + len(told.numbers) + len(told.dates)
    return count >= MIN_STATED


@cache
def _asking() -> re.Pattern[str]:
    """Return the words of all languages with which a question begins."""
    words = join_phrases(lambda language: language.questions.asking)
    return re.compile(rf"(?:{words})(?!\w)")


def _find_firm(text: str, found: set[str]) -> set[str]:
    """Return the names found in the clauses without a phrase of `PASSING`."""
    if found.isdisjoint(PASSING):
        return found
    firm: set[str] = set()
    for clause in _CLAUSES.split(text):
        for reader in _choose_readers(text):
            names, _ = reader.find(clause)
            if names.isdisjoint(PASSING):
                firm |= names
    return firm


def asks_openly(question: str) -> bool:
    """Return whether a question asks who, where or how much, not whether something is so."""
    return _open_question().match(fold_apostrophes(question)) is not None


@cache
def _open_question() -> re.Pattern[str]:
    """Return a beginning with a question word of any language: "In which city"."""
    words = join_phrases(
        lambda language: (
            *language.questions.opening,
            *language.questions.aimed,
        )
    )
    return re.compile(rf"\W*(?:\w+\W+){{0,2}}(?:{words})\b")


def restore_question_mark(text: str) -> str:
    """Return a question with the mark that it lacks: "what am i allergic to"."""
    if _SENTENCE_END.search(text) or not _beginning_question().match(text):
        return text
    return f"{text}?"


@cache
def _beginning_question() -> re.Pattern[str]:
    """Return the words of all languages with which a question begins, after "in" or "a"."""
    words = join_phrases(
        lambda language: (
            *language.questions.opening,
            *language.questions.asks_when,
        )
    )
    return re.compile(rf"(?i)(?:\w{{1,2}}\s+)?(?:{words})\b")


def asks_past(question: str) -> bool:
    """Return whether a question asks for bygone times."""
    return "asks_past" in read_cues(question).found


def split_at_change(question: str) -> tuple[str, str]:
    """Return what a folded question asks for, and the change before which it held.

    Of "Where did I live before I moved?" they are "where did i live " and " i moved". The
    change is "" if the question names none.
    """
    folded = fold_apostrophes(question)
    found = _changes_named().search(folded)
    if found is None:
        return folded, ""
    return folded[: found.start()], folded[found.end() :]


@cache
def _changes_named() -> re.Pattern[str]:
    """Return the words of all languages after which a change is named."""
    words = join_phrases(lambda language: language.changes.asks_before)
    return re.compile(rf"(?<!\w)(?:{words})(?=\s+\w)")


def join_phrases(read: Callable[[Language], Iterable[str]]) -> str:
    """Return one pattern of a list of all languages."""
    patterns: list[str] = []
    for language in installed_languages():
        patterns += read(language)
    return "|".join(patterns)


def compile_phrases(
    read: Callable[[Language], Iterable[str]],
) -> re.Pattern[str]:
    """Return the pattern of the phrases of a list of all languages, as whole words."""
    return re.compile(rf"(?<!\w)(?:{join_phrases(read)})(?!\w)")


@cache
def words_of_present() -> re.Pattern[str]:
    """Return the words of the present tense of all languages, in folded text."""
    return compile_phrases(lambda language: language.changes.present)


def _choose_readers(text: str) -> list[_Reader]:
    """Return the readers of the language with most stop words in the text; ties are kept."""
    said = words(text)
    counts = [one.lists.count_stop_words(said) for one in _readers()]
    greatest = max(counts, default=0)
    pairs = zip(_readers(), counts, strict=True)
    return [reader for reader, count in pairs if count == greatest]


@cache
def _readers() -> tuple[_Reader, ...]:
    """Return a reader for each language that has `[changes]`."""
    every = (_build_reader(language) for language in installed_languages())
    return tuple(reader for reader in every if reader)


def _build_reader(language: Language) -> _Reader | None:
    table = asdict(language.changes)
    topics = table.pop("topics")
    several = table.pop("several")
    if not table["own"]:
        return None
    present = "|".join(table.pop("present"))
    doers, happening = table.pop("doers"), table.pop("happening")
    for name in ("qualifying", "theirs"):  # they show nothing alone
        del table[name]
    event = any_of(doers) + any_of(happening)
    correcting = [one.replace("{event}", event) for one in table["correcting"]]
    lists = {
        **table,
        "correcting": correcting,
        "happening": [event] if happening else (),
        **{TOPIC + name: words for name, words in topics.items()},
        **{SEVERAL + name: words for name, words in several.items()},
    }
    others = "|".join(table["others"])
    return _Reader(
        lists=language.words,
        phrases=Phrases(lists),
        own=Phrases({"own": table["own"]}),
        persons=re.compile(rf"(?<!\w)(?:{others})(?!\w)"),
        present=re.compile(rf"(?<!\w)(?:{present})(?!\w)"),
    )
