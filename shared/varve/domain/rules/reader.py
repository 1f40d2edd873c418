"""Reads one sentence by a language's table of rules; a doubtful sentence states nothing."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from varve.domain.day_names import MONTHS
from varve.domain.language.dates import Span
from varve.domain.language.statements import Lean
from varve.domain.rules.filling import (
    TemplateParts,
    add_note,
    contradicts,
    lacks_day,
    list_changes,
    names_speaker,
)
from varve.domain.rules.persons import possessive
from varve.domain.rules.rule import Change, LanguageRules, Rule, Values, values
from varve.domain.rules.sentences import QUOTED, Sentence, cut, repeat_subjects
from varve.domain.triple import Op

ASKED_IMPORTANCE = 0.9


@dataclass(frozen=True, slots=True)
class StatedClause:
    """The fact and the changes that a clause states.

    `changes` have no templates left. `fact` may be empty. `since` is when it began to hold,
    if the clause says so.
    """

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
    since: Span | None = None


_DIGIT = re.compile(r"\d")
_CODES = ("code", "number", "any_code")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one language."""

    language: LanguageRules

    def read(
        self, sentence: Sentence, who: str, said: date
    ) -> list[StatedClause]:
        """Return the sentence's statements about its speaker, in order."""
        text = sentence.text
        if text.isupper() or not self.language.hint.search(text):
            return []
        opened = self.language.opening.sub("", text, count=1)
        forget = self.language.forget.match(opened)
        if forget:
            return self._read_forget_request(forget["body"], who, said)
        remember = self.language.remember.match(text)
        if remember:
            return self._read_remember_request(remember["body"], who, said)
        stated = self._read_clauses(self._telling_part(sentence), who, said)
        mentioned = self.find_mentions(text, who, said)
        return _drop_repeated([*stated, *mentioned])

    def tell_own(self, sentence: Sentence, who: str) -> Sentence:
        """Return the sentence with the first person where it tells of its speaker by name."""
        text = self.language.first_person(sentence.text, who)
        return replace(sentence, text=text)

    def familiarity(self, sentence: Sentence) -> int:
        """Return how many of the sentence's words are among the language's commonest."""
        common = self.language.common.findall(sentence.text)
        return len(common)

    def read_clause(
        self, clause: str, who: str, said: date
    ) -> StatedClause | None:
        """Return what the first rule that fits makes of the clause."""
        opened = self.language.opening.sub("", clause, count=1)
        for rule in self.language.clause_rules:
            found = rule.match(opened)
            if found is None:
                continue
            statement = self._apply_rule(rule, found, clause, who, said)
            if statement is not None:
                return statement
        return None

    def find_mentions(
        self, text: str, who: str, said: date
    ) -> Iterator[StatedClause]:
        """Yield names and numbers that a sentence takes for granted, even one that asks."""
        if self.language.unreal.search(text):
            return
        has_digit = _DIGIT.search(text) is not None
        for rule in self.language.mention_rules:
            if rule.has_number and not has_digit:
                continue
            for found in rule.find_all(text):
                statement = self._apply_rule(rule, found, text, who, said)
                if statement is not None:
                    yield statement

    def _telling_part(self, sentence: Sentence) -> str:
        """Return the part of a sentence before its question; "" if all of it asks."""
        if not sentence.asks:
            return sentence.text
        told = self.language.asking.split(sentence.text, maxsplit=1)[0]
        return "" if told == sentence.text else told

    def _read_clauses(
        self, text: str, who: str, said: date
    ) -> list[StatedClause]:
        """Return what the clauses state, each by the first rule that fits it."""
        # An opening such as "as I told you" is no doubt.
        if self.language.doubt.search(
            self.language.opening.sub("", text, count=1)
        ):
            return []
        statements: list[StatedClause] = []
        text = repeat_subjects(text, self.language.shared_subjects)
        for clause in self._split_clauses(text):
            statement = self.read_clause(clause, who, said)
            if statement is not None:
                statements.append(statement)
        return statements

    def _split_clauses(self, text: str) -> Iterator[str]:
        """Yield the clauses.

        An opening or a time alone ("Also, …", "Last Friday, …") and a person alone ("Ana and I
        …") belong to the next one.
        """
        before = ""
        for clause in cut(text, self.language.clause, self.language.together):
            opened = self.language.opening.sub("", f"{clause}, ", count=1)
            opened = opened.removesuffix(", ")
            if not opened or self.language.dates.scan.fullmatch(opened):
                before = f"{clause}, "
                continue
            if self.language.beside.fullmatch(opened):
                before = self.language.and_.format(clause)
                continue
            yield before + clause
            before = ""

    def _read_requested(
        self, body: str, who: str, said: date
    ) -> list[StatedClause]:
        """Return what the body of a request states, else its mentions."""
        stated = self._read_clauses(body, who, said)
        if stated:
            return stated
        return list(self.find_mentions(body, who, said))

    def _read_forget_request(
        self, body: str, who: str, said: date
    ) -> list[StatedClause]:
        """Return the ending of all that the body states or names; never a fact."""
        ended = [
            Change(Op.DELETE, predicate, "", who)
            for predicate in self.language.find_forgettable(body)
        ]
        if not ended:
            ended = _end_changes(self._read_requested(body, who, said))
        if not ended:
            return []
        ending = StatedClause(
            fact="",
            changes=tuple(ended),
            importance=0.0,
            confidence=0.9,
            about=who,
            when=None,
            clause=body,
            values={},
            rule=None,
            said=said,
        )
        return [ending]

    def _read_remember_request(
        self, body: str, who: str, said: date
    ) -> list[StatedClause]:
        """Return what the body states, else the body itself, if it can stand alone."""
        if QUOTED in body or len(body.split()) < 3:
            return []
        stated = self._read_clauses(body, who, said)
        if not stated:
            stated = self._keep_body(body, who, said)
        important: list[StatedClause] = []
        for statement in stated:
            importance = max(ASKED_IMPORTANCE, statement.importance)
            important.append(replace(statement, importance=importance))
        mentioned = self.find_mentions(body, who, said)
        return _drop_repeated([*important, *mentioned])

    def _keep_body(
        self, body: str, who: str, said: date
    ) -> list[StatedClause]:
        """Return the body as a fact, unless a word like "it" at its beginning needs the context."""
        if self.language.dangling.match(body):
            return []
        when = self.language.dates.find(body, said, Lean.NONE)
        fact = self._add_date(self._tell_request(body, who), when)
        if when is None and self.language.dates.loose.search(body):
            said_on = self.language.said_on.format(said.isoformat())
            fact = add_note(fact, said_on)
        kept = StatedClause(
            fact=fact,
            changes=(),
            importance=ASKED_IMPORTANCE,
            confidence=0.9,
            about=who,
            when=when,
            clause=body,
            values={},
            rule=None,
            said=said,
        )
        return [kept]

    def _tell_request(self, body: str, who: str) -> str:
        """Return the body in the third person, else quoted as a request."""
        told = self.language.third_person(body, who)
        if told:
            return f"{told}."
        return self.language.asked.format(who=who, body=body)

    def _apply_rule(
        self,
        rule: Rule,
        found: re.Match[str],
        clause: str,
        who: str,
        said: date,
    ) -> StatedClause | None:
        """Return what a rule makes of its match.

        None: a slot refuses its value, or the tense contradicts the time.
        """
        parts = values(found, self.language.slots)
        if parts is None:
            return None
        when = self._find_time(rule, parts, clause, said)
        if when is not None and contradicts(when, rule.lean, said):
            return None
        if lacks_day(parts, when) or names_speaker(parts, who):
            return None
        filled = TemplateParts(parts, who=who, whose=possessive(who))
        changes = list_changes(rule, filled, clause)
        about = changes[-1].subject if changes else who
        since = self._find_beginning(rule, clause, said)
        fact = ""
        if rule.fact:
            told = f"{rule.fact.format_map(filled)}."
            fact = self._add_beginning(self._add_date(told, when), since)
        return StatedClause(
            fact=fact,
            changes=tuple(changes),
            importance=rule.importance,
            confidence=rule.confidence,
            about=about,
            when=when,
            clause=clause,
            values=parts,
            rule=rule,
            said=said,
            since=since,
        )

    def _find_beginning(
        self, rule: Rule, clause: str, said: date
    ) -> Span | None:
        """Return since when a state holds, if its clause says so."""
        found = self.language.since.search(clause)
        if found is None or rule.lean is not Lean.NONE or not rule.changes:
            return None
        time = found["time"]
        within = self.language.within.format(time)
        dates = self.language.dates
        for text in (time, within):
            begun = dates.resolve(text, said, Lean.PAST)
            if begun is not None and begun.first <= said:
                return begun
        return None

    def _find_time(
        self, rule: Rule, parts: Values, clause: str, said: date
    ) -> Span | None:
        """Return the time of the clause, if its rule looks for one."""
        dates = self.language.dates
        if "birthdate" in parts:
            birthday = dates.resolve(parts["birthdate"], said, rule.lean)
            self._add_birthday(parts, birthday)
            return None
        if rule.lean is Lean.NONE:
            return None
        named = parts.get("date")
        if named:
            return dates.resolve(named, said, rule.lean)
        return dates.find(clause, said, rule.lean)

    def _add_birthday(self, parts: Values, when: Span | None) -> None:
        """Add the birthday's values to the parts, if it is one day."""
        if when is None or when.unit != "day":
            return
        day = when.first
        year = ""
        of_year = ""
        if str(day.year) in parts["birthdate"]:
            year = f" {day.year}"
            of_year = f" de {day.year}"
        month_number = day.month - 1
        # In English whatever the language, so that one birthday is one value.
        parts["birthday"] = f"{day.day} {MONTHS[month_number]}{year}"
        parts["day_name"] = self.language.day_name.format(
            day=day.day,
            month=self.language.months[month_number],
            year=year,
            of_year=of_year,
        )

    def _add_date(self, fact: str, when: Span | None) -> str:
        """Return the fact with its day, week, month or year, unless it has that already."""
        if when is None:
            return fact
        label = self._name_span(when)
        if label in fact:
            return fact
        return add_note(fact, label)

    def _add_beginning(self, fact: str, since: Span | None) -> str:
        """Return the fact with the time since which it holds."""
        if since is None:
            return fact
        label = self._name_span(since)
        return add_note(fact, self.language.since_when.format(label))

    def _name_span(self, when: Span) -> str:
        first = when.first
        if when.unit == "week":
            monday = first - timedelta(days=first.weekday())
            return self.language.week_of.format(monday.isoformat())
        if when.unit == "month":
            return f"{first:%Y-%m}"
        if when.unit == "year":
            return f"{first:%Y}"
        return first.isoformat()


def _end_changes(statements: Iterable[StatedClause]) -> list[Change]:
    """Return the changes that end all that the statements say."""
    ended: list[Change] = []
    for statement in statements:
        for change in statement.changes:
            if change.op is not Op.DELETE:
                ended.append(replace(change, op=Op.DELETE, replaces=""))
    return ended


def _drop_repeated(statements: Iterable[StatedClause]) -> list[StatedClause]:
    """Return the statements without those that only mention what an earlier one says."""
    kept: list[StatedClause] = []
    known: set[object] = set()
    for statement in statements:
        content = _content(statement)
        if not content <= known:
            kept.append(statement)
        known |= content
    return kept


def _content(statement: StatedClause) -> set[object]:
    """Return the codes of a statement, else its changes, else its fact."""
    codes: set[object] = set()
    for slot in _CODES:
        if slot in statement.values:
            codes.add(statement.values[slot])
    return codes or set(statement.changes) or {statement.fact}
