"""One sentence against a language's table: what it states, or nothing where there is any doubt."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from varve.domain.language.dates import Span
from varve.domain.language.statements import Lean
from varve.domain.names import normalized
from varve.domain.rules.persons import possessive
from varve.domain.rules.rule import Change, Language, Rule, Values, values
from varve.domain.rules.sentences import QUOTED, Sentence
from varve.domain.rules.values import listed
from varve.domain.triple import SINGLE_VALUED, Op

ASKED_IMPORTANCE = 0.9
LISTS = {"{things}", "{languages}", "{languages_english}"}


@dataclass(frozen=True, slots=True)
class Statement:
    """What a rule made of a clause; `changes` are filled in. `fact` is empty when there is none."""

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
"""Triples name a day in English whatever the language, so that one birthday is one value."""


_OWN_NAME = ("name", "full_name", "two_names", "person")


class _Parts(dict[str, str]):
    """A template's parts; one that was not said leaves no trace."""

    def __missing__(self, key: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one language."""

    language: Language

    def read(self, sentence: Sentence, who: str, said: date) -> list[Statement]:
        """The sentence's statements about its speaker, in order."""
        text, language = sentence.text, self.language
        if not language.hint.search(text) or text.isupper():
            return []
        if found := language.forget.match(text):
            return self._forgotten(found["body"], who, said)
        if found := language.remember.match(text):
            return self._remembered(found["body"], who, said)
        own = language.asking.split(text, maxsplit=1)[0] if sentence.asks else text
        stated = self.stated(own if own != text or not sentence.asks else "", who, said)
        return _distinct([*stated, *self.mentioned(text, who, said)])

    def familiarity(self, sentence: Sentence) -> int:
        """How many of its words are the language's commonest."""
        return len(self.language.common.findall(sentence.text))

    def stated(self, text: str, who: str, said: date) -> list[Statement]:
        """What its clauses state, each by the first rule that fits it."""
        if self.language.doubt.search(text):
            return []
        found = (
            self.clause_stated(clause, who, said) for clause in self._clauses(text)
        )
        return [statement for statement in found if statement]

    def _clauses(self, text: str) -> Iterator[str]:
        """The clauses that may each state something; "Last Friday, …" goes with what follows it."""
        before = ""
        for clause in self.language.clause.split(text):
            if self.language.dates.scan.fullmatch(
                self.language.opening.sub("", clause, count=1)
            ):
                before = f"{clause}, "
                continue
            yield before + clause
            before = ""

    def clause_stated(self, clause: str, who: str, said: date) -> Statement | None:
        """What the first rule that fits says of the clause."""
        opened = self.language.opening.sub("", clause, count=1)
        for rule in self.language.rules:
            if rule.anywhere or not (found := rule.pattern.match(opened)):
                continue
            parts = values(found, self.language.slots)
            if parts is not None and (
                statement := self._statement(rule, parts, clause, who, said)
            ):
                return statement
        return None

    def mentioned(self, text: str, who: str, said: date) -> Iterator[Statement]:
        """Names and numbers that a sentence takes for granted, even where it asks."""
        if self.language.unreal.search(text):
            return
        for rule in self.language.rules:
            for found in rule.pattern.finditer(text) if rule.anywhere else ():
                parts = values(found, self.language.slots)
                if parts is not None and (
                    statement := self._statement(rule, parts, text, who, said)
                ):
                    yield statement

    def _forgotten(self, body: str, who: str, said: date) -> list[Statement]:
        """Endings of what the body states or names; never a fact."""
        stated = self.stated(body, who, said) or list(self.mentioned(body, who, said))
        changes = [c for s in stated for c in s.changes if c.op is not Op.DELETE]
        if predicate := self.language.forgettable.get(body.lower()):
            changes = [Change(Op.DELETE, predicate, "", who)]
        ended = tuple(replace(change, op=Op.DELETE, replaces="") for change in changes)
        return (
            [Statement("", ended, 0.0, 0.9, who, None, body, {}, None, said)]
            if ended
            else []
        )

    def _remembered(self, body: str, who: str, said: date) -> list[Statement]:
        """What the body states; else the body itself, of the speaker where that can be told safely."""
        if QUOTED in body or len(body.split()) < 3:
            return []
        stated = self.stated(body, who, said) or list(self._kept(body, who, said))
        important = [
            replace(s, importance=max(ASKED_IMPORTANCE, s.importance)) for s in stated
        ]
        return _distinct([*important, *self.mentioned(body, who, said)])

    def _kept(self, body: str, who: str, said: date) -> Iterator[Statement]:
        """The body as a fact, unless it begins with what only the conversation can tell ("it is …")."""
        if self.language.dangling.match(body):
            return
        told = self.language.third_person(body, who)
        when = self.language.dates.find(body, said, Lean.NONE)
        fact = (told + ".") if told else self.language.asked.format(who=who, body=body)
        fact = self._dated(fact, when)
        if when is None and self.language.dates.loose.search(body):
            fact = f"{fact[:-1]} ({self.language.said_on.format(said.isoformat())}){fact[-1]}"
        yield Statement(
            fact, (), ASKED_IMPORTANCE, 0.9, who, when, body, {}, None, said
        )

    def _statement(
        self, rule: Rule, parts: Values, clause: str, who: str, said: date
    ) -> Statement | None:
        when = self._when(rule, parts, clause, said)
        if when is not None and _wrong_side(when, rule.lean, said):
            return None
        if ("date" in parts and when is None) or (
            "birthdate" in parts and "birthday" not in parts
        ):
            return None
        if normalized(who) in {normalized(parts.get(slot, "")) for slot in _OWN_NAME}:
            return None
        filled = _Parts(parts, who=who, whose=possessive(who))
        changes = tuple(c for change in rule.changes for c in _filled(change, filled))
        about = changes[-1].subject if changes else who
        fact = self._dated(rule.fact.format_map(filled) + ".", when)
        return Statement(
            fact,
            changes,
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
        """The time the clause speaks of, when its rule looks for one."""
        dates = self.language.dates
        if "birthdate" in parts:
            self._add_birthday(
                parts, dates.resolve(parts["birthdate"], said, rule.lean)
            )
            return None
        if rule.lean is Lean.NONE:
            return None
        named = parts.get("date")
        return (
            dates.resolve(named, said, rule.lean)
            if named
            else dates.find(clause, said, rule.lean)
        )

    def _add_birthday(self, parts: Values, when: Span | None) -> None:
        if when is None or when.unit != "day":
            return
        told = str(when.first.year) in parts["birthdate"]
        year, of_year = (
            (f" {when.first.year}", f" de {when.first.year}") if told else ("", "")
        )
        parts["birthday"] = f"{when.first.day} {_MONTHS[when.first.month - 1]}{year}"
        month = self.language.months[when.first.month - 1]
        parts["day_name"] = self.language.day_name.format(
            day=when.first.day, month=month, year=year, of_year=of_year
        )

    def _dated(self, fact: str, when: Span | None) -> str:
        """The fact with its day, week, month or year after it, where it does not name it already."""
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


def _wrong_side(when: Span, lean: Lean, said: date) -> bool:
    """Whether the time contradicts the tense: then the clause means something else."""
    return when.first > said if lean is Lean.PAST else when.last < said


def _filled(change: Change, parts: Mapping[str, str]) -> Iterator[Change]:
    """The change with its templates filled in, one for each member of a list."""
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
    """Without those that only mention what an earlier one of the same sentence says."""
    kept: list[Statement] = []
    known: set[object] = set()
    for statement in statements:
        codes = {
            v
            for k, v in statement.values.items()
            if k in {"code", "number", "any_code"}
        }
        says: set[object] = {*codes} or {*statement.changes} or {statement.fact}
        if not says <= known:
            kept.append(statement)
        known |= says
    return kept
