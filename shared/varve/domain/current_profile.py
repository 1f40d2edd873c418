"""The values of a profile that hold at a time, folded from its statements."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from varve.domain.names import meant, normalized
from varve.domain.profile import (
    KNOWN_KEYS,
    LIST_KEYS,
    VITAL_KEYS,
    ProfileEntry,
    drop_unasked,
    find_speakers,
    merge_entries,
    name_speaker,
    sort_entries,
)


def select_current_entries(
    entries: Iterable[ProfileEntry], now: datetime
) -> list[ProfileEntry]:
    """Return the statements that hold at `now`, those of the known keys first.

    A value that was stated several times has the statement since which it has held. Each
    of several speakers has values of their own (`find_speakers`). A value set by hand
    replaces those of all.
    """
    held: dict[str, dict[str, dict[str, ProfileEntry]]] = {}
    known = drop_unasked(merge_entries(entries).values())
    speakers = find_speakers(known)
    for entry in sort_entries(_drop_read(known)):
        if entry.event_time > now:
            continue
        by_speaker = held.setdefault(entry.key, {})
        speaker = name_speaker(entry, speakers)
        by_speaker.setdefault(speaker, {})
        for other, values in by_speaker.items():
            if other == speaker:
                _apply(values, entry)
            elif entry.conversation_id is None:
                _replace(values, entry)
    current: list[ProfileEntry] = []
    for key in (*KNOWN_KEYS, *sorted(held.keys() - set(KNOWN_KEYS))):
        for _, values in sorted(held.get(key, {}).items()):
            current += values.values()
    return current


_Place = tuple[str, str | None, str]
"""A key or "" for any, and the conversation and message that tell of it."""


def _list_places(entry: ProfileEntry, key: str) -> list[_Place]:
    return [
        (key, entry.conversation_id, message) for message in entry.message_ids
    ]


def _drop_read(
    entries: Collection[ProfileEntry],
) -> Iterator[ProfileEntry]:
    """Yield the entries without the words of corrections that were read."""
    read: set[_Place] = set()
    for entry in entries:
        if not entry.unread:
            read.update(_list_places(entry, entry.key))
            read.update(_list_places(entry, ""))
    for entry in entries:
        # The words of an allergy stand until an allergy is read.
        key = entry.key if entry.key in VITAL_KEYS else ""
        is_read = not read.isdisjoint(_list_places(entry, key))
        if entry.ends or not (entry.unread and is_read):
            yield entry


def _replace(held: dict[str, ProfileEntry], entry: ProfileEntry) -> None:
    """End the values of another speaker in whose place an entry set by hand stands."""
    if entry.ends:
        _end_values(held, entry, normalized(entry.value))
    elif entry.key not in LIST_KEYS:
        held.clear()


def _apply(held: dict[str, ProfileEntry], entry: ProfileEntry) -> None:
    """Change one attribute's values, which are keyed by their normalized form.

    A value of a list in the other number, such as "nut" after "nuts", takes its place.
    """
    value = normalized(entry.value)
    if entry.ends:
        _end_values(held, entry, value)
        return
    superseded = list(held)
    if entry.key in LIST_KEYS:
        superseded = meant(value, held, of_several=True)
        superseded.append(normalized(entry.replaces))
    for other in superseded:
        if other != value:
            held.pop(other, None)
    held.setdefault(value, entry)


def _end_values(
    held: dict[str, ProfileEntry], entry: ProfileEntry, value: str
) -> None:
    if not entry.value:
        held.clear()
        return
    for other in meant(value, held, of_several=entry.key in LIST_KEYS):
        del held[other]
