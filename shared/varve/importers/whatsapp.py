"""WhatsApp's chat export: lines of date, time, speaker and words, in two styles.

iOS: `[21/03/2026, 09:15:02] Dana: …`. Android: `21/03/2026, 09:15 - Dana: …`. Times
are local without a zone; they count as UTC. The order of day and month depends on the
phone; a number over 12 tells it, and without one days come first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from varve.domain.identity import digest
from varve.importers.items import Draft, ImportOptions, Item, Skipped, Source
from varve.importers.streams import read_text_lines

FORMAT = "whatsapp"
_LINE = re.compile(
    r"\[?(?P<one>\d{1,2}|\d{4})[./-](?P<two>\d{1,2})[./-](?P<three>\d{1,4})"
    r",? {1,2}(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?: (?P<half>[AaPp])\.? ?[Mm]\.?)?(?:\]| -) (?P<rest>.*)"
)
_SPEAKER = re.compile(r"(?P<name>[^:]{1,100}): (?P<words>.*)")
_INVISIBLE = str.maketrans(
    {"\u200e": "", "\u200f": "", "\u202f": " ", "\u00a0": " "}
)
_MEDIA = re.compile(r"<[^<>]{1,60}>|.{1,40} omitted")


@dataclass(slots=True)
class _Entry:
    """One message of the chat: the numbers of its date, its time, speaker and words."""

    place: str
    date: tuple[int, int, int]
    time: tuple[int, int, int]
    speaker: str
    words: list[str]


def recognize_text(head: str) -> bool:
    """Return whether one of a text's first lines begins like a message."""
    lines = head.translate(_INVISIBLE).splitlines()[:5]
    return any(_LINE.match(line) for line in lines)


def read(source: Source, options: ImportOptions) -> Iterator[Item]:
    """Yield a conversation for each day of the chat."""
    entries = list(_read_entries(source))
    month_first = _is_month_first(entries)
    drafts: dict[str, Draft] = {}
    for entry in entries:
        at = _parse_time(entry, month_first)
        if at is None:
            yield Skipped(entry.place, "date that no calendar has")
            continue
        words = "\n".join(entry.words)
        if not entry.speaker or _MEDIA.fullmatch(words):
            yield Skipped(entry.place, "notice of the program, or a file")
            continue
        day = f"{at:%Y-%m-%d}"
        if day not in drafts:
            name = f"{digest(options.name, length=12)}-{day}"
            drafts[day] = Draft(FORMAT, name, entry.place, options.user)
        draft = drafts[day]
        equal = sum(
            (m["content"], m["timestamp"])
            == (words.strip(), f"{at:%Y-%m-%dT%H:%M:%SZ}")
            for m in draft.messages
        )
        id_ = digest(f"{at}", entry.speaker, words, str(equal), length=32)
        draft.add("user", words, id_=id_, at=at, name=entry.speaker)
    for draft in drafts.values():
        yield from draft.items()


def _read_entries(source: Source) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for number, raw in read_text_lines(source):
        line = raw.translate(_INVISIBLE)
        found = _LINE.match(line)
        if found is None:
            if entry is not None:
                entry.words.append(line)
            continue
        if entry is not None:
            yield entry
        entry = _build_entry(found, f"line {number}")
    if entry is not None:
        yield entry


def _build_entry(found: re.Match[str], place: str) -> _Entry:
    said = _SPEAKER.fullmatch(found["rest"])
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] in "Pp" else 0)
    return _Entry(
        place,
        (int(found["one"]), int(found["two"]), int(found["three"])),
        (hour, int(found["minute"]), int(found["second"] or 0)),
        said["name"].strip() if said else "",
        [said["words"] if said else found["rest"]],
    )


def _is_month_first(entries: list[_Entry]) -> bool:
    """Return whether a second number over 12 shows that the month comes first."""
    return any(entry.date[1] > 12 for entry in entries if entry.date[0] <= 12)


def _parse_time(entry: _Entry, month_first: bool) -> datetime | None:
    one, two, three = entry.date
    if one > 31:
        year, month, day = one, two, three
    elif month_first:
        month, day, year = one, two, three
    else:
        day, month, year = one, two, three
    if year < 100:
        year += 2_000
    try:
        return datetime(year, month, day, *entry.time, tzinfo=UTC)
    except ValueError:
        return None
