"""Markdown: a journal or a transcript whose headings hold dates.

A heading with a date such as `## 2026-03-02` or `## 2 March 2026` begins a conversation.
A paragraph is a message, as a heading without a date is. `**Dana:** words` and
`Dana: words` name its speaker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from varve.domain.identity import digest
from varve.domain.language.timewords import find_full_date
from varve.importers.items import Draft, ImportOptions, Item, Skipped, Source
from varve.importers.streams import read_text_lines

FORMAT = "markdown"
_HEADING = re.compile(r"#{1,6} +(.*)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DOT_OF_WORD = re.compile(r"(?<=[^\W\d])\.")
"""As of "Jan.", which the grammar of dates does not know."""
_SPEAKER = re.compile(
    r"\*\*([^*:]{1,60}):?\*\*:? +(.*)|([A-Z][\w .'-]{0,59}): +(.*)"
)
_ASSISTANTS = ("assistant", "agent", "ai", "bot")


def recognize_text(head: str) -> bool:
    """Return whether a text has a heading with a date."""
    for line in head.splitlines():
        found = _HEADING.match(line)
        if found and _read_date(found[1]):
            return True
    return False


@dataclass(slots=True)
class _Journal:
    """The conversation that is being read, and the time of its words."""

    options: ImportOptions
    at: datetime | None
    draft: Draft | None = None

    def open_section(self, heading: str, number: int) -> Iterator[Item]:
        """Begin a conversation if the heading has a date; yield the one before."""
        dated = _read_date(heading)
        if dated is None:
            yield from self.take_paragraph([heading], number)
            return
        yield from self.close_section()
        self.at = dated
        self.draft = _begin(
            f"{self.options.name} {heading}", number, self.options
        )

    def close_section(self) -> Iterator[Item]:
        """Yield the conversation."""
        if self.draft is not None:
            yield from self.draft.items()
        self.draft = None

    def take_paragraph(self, lines: list[str], number: int) -> Iterator[Item]:
        """Add a paragraph; one before any date is skipped."""
        if not lines:
            return
        if self.at is None:
            yield Skipped(f"before line {number}", "words without a date")
            return
        if self.draft is None:
            self.draft = _begin(self.options.name, number, self.options)
        _add_paragraph(self.draft, "\n".join(lines), self.at)


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield a conversation for each heading with a date."""
    journal = _Journal(options, options.at)
    paragraph: list[str] = []
    number = 0
    for number, line in read_text_lines(source):
        heading = _HEADING.match(line)
        if line.strip() and heading is None:
            paragraph.append(line)
            continue
        yield from journal.take_paragraph(paragraph, number)
        paragraph = []
        if heading is not None:
            yield from journal.open_section(heading[1], number)
    yield from journal.take_paragraph(paragraph, number)
    yield from journal.close_section()


def _begin(name: str, number: int, options: ImportOptions) -> Draft:
    return Draft(
        FORMAT, digest(name, length=24), f"line {number}", options.user
    )


def _read_date(heading: str) -> datetime | None:
    """Return the day that a heading names with its year, in figures or in words."""
    found = _DATE.search(heading)
    in_words = _DOT_OF_WORD.sub("", heading)
    day = _read_iso(found[0]) if found else find_full_date(in_words)
    if day is None:
        return None
    return datetime.combine(day, time(), tzinfo=UTC)


def _read_iso(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _add_paragraph(draft: Draft, text: str, at: datetime) -> None:
    first, newline, rest = text.partition("\n")
    found = _SPEAKER.fullmatch(first)
    name = ""
    words = text
    if found:
        name = (found[1] or found[3]).strip()
        words = (found[2] or found[4]) + newline + rest
    role = "assistant" if name.casefold() in _ASSISTANTS else "user"
    same = sum(
        message["content"] == words.strip() for message in draft.messages
    )
    id_ = digest(name, words, str(same), length=32)
    draft.add(role, words, id_=id_, at=at, name=name or None)
