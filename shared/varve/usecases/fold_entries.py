"""Fold a context's entries, so that each statement takes one line of the block."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from varve.domain.block import Entry, EntryType
from varve.domain.extractive import sentences
from varve.domain.record import Vector
from varve.domain.statements.folding import BlockLine, Folding
from varve.domain.statements.sameness import Saying
from varve.usecases.origins import Origin

_DATE_BEFORE = re.compile(r"^\W*\d{4}-\d{2}-\d{2}\W+")


@dataclass(frozen=True, slots=True)
class Folded:
    """The entries with a line, in order, and the ids of those folded into each."""

    entries: list[Entry]
    also_in: dict[str, list[str]]


def list_sentences(entry: Entry) -> list[str]:
    """Return a summary's sentences, without dates before them and without headings."""
    found: list[str] = []
    for line in entry.text.split("\n"):
        for sentence in sentences(line):
            words = _DATE_BEFORE.sub("", sentence).strip()
            if words and not words.endswith(":"):
                found.append(words)
    return found


def fold_entries(
    ranked: Sequence[Entry],
    head: Sequence[Entry],
    origins: Mapping[str, Origin],
    vectors: Mapping[str, Vector],
    sentence_vectors: Mapping[str, Vector],
) -> Folded:
    """Give each statement one entry, in the order of its first one.

    `head` are the profile's entries in the block. A summary keeps only the sentences that
    nothing else says, and gives its place to the record that says one of them.
    """
    users = {id_: origin.user for id_, origin in origins.items()}
    folding = Folding(_build_line(entry, origins, vectors) for entry in head)
    by_id = {entry.id: entry for entry in ranked}
    for entry in ranked:
        if not is_summary(entry):
            folding.add(_build_line(entry, origins, vectors))
    order = {line.id: by_id[line.id] for line in folding.lines}
    kept = list(_place(ranked, order, folding, sentence_vectors, users))
    return Folded(kept, _name_folded([*head, *kept], folding, origins))


def _name_folded(
    entries: Sequence[Entry], folding: Folding, origins: Mapping[str, Origin]
) -> dict[str, list[str]]:
    """Return the ids of the entries folded into each one, here and by the search."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        own = folding.also_in.get(entry.id, ())
        origin = origins.get(entry.id)
        by_search = origin.also_in if origin else ()
        if own or by_search:
            found[entry.id] = list(dict.fromkeys([*own, *by_search]))
    return found


def _place(
    ranked: Sequence[Entry],
    kept: Mapping[str, Entry],
    folding: Folding,
    sentence_vectors: Mapping[str, Vector],
    users: Mapping[str, str | None],
) -> Iterator[Entry]:
    """Yield the kept entries, each at the place of the first entry that says it."""
    place_of = {}
    for id_, folded in folding.also_in.items():
        place_of.update(dict.fromkeys(folded, id_))
    shown: set[str] = set()
    for entry in ranked:
        if is_summary(entry):
            user = users.get(entry.id)
            found, rest = _reduce(entry, user, folding, sentence_vectors)
        else:
            found = [place_of.get(entry.id, entry.id)]
            rest = None
        for id_ in found:
            if id_ in kept and id_ not in shown:
                shown.add(id_)
                yield kept[id_]
        if rest is not None:
            yield rest


def _reduce(
    summary: Entry,
    user: str | None,
    folding: Folding,
    sentence_vectors: Mapping[str, Vector],
) -> tuple[list[str], Entry | None]:
    """Return the ids of lines that say a part of a summary, and the rest of it.

    None: nothing is left.
    """
    said: list[str] = []
    left: list[str] = []
    for number, sentence in enumerate(list_sentences(summary)):
        saying = Saying(sentence, sentence_vectors[sentence], user=user)
        known = folding.says(saying)
        if known is None:
            folding.add(BlockLine(f"{summary.id}#{number}", saying))
            left.append(sentence)
        else:
            said.append(known)
            folding.note_folded(summary.id, known)
    if not said:
        return [], summary
    rest = replace(summary, text=" ".join(left)) if left else None
    return said, rest


def is_summary(entry: Entry) -> bool:
    """Return whether an entry is a summary's."""
    return entry.id.startswith(f"{EntryType.SUMMARY}-")


def _build_line(
    entry: Entry, origins: Mapping[str, Origin], vectors: Mapping[str, Vector]
) -> BlockLine:
    origin = origins.get(entry.id, Origin(entry.text))
    saying = Saying(
        text=entry.text,
        vector=vectors[entry.id],
        day=origin.day,
        messages=origin.messages,
        whole=origin.whole,
        value=origin.value,
        user=origin.user,
    )
    derived = entry.id.startswith(f"{EntryType.TRIPLE}-")
    return BlockLine(entry.id, saying, origin.triples, derived)
