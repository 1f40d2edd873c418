"""Reads one sentence by a language's table of rules; nothing comes of a sentence in doubt."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from varve.domain.language.dates import Span
from varve.domain.language.statements import Lean
from varve.domain.names import normalized
from varve.domain.rules.persons import possessive
from varve.domain.rules.rule import Change, LanguageRules, Rule, Values, values
from varve.domain.rules.sentences import QUOTED, Sentence
from varve.domain.rules.values import listed
from varve.domain.triple import SINGLE_VALUED, Op

ASKED_IMPORTANCE = 0.9
LISTS = {"{things}", "{languages}", "{languages_english}"}


@dataclass(frozen=True, slots=True)
class Statement:
    """What a rule made of a clause. `changes` have no templates left; `fact` may be empty."""

    fact: str
    changes: tuple[Change, ...]
    importance: float
    confidence: float
    about: str
    when: Span | None
    clause: str
    values: Values
    rule: Rule | None
    said: date


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
"""Triples name a day in English in every language, so that one birthday is one value."""


_CODES = ("code", "number", "any_code")
_OWN_NAME = ("name", "full_name", "two_names", "person")


class _Parts(dict[str, str]):
    """A template's parts; a missing one is empty."""

    def __missing__(self, key: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one language."""

    language: LanguageRules

    def read(self, sentence: Sentence, who: str, said: date) -> list[Statement]:
        """Return the sentence's statements about its speaker, in order."""
        text, language = sentence.text, self.language
        if not language.hint.search(text) or text.isupper():
            return []
        forget = language.forget.match(text)
        if forget:
            return self._forgotten(forget["body"], who, said)
        remember = language.remember.match(text)
        if remember:
            return self._remembered(remember["body"], who, said)
        stated = self.stated(self._told_part(sentence), who, said)
        return _distinct([*stated, *self.mentioned(text, who, said)])

    def _told_part(self, sentence: Sentence) -> str:
        """Return what a sentence tells before it asks; nothing where all of it asks."""
        if not sentence.asks:
            return sentence.text
        told = self.language.asking.split(sentence.text, maxsplit=1)[0]
        return "" if told == sentence.text else told

    def familiarity(self, sentence: Sentence) -> int:
        """Return how many of the sentence's words are among the language's commonest."""
        return len(self.language.common.findall(sentence.text))

    def stated(self, text: str, who: str, said: date) -> list[Statement]:
        """Return what the clauses state, each by the first rule that fits it."""
        if self.language.doubt.search(text):
            return []
        found = (
            self.clause_stated(clause, who, said) for clause in self._clauses(text)
        )
        return [statement for statement in found if statement]

    def _clauses(self, text: str) -> Iterator[str]:
        """Yield the clauses, each of which may state something; "Last Friday, …" joins the next one."""
        before = ""
        for clause in self.language.clause.split(text):
            opened = self.language.opening.sub("", clause, count=1)
            if self.language.dates.scan.fullmatch(opened):
                before = f"{clause}, "
                continue
            yield before + clause
            before = ""

    def clause_stated(self, clause: str, who: str, said: date) -> Statement | None:
        """Return what the first rule that fits makes of the clause."""
        opened = self.language.opening.sub("", clause, count=1)
        for rule in self.language.rules:
            found = None if rule.anywhere else rule.pattern.match(opened)
            if found is None:
                continue
            statement = self._statement(rule, found, clause, who, said)
            if statement is not None:
                return statement
        return None

    def mentioned(self, text: str, who: str, said: date) -> Iterator[Statement]:
        """Yield names and numbers that a sentence takes for granted, even one that asks."""
        if self.language.unreal.search(text):
            return
        for rule in self.language.rules:
            if not rule.anywhere:
                continue
            for found in rule.pattern.finditer(text):
                statement = self._statement(rule, found, text, who, said)
                if statement is not None:
                    yield statement

    def _forgotten(self, body: str, who: str, said: date) -> list[Statement]:
        """Return the ending of what the body states or names; never a fact."""
        stated = self.stated(body, who, said) or list(self.mentioned(body, who, said))
        changes: list[Change] = []
        for statement in stated:
            changes += (one for one in statement.changes if one.op is not Op.DELETE)
        predicate = self.language.forgettable.get(body.lower())
        if predicate:
            changes = [Change(Op.DELETE, predicate, "", who)]
        if not changes:
            return []
        ended = tuple(replace(change, op=Op.DELETE, replaces="") for change in changes)
        return [Statement("", ended, 0.0, 0.9, who, None, body, {}, None, said)]

    def _remembered(self, body: str, who: str, said: date) -> list[Statement]:
        """Return what the body states, else the body itself, about the speaker where that is safe."""
        if QUOTED in body or len(body.split()) < 3:
            return []
        stated = self.stated(body, who, said) or list(self._kept(body, who, said))
        important = [
            replace(s, importance=max(ASKED_IMPORTANCE, s.importance)) for s in stated
        ]
        return _distinct([*important, *self.mentioned(body, who, said)])

    def _kept(self, body: str, who: str, said: date) -> Iterator[Statement]:
        """Yield the body as a fact, unless it begins with a word like "it", which needs its context."""
        if self.language.dangling.match(body):
            return
        told = self.language.third_person(body, who)
        when = self.language.dates.find(body, said, Lean.NONE)
        fact = (told + ".") if told else self.language.asked.format(who=who, body=body)
        fact = self._dated(fact, when)
        if when is None and self.language.dates.loose.search(body):
            said_on = self.language.said_on.format(said.isoformat())
            fact = f"{fact[:-1]} ({said_on}){fact[-1]}"
        yield Statement(
            fact, (), ASKED_IMPORTANCE, 0.9, who, when, body, {}, None, said
        )

    def _statement(
        self, rule: Rule, found: re.Match[str], clause: str, who: str, said: date
    ) -> Statement | None:
        """Return what a rule makes of its match; None: a value cannot stand, or the tense is wrong."""
        parts = values(found, self.language.slots)
        if parts is None:
            return None
        when = self._when(rule, parts, clause, said)
        if when is not None and _wrong_side(when, rule.lean, said):
            return None
        if _lacks_day(parts, when) or _names_speaker(parts, who):
            return None
        filled = _Parts(parts, who=who, whose=possessive(who))
        changes: list[Change] = []
        for change in rule.changes:
            changes += _filled(change, filled)
        about = changes[-1].subject if changes else who
        fact = self._dated(rule.fact.format_map(filled) + ".", when)
        return Statement(
            fact,
            tuple(changes),
            rule.importance,
            rule.confidence,
            about,
            when,
            clause,
            parts,
            rule,
            said,
        )

    def _when(self, rule: Rule, parts: Values, clause: str, said: date) -> Span | None:
        """Return the time the clause speaks of, if its rule looks for one."""
        dates = self.language.dates
        if "birthdate" in parts:
            self._add_birthday(
                parts, dates.resolve(parts["birthdate"], said, rule.lean)
            )
            return None
        if rule.lean is Lean.NONE:
            return None
        named = parts.get("date")
        if named:
            return dates.resolve(named, said, rule.lean)
        return dates.find(clause, said, rule.lean)

    def _add_birthday(self, parts: Values, when: Span | None) -> None:
        if when is None or when.unit != "day":
            return
        day = when.first
        year, of_year = "", ""
        if str(day.year) in parts["birthdate"]:
            year, of_year = f" {day.year}", f" de {day.year}"
        parts["birthday"] = f"{day.day} {_MONTHS[day.month - 1]}{year}"
        month = self.language.months[day.month - 1]
        parts["day_name"] = self.language.day_name.format(
            day=day.day, month=month, year=year, of_year=of_year
        )

    def _dated(self, fact: str, when: Span | None) -> str:
        """Return the fact with its day, week, month or year after it, unless it names that already."""
        if when is None:
            return fact
        monday = when.first - timedelta(days=when.first.weekday())
        labels = {
            "week": self.language.week_of.format(monday.isoformat()),
            "month": f"{when.first:%Y-%m}",
            "year": f"{when.first:%Y}",
        }
        label = labels.get(when.unit, when.first.isoformat())
        return fact if label in fact else f"{fact[:-1]} ({label}){fact[-1]}"


def _lacks_day(parts: Values, when: Span | None) -> bool:
    """Return whether a date or a birthday of the clause means no day."""
    if "date" in parts and when is None:
        return True
    return "birthdate" in parts and "birthday" not in parts


def _names_speaker(parts: Values, who: str) -> bool:
    """Return whether a name in the clause is the one the speaker has already."""
    return normalized(who) in {normalized(parts.get(slot, "")) for slot in _OWN_NAME}


def _wrong_side(when: Span, lean: Lean, said: date) -> bool:
    """Return whether the time contradicts the tense: then the clause means something else."""
    return when.first > said if lean is Lean.PAST else when.last < said


def _filled(change: Change, parts: Mapping[str, str]) -> Iterator[Change]:
    """Yield the change with its templates filled in, one for each member of a list."""
    whole = change.object.format_map(parts)
    if change.object and not whole:
        return
    predicate = change.predicate.format_map(parts)
    op = Op.UPDATE if change.op is Op.ADD and predicate in SINGLE_VALUED else change.op
    for value in listed(whole) if change.object in LISTS else [whole]:
        yield Change(
            op, predicate, value,
            change.subject.format_map(parts), change.replaces.format_map(parts),
        )  # fmt: skip


def _distinct(statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements but for those that only mention what an earlier one says."""
    kept: list[Statement] = []
    known: set[object] = set()
    for statement in statements:
        codes = {statement.values[slot] for slot in _CODES if slot in statement.values}
        says: set[object] = {*codes} or {*statement.changes} or {statement.fact}
        if not says <= known:
            kept.append(statement)
        known |= says
    return kept
