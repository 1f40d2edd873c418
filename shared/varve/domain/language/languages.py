"""The languages that Varve reads, each one a file of data in the folder `data`.

A file adds a language: no code names one. `common.toml` holds what all of them share.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain, zip_longest
from typing import Any

from varve.domain.language.forgetting_words import ForgettingWords
from varve.domain.language.question_words import Questions
from varve.domain.language.tellings import Tellings
from varve.domain.language.word_lists import NameWords, WordLists

Words = tuple[str, ...]
WordsByName = Mapping[str, Sequence[str]]

_COMMON = "common.toml"
_LISTS_BY_NUMBER = (
    "months",
    "short_months",
    "weekdays",
    "quarters",
    "seasons",
)
_PLAIN_LISTS = ("only_with_accents", "refused")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A phrase that looks like a time and is left alone, because it may mean something else.

    Five patterns, of which an empty one admits everything. `form` and `lead` match at the beginning
    of an expression's form and of its preposition. `phrase` and `behind` match at the beginning of
    the expression and of the text after it. `before` is searched in the text before it. `example`
    is a text that holds a refused expression.
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

    `months`, `short_months`, `weekdays` (from Monday), `quarters` and `seasons` (from spring) have a
    list of names for each member; a short name counts only beside a day. `units`, `numbers`,
    `vague_numbers` (by their middle), `ordinals` (from the end below 0), `turns` (last, this, next),
    `turns_after` (those that may also stand behind), `holidays` (by their first and last day, "12-31
    01-01"), `day_words` (of the month) and `fixed` ("-1 day") have words by meaning.
    `forms` and `joins` are patterns, `leads` prepositions by kind, `words` further patterns
    that the forms name in braces. `needs` are the kinds of prepositions without which a form tells
    no time.
    """

    months: tuple[Words, ...] = ()
    short_months: tuple[Words, ...] = ()
    weekdays: tuple[Words, ...] = ()
    quarters: tuple[Words, ...] = ()
    seasons: tuple[Words, ...] = ()
    only_with_accents: Words = ()
    units: WordsByName = field(default_factory=dict)
    numbers: WordsByName = field(default_factory=dict)
    vague_numbers: WordsByName = field(default_factory=dict)
    ordinals: WordsByName = field(default_factory=dict)
    turns: WordsByName = field(default_factory=dict)
    turns_after: WordsByName = field(default_factory=dict)
    holidays: WordsByName = field(default_factory=dict)
    day_words: WordsByName = field(default_factory=dict)
    fixed: WordsByName = field(default_factory=dict)
    forms: WordsByName = field(default_factory=dict)
    leads: WordsByName = field(default_factory=dict)
    joins: WordsByName = field(default_factory=dict)
    words: WordsByName = field(default_factory=dict)
    needs: WordsByName = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementTimes:
    """How a language's statements tell times.

    `times` are the forms, in their order of trial, and names that only statements have. `not_after`
    are words after which an expression is no time of the statement, such as "until".
    """

    times: Times
    not_after: Words = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Patterns, in folded text, by which speakers tell what holds and what has changed.

    - `own`, `others`: of whom a statement tells, the speaker or other persons.
    - `supposed`, `almost`, `refused`, `coming`, `reported`, `visiting`, `past`: it tells of nothing
      that holds now: a condition or wish, a change that nearly came, was refused or is
      still to come, another's words, a visit, bygone times.
    - `correcting`, `ending`, `changing`, `fixing`: it corrects a statement, tells the end
      of a state, a change, a repair. `now`: it tells the present state. `present` are
      words of the present tense.
    - `adding`: it tells a state beside another one, as "I also work at" does.
    - `echoing`: it acknowledges what the other one said.
    - `confirming`: it tells that a state goes on.
    - `relating`: follows a name, and what that person told of themselves follows it.
    - `exchanging`: it names what it changes for something else, as "switched from" does.
    - `placing`: it says where one lives or works, as "live in" does.
    - `qualifying`: a place or owner follows it, which tells one thing from another.
    - `theirs`: the thing of another person named before it follows it.
    - `harming`: it tells an allergy or intolerance, which only words about that end.
    - `diets`: it tells a way to eat, which may end while an allergy beside it holds.
    - `forgetting`: it asks to forget something. `reminding`: it asks to be reminded, or
      tells that something was forgotten.
    - `happening`, behind one of the `doers`: it tells what was done once, as "I bought" does;
      `asks_event`: a question asks for that. In `correcting`, `{event}` stands for both.
    - `asks_past`: a question asks for bygone times; `asks_help`: for help or knowledge;
      `asks_memory`: for what is known or was told.
    - `asks_before`: in such a question the change follows that ended what is asked for.

    `topics` are words of everyday topics, such as "home", by topic. `several` are words, by
    attribute or topic, that tell that attribute and are none of its values: "speak".
    """

    own: Words = ()
    others: Words = ()
    supposed: Words = ()
    almost: Words = ()
    refused: Words = ()
    coming: Words = ()
    reported: Words = ()
    visiting: Words = ()
    past: Words = ()
    correcting: Words = ()
    ending: Words = ()
    changing: Words = ()
    fixing: Words = ()
    now: Words = ()
    present: Words = ()
    recent: Words = ()
    adding: Words = ()
    echoing: Words = ()
    confirming: Words = ()
    relating: Words = ()
    forgetting: Words = ()
    harming: Words = ()
    exchanging: Words = ()
    placing: Words = ()
    qualifying: Words = ()
    theirs: Words = ()
    diets: Words = ()
    reminding: Words = ()
    doers: Words = ()
    happening: Words = ()
    asks_event: Words = ()
    asks_past: Words = ()
    asks_before: Words = ()
    asks_help: Words = ()
    asks_memory: Words = ()
    topics: Mapping[str, Words] = field(default_factory=dict)
    several: Mapping[str, Words] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KindWords:
    """An everyday kind of things: the words that ask for it, and words of it, without accents."""

    asked_by: Words
    members: Words


@dataclass(frozen=True, slots=True)
class Language:
    """All data of one language.

    A word of several languages has the meaning of the language with the lowest `order`. `rules` names
    the module in `domain/rules` with the language's extraction rules; empty if it has none.
    `courtesies` are patterns of phrases that greet, thank or acknowledge; those of
    `addressed` may be followed by the name of the one spoken to. `relatives` are the folded
    words of a relation, such as "mother", which all languages name alike. `irregular` has the
    forms of verbs, folded, that their stem does not show. `respelt` has words
    that may be another one without their apostrophe or accents, and the pattern of the place
    where they are none. `unsaid` has the words
    that writers in haste leave out at the beginning of a message, such as "I", with the
    pattern of what follows.
    """

    code: str
    name: str
    order: int
    rules: str = ""
    courtesies: Words = ()
    addressed: Words = ()
    words: WordLists = field(default_factory=WordLists)
    times: Times = field(default_factory=Times)
    statements: StatementTimes | None = None
    questions: Questions = field(default_factory=Questions)
    names: NameWords = field(default_factory=NameWords)
    kinds: Mapping[str, KindWords] = field(default_factory=dict)
    relatives: WordsByName = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    irregular: Mapping[str, str] = field(default_factory=dict)
    respelt: Mapping[str, str] = field(default_factory=dict)
    unsaid: Mapping[str, str] = field(default_factory=dict)
    forgetting: ForgettingWords = field(default_factory=ForgettingWords)
    tellings: Tellings = field(default_factory=Tellings)


_TIMES_FIELDS = [one.name for one in fields(Times)]


@cache
def installed_languages() -> tuple[Language, ...]:
    """Return the languages that come with the package, by order."""
    return read_languages(_data_folder())


def installed_language(code: str) -> Language:
    """Return the language of a code such as "en". Raises KeyError: there is none."""
    by_code = {language.code: language for language in installed_languages()}
    return by_code[code]


def _data_folder() -> Traversable:
    return files(__package__) / "data"


@cache
def common_times() -> Times:
    """Return the forms of times that all languages share."""
    table = _read_table(_data_folder() / _COMMON)
    return _read_times(table["times"])


def read_languages(folder: Traversable) -> tuple[Language, ...]:
    """Read every language of a folder, by order.

    Raises ValueError: a file has an unknown field or lacks a needed one; names the file.
    """
    languages: list[Language] = []
    for path in folder.iterdir():
        if path.name.endswith(".toml") and path.name != _COMMON:
            languages.append(_read_language(path))
    languages.sort(key=lambda language: (language.order, language.code))
    return tuple(languages)


def _read_language(path: Traversable) -> Language:
    table = _read_table(path)
    lists = table.pop("words", {})
    times = table.pop("times", {})
    statements = table.pop("statements", None)
    questions = table.pop("questions", {})
    names = table.pop("names", {})
    kinds = table.pop("kinds", {})
    changes = table.pop("changes", {})
    forgetting = table.pop("forgetting", {})
    tellings = table.pop("tellings", {})
    try:
        return Language(
            code=path.name.removesuffix(".toml"),
            words=_read_words(lists),
            times=_read_times(times),
            statements=_read_statements(statements),
            questions=Questions(**_freeze(questions)),
            names=NameWords(**_freeze(names)),
            kinds={name: _read_kind(kind) for name, kind in kinds.items()},
            changes=Changes(**_freeze(changes)),
            forgetting=ForgettingWords(**_freeze(forgetting)),
            tellings=Tellings(**tellings),
            **_freeze(table),
        )
    except TypeError as wrong:
        raise ValueError(f"{path.name}: {wrong}") from wrong


def _read_words(table: dict[str, str]) -> WordLists:
    stemmer = table.pop("stemmer", "")
    lists: dict[str, frozenset[str]] = {}
    for name, text in table.items():
        lists[name] = frozenset(text.split())
    return WordLists(stemmer, **lists)


def _read_kind(table: dict[str, str]) -> KindWords:
    lists: dict[str, Words] = {}
    for name, text in table.items():
        lists[name] = tuple(text.split())
    return KindWords(**lists)


def _read_table(path: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise ValueError(f"{path.name}: {wrong}") from wrong


def _read_statements(table: dict[str, Any] | None) -> StatementTimes | None:
    if not table:
        return None
    not_after = tuple(table.pop("not_after", ()))
    return StatementTimes(_read_times(table), not_after)


def _read_times(table: dict[str, Any]) -> Times:
    rows = table.pop("refused", ())
    refused = tuple(Refusal(**row) for row in rows)
    return Times(**_freeze(table), refused=refused)


def _freeze(value: Any) -> Any:
    """Return TOML's lists as tuples, at every depth."""
    if isinstance(value, dict):
        return {name: _freeze(member) for name, member in value.items()}
    if isinstance(value, list):
        return tuple(_freeze(member) for member in value)
    return value


def merge_times(tables: Iterable[Times]) -> Times:
    """Return the words of several tables as one, in the order of the tables, each word once."""
    listed = list(tables)
    merged: dict[str, Any] = {}
    for field_name in _TIMES_FIELDS:
        values = [getattr(table, field_name) for table in listed]
        if field_name in _LISTS_BY_NUMBER:
            merged[field_name] = _merge_by_number(values)
        elif field_name in _PLAIN_LISTS:
            merged[field_name] = tuple(chain.from_iterable(values))
        else:
            merged[field_name] = gathered(values)
    return Times(**merged)


def _merge_by_number(tables: Iterable[tuple[Words, ...]]) -> tuple[Words, ...]:
    """Return the names of each member, such as January, in all the tables."""
    members = zip_longest(*tables, fillvalue=())
    return tuple(_unique(chain.from_iterable(names)) for names in members)


def _unique(words: Iterable[str]) -> Words:
    return tuple(dict.fromkeys(words))


def gathered(tables: Iterable[WordsByName]) -> dict[str, list[str]]:
    """Return the words of several tables by name, each once, in the order of the tables."""
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, words in table.items():
            known = found.setdefault(name, {})
            known.update(dict.fromkeys(words))
    return {name: list(words) for name, words in found.items()}
