"""The expressions of time in a text: where they stand, their parts, and the words before them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from varve.domain.language.grammar import Grammar
from varve.domain.language.vocabulary import Parts

_NEARBY = 200
"""How many characters around an expression can change its meaning."""

BORROWS_YEAR = (
    "month",
    "quarter",
    "day_month",
    "days",
    "week",
    "iso_week",
    "month_week",
    "day_number",
    "day_slash",
    "holiday",
)
_YEARLESS = (*BORROWS_YEAR, "season", "weekday")


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression in a text.

    `left` is where its preposition begins. `edge` is true for "the end of …", `week` for
    "the week of …".
    """

    form: str
    parts: Parts
    lead: str
    edge: bool
    week: bool
    left: int
    start: int
    end: int

    @property
    def lacks_year(self) -> bool:
        if self.parts.year is not None:
            return False
        return self.form in _YEARLESS


@dataclass(frozen=True, slots=True)
class _Match:
    """A match of the grammar's pattern, and the text around it that can change its meaning."""

    found: re.Match[str]
    form: str
    parts: Parts | None
    lead: re.Match[str] | None
    kind: str
    before: str
    behind: str

    @property
    def left(self) -> int:
        """Where the preposition begins; without one, where the match begins."""
        start = self.found.start()
        if self.lead is None:
            return start
        behind_lead = len(self.before) - self.lead.start()
        return start - behind_lead

    def has(self, group: str) -> bool:
        """Return whether the words before the expression have a group such as "edge"."""
        return self.lead is not None and bool(self.lead[group])


@dataclass(frozen=True, slots=True)
class ExpressionFinder:
    """Finds the expressions of time of a text by a grammar."""

    text: str
    grammar: Grammar
    is_south: bool = False
    """Whether the seasons are those south of the equator."""

    def find_expressions(self) -> Iterator[Expression]:
        """Yield every expression with its preposition, except refused ones."""
        for match in self.find_matches():
            if match.parts is None:
                continue
            if any(self.find_refusals(match)):
                continue
            yield Expression(
                form=match.form,
                parts=self._place(match.parts, match),
                lead=match.kind,
                edge=match.has("edge"),
                week=match.has("week"),
                left=match.left,
                start=match.found.start(),
                end=match.found.end(),
            )

    def find_matches(self) -> Iterator[_Match]:
        """Yield everything that looks like an expression of time."""
        for found in self.grammar.scan.finditer(self.text):
            start, end = found.span()
            nearby = max(0, start - _NEARBY)
            before = self.text[nearby:start]
            lead = self._find_lead(before)
            form, parts = self.grammar.parse(found)
            yield _Match(
                found=found,
                form=form,
                parts=parts,
                lead=lead,
                kind=self._find_lead_kind(lead),
                before=before,
                behind=self.text[end : end + _NEARBY],
            )

    def find_refusals(self, match: _Match) -> Iterator[str]:
        """Yield the names of the rows that refuse an expression."""
        for refusal in self.grammar.refused:
            refuses = refusal.applies(
                form=match.form,
                lead=match.kind,
                before=match.before,
                phrase=match.found[0],
                behind=match.behind,
            )
            if refuses:
                yield refusal.name

    def _place(self, parts: Parts, match: _Match) -> Parts:
        """Return the parts as the words before them and the hemisphere have them."""
        near = parts.near or match.has("near")
        season = parts.season
        if season is not None and self.is_south:
            season = (season + 1) % 4 + 1
        return replace(parts, near=near, season=season)

    def _find_lead(self, before: str) -> re.Match[str] | None:
        """Return the words before an expression that belong to it.

        "What did I say about" two weeks ago asks what it was about.
        """
        lead = self.grammar.lead.search(before)
        if lead is None or not lead["near"]:
            return lead
        return None if self.grammar.about_what.search(before) else lead

    def _find_lead_kind(self, lead: re.Match[str] | None) -> str:
        if lead is None:
            return ""
        for kind in self.grammar.lead_kinds:
            if lead[kind]:
                return kind
        return "of" if lead["week"] else ""


def find_refusals(text: str, grammar: Grammar) -> list[str]:
    """Return the names of the rows that refuse an expression of the text, in order."""
    reader = ExpressionFinder(text, grammar)
    names: list[str] = []
    for match in reader.find_matches():
        names.extend(reader.find_refusals(match))
    return names
