"""The languages that Varve reads, each one a file of data in the folder `data`.

A language is added by adding its file: no code names a language. `common.toml` holds what all of
them share.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

Words = tuple[str, ...]
WordsByName = Mapping[str, Sequence[str]]

_COMMON = "common.toml"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A phrase that looks like a time and is left alone, because it may mean something else.

    `form` and `lead` are patterns for the beginning of an expression's form and of its preposition,
    `before` is searched in the text before it, `phrase` and `behind` match at the beginning of the
    expression and of the text after it. An empty pattern admits everything. `example` is a text
    that holds a refused expression.
    """

    name: str
    example: str
    form: str = ""
    lead: str = ""
    before: str = ""
    phrase: str = ""
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Times:
    """The words and patterns by which texts of a language tell times.

    `months`, `short_months`, `weekdays` (from Monday) and `quarters` have a list of names for each
    member; a short name counts only beside a day. `units`, `numbers`, `turns` (last, this, next),
    `turns_after` (those that may also stand behind) and `fixed` ("-1 day") have words by meaning.
    `forms` and `joins` are patterns, `leads` prepositions by kind, `words` further patterns
    that the forms name in braces. `needs` are the kinds of prepositions without which a form tells
    no time.
    """

    months: tuple[Words, ...] = ()
    short_months: tuple[Words, ...] = ()
    weekdays: tuple[Words, ...] = ()
    quarters: tuple[Words, ...] = ()
    only_with_accents: Words = ()
    units: WordsByName = field(default_factory=dict)
    numbers: WordsByName = field(default_factory=dict)
    turns: WordsByName = field(default_factory=dict)
    turns_after: WordsByName = field(default_factory=dict)
    fixed: WordsByName = field(default_factory=dict)
    forms: WordsByName = field(default_factory=dict)
    leads: WordsByName = field(default_factory=dict)
    joins: WordsByName = field(default_factory=dict)
    words: WordsByName = field(default_factory=dict)
    needs: WordsByName = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Statements:
    """How a language's statements tell times.

    `times` are the forms, in their order of trial, and names that only statements have. `not_after`
    are words after which an expression is no time of the statement, such as "until".
    """

    times: Times
    not_after: Words = ()


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words of a language that say little, without accents, and its Snowball stemmer.

    `stop_words` are words of grammar; `denials` and `addressing` (words by which a speaker speaks of
    the listener) are some of them. `courtesies` mean nothing in a prompt and `fillers` nothing in a
    summary's topics. The lists of `kept_…` are words that count for one reader all the same.
    """

    stemmer: str = ""
    stop_words: frozenset[str] = frozenset()
    denials: frozenset[str] = frozenset()
    addressing: frozenset[str] = frozenset()
    courtesies: frozenset[str] = frozenset()
    fillers: frozenset[str] = frozenset()
    kept_in_prompts: frozenset[str] = frozenset()
    kept_in_lessons: frozenset[str] = frozenset()
    kept_in_topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Questions:
    """Patterns, in lower case, by which a question shows what it asks for.

    `asks_when` and `current` ask for a time and for the present. `opening` words, after a
    `greeting`, begin a question about the present if a word of `present` and none of `past` follows;
    `state_opening` begins one about a `state`. `happened` are words that ask for whatever there was.
    `relative_times` are words of a time relative to the present. `time_marks` are words of any text
    that show a time; `{unit}` in them stands for the `time_units` of all languages.
    """

    asks_when: Words = ()
    current: Words = ()
    greeting: Words = ()
    opening: Words = ()
    present: Words = ()
    past: Words = ()
    state_opening: Words = ()
    state: Words = ()
    happened: Words = ()
    relative_times: Words = ()
    time_marks: Words = ()
    time_units: Words = ()


@dataclass(frozen=True, slots=True)
class NameWords:
    """Words about names: capitalized ones that are none, particles within a name, and "or"."""

    not_names: Words = ()
    particles: Words = ()
    or_: Words = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """An everyday kind of things: the words that ask for it, and words of it, without accents."""

    asked_by: Words
    members: Words


@dataclass(frozen=True, slots=True)
class Language:
    """All data of one language. Of a word that several share, the lowest `order` tells the meaning."""

    code: str
    name: str
    order: int
    words: WordLists = field(default_factory=WordLists)
    times: Times = field(default_factory=Times)
    statements: Statements | None = None
    questions: Questions = field(default_factory=Questions)
    names: NameWords = field(default_factory=NameWords)
    kinds: Mapping[str, Kind] = field(default_factory=dict)


@cache
def installed_languages() -> tuple[Language, ...]:
    """Return the languages that come with the package, by order."""
    return read_languages(files(__package__) / "data")


def installed_language(code: str) -> Language:
    """Return the language of a code such as "en". Raises KeyError: there is none."""
    return {language.code: language for language in installed_languages()}[code]


@cache
def common_times() -> Times:
    """Return the forms of times that all languages share."""
    return _times(_table(files(__package__) / "data" / _COMMON)["times"])


def read_languages(folder: Traversable) -> tuple[Language, ...]:
    """Read every language of a folder, by order.

    Raises ValueError: a file has an unknown field or lacks a needed one; names the file.
    """
    named = (path for path in folder.iterdir() if path.name.endswith(".toml"))
    languages = [_language(path) for path in named if path.name != _COMMON]
    return tuple(
        sorted(languages, key=lambda language: (language.order, language.code))
    )


def _language(path: Traversable) -> Language:
    table = _table(path)
    lists = table.pop("words", {})
    times = table.pop("times", {})
    stated = table.pop("statements", None)
    questions = table.pop("questions", {})
    names = table.pop("names", {})
    kinds = table.pop("kinds", {})
    try:
        return Language(
            code=path.name.removesuffix(".toml"),
            words=_words(lists),
            times=_times(times),
            statements=_statements(stated) if stated else None,
            questions=Questions(**_frozen(questions)),
            names=NameWords(**_frozen(names)),
            kinds={name: _kind(kind) for name, kind in kinds.items()},
            **table,
        )
    except TypeError as wrong:
        raise ValueError(f"{path.name}: {wrong}") from wrong


def _words(table: dict[str, str]) -> WordLists:
    stemmer = table.pop("stemmer", "")
    lists = {name: frozenset(text.split()) for name, text in table.items()}
    return WordLists(stemmer, **lists)


def _kind(table: dict[str, str]) -> Kind:
    return Kind(**{name: tuple(text.split()) for name, text in table.items()})


def _table(path: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise ValueError(f"{path.name}: {wrong}") from wrong


def _statements(table: dict[str, Any]) -> Statements:
    not_after = tuple(table.pop("not_after", ()))
    return Statements(_times(table), not_after)


def _times(table: dict[str, Any]) -> Times:
    refused = tuple(Refusal(**row) for row in table.pop("refused", ()))
    return Times(**_frozen(table), refused=refused)


def _frozen(value: Any) -> Any:
    """Return TOML's lists as tuples, at every depth."""
    if isinstance(value, dict):
        return {name: _frozen(member) for name, member in value.items()}
    if isinstance(value, list):
        return tuple(_frozen(member) for member in value)
    return value


def gathered(tables: Iterable[WordsByName]) -> dict[str, list[str]]:
    """Return the words of several tables by name, each once, in the order of the tables."""
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, words in table.items():
            found.setdefault(name, {}).update(dict.fromkeys(words))
    return {name: list(words) for name, words in found.items()}


def by_number(tables: Sequence[tuple[Words, ...]], first: int) -> dict[str, list[str]]:
    """Return each table's members by number, the first one being `first`, as one table of words."""
    numbered = [
        {str(number): words for number, words in enumerate(table, first)}
        for table in tables
    ]
    return gathered(numbered)
