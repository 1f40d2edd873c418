"""What memory holds, as entries of the context block."""

from collections.abc import Collection, Iterable, Sequence
from zoneinfo import ZoneInfo

from varve.domain.block import MAX_BLOCK_ENTRY_CHARACTERS, Entry, EntryType
from varve.domain.calendar import day_of, parse_instant
from varve.domain.mention import in_words
from varve.domain.record import MemoryType
from varve.domain.relevance import word_shares
from varve.domain.search.answer import Result
from varve.domain.search.supersession import EndedStatement, held_until
from varve.domain.statements.answers.replies import asks_for_replies
from varve.domain.statements.texts.cues import asks_past
from varve.domain.text import passages
from varve.domain.triple import Triple
from varve.usecases.context.origins import triple_entry_id

MAX_PASSAGES = 40
"""The most passages of the prompt's documents."""

DOUBTFUL_MARK = " (likely no longer)"
"""Follows words that later ones of their speaker likely supersede."""
OPEN_MARK = " (may no longer hold)"
"""The same where it is less likely than not."""


def is_stated(triple: Triple, stated: Collection[tuple[str, str]]) -> bool:
    """Return whether a (message, value) pair states the triple's object."""
    for operation in triple.evidence:
        value = operation.object.casefold()
        keys = [(message, value) for message in operation.message_ids]
        if any(key in stated for key in keys):
            return True
    return False


def triple_entry(triple: Triple, zone: ZoneInfo) -> Entry:
    return Entry(
        triple_entry_id(triple),
        day_of(triple.valid_at, zone),
        in_words(triple),
    )


def result_entry(
    result: Result,
    prompt: str,
    ended: Sequence[EndedStatement],
    zone: ZoneInfo,
) -> Entry:
    """Return a record as an entry.

    A summary is dated by its period; a fact that has ended says until when it held, and
    for a prompt about bygone times a superseded turn too;
    a statement that is likely superseded says so, and one said again on a later day says
    when it was last confirmed.
    """
    is_summary = result.memory_type == EntryType.SUMMARY
    date = result.period if is_summary else result.date
    words = _excerpt(result, prompt)
    if _may_tell_end(result, prompt):
        until = held_until(result.messages, result.content, ended)
        if until is not None:
            words += f" (held until {day_of(until, zone)})"
            return Entry(result.id, date, words)
    if not result.current:
        is_open = result.odds < 0 and not is_summary
        mark = OPEN_MARK if is_open else DOUBTFUL_MARK
        return Entry(result.id, date, words + mark)
    return Entry(result.id, date, words, _find_confirmed(result, zone))


def _may_tell_end(result: Result, prompt: str) -> bool:
    """Return whether an entry may say until when a value in its words held.

    A turn may have other parts, which a question about the present asks for.
    """
    if result.memory_type == MemoryType.TURN:
        return not result.current and asks_past(prompt)
    return result.memory_type == MemoryType.FACT


def _find_confirmed(result: Result, zone: ZoneInfo) -> str:
    """Return the day on which a statement was last confirmed; "" if it was said once."""
    if result.memory_type == MemoryType.SUMMARY or not result.confirmed_at:
        return ""
    day = day_of(parse_instant(result.confirmed_at), zone)
    return day if day > max(result.period, result.date) else ""


def _excerpt(result: Result, prompt: str) -> str:
    """Return a result's words, or of many the lines or passage with most of the prompt's words.

    Those of a turn begin with the speaker.
    """
    text = result.content
    pieces = list(passages(text, MAX_BLOCK_ENTRY_CHARACTERS))
    if len(pieces) < 2:
        return text
    head = _read_head(result)
    chosen = _choose_lines(text.split("\n"), prompt)
    if chosen:
        said = "\n".join(chosen)
        return said if said.startswith(head) else f"{head}… {said}"
    shares = word_shares(prompt, pieces)
    best = shares.index(max(shares))
    start = f"{head}… " if best > 0 else ""
    end = " …" if best + 1 < len(pieces) else ""
    return f"{start}{pieces[best]}{end}"


def _read_head(result: Result) -> str:
    """Return the speaker before a turn's words; "" of another result."""
    if result.memory_type != MemoryType.TURN:
        return ""
    speaker, mark, _ = result.content.partition(": ")
    return f"{speaker}: " if mark else ""


def _choose_lines(lines: Sequence[str], prompt: str) -> list[str]:
    """Return the lines with most of the prompt's words, in their order, as many as fit.

    For a prompt that asks what the assistant said the others follow: the items of a list
    share no word with it. Empty if no line has any, or the best one does not fit: the text
    is one paragraph.
    """
    shares = word_shares(prompt, lines)
    order = sorted(range(len(lines)), key=lambda at: -shares[at])
    if not asks_for_replies(prompt):
        order = [at for at in order if shares[at]]
    chosen: list[int] = []
    room = MAX_BLOCK_ENTRY_CHARACTERS
    for at in order:
        if len(lines[at]) < room:
            chosen.append(at)
            room -= len(lines[at]) + 1
        elif not chosen:
            return []
    return [lines[at] for at in sorted(chosen)]


def select_passages(
    documents: Iterable[str], prompt: str, today: str
) -> list[Entry]:
    """Return the documents' passages with most of the prompt's words.

    Their ids are `document-2.1` for the first passage of the second document.
    """
    pieces: list[Entry] = []
    for number, document in enumerate(documents, start=1):
        parts = passages(document, MAX_BLOCK_ENTRY_CHARACTERS)
        for part, passage in enumerate(parts, start=1):
            id_ = f"{EntryType.DOCUMENT}-{number}.{part}"
            pieces.append(Entry(id_, today, passage))
    shares = word_shares(prompt, [piece.text for piece in pieces])
    order = sorted(range(len(pieces)), key=lambda index: -shares[index])
    return [pieces[index] for index in order[:MAX_PASSAGES]]
