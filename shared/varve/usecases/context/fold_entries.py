"""Fold a context's entries, so that each statement takes one line of the block."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from varve.domain.block import Entry, EntryType
from varve.domain.record import Vector
from varve.domain.statements.answers.folding import (
    BlockLine,
    Folding,
    says_little_more,
)
from varve.domain.statements.answers.summary_sentences import (
    SummarySentence,
    read_sentences,
)
from varve.domain.statements.pairs.sameness import Saying
from varve.usecases.context.block_entries import DOUBTFUL_MARK
from varve.usecases.context.origins import Origin


@dataclass(frozen=True, slots=True)
class SummarySentences:
    """The sentences of all summaries among a block's candidates.

    `vectors` are by the sentences' words. `relevant` are the sentences that have something
    to do with the prompt. `asked` are the ids of the summaries of a time that the prompt
    asks for: all of their sentences belong in the block. `apart` are those of summaries
    that as a whole have nothing to do with it: only relevant sentences do. `gone` are the
    ids of the records that the block leaves out, as surely superseded.
    """

    vectors: Mapping[str, Vector]
    relevant: Collection[str]
    asked: Collection[str]
    apart: Collection[str]
    gone: Collection[str] = ()

    def is_relevant(self, summary: str, sentence: str) -> bool:
        """Return whether a sentence of a summary with this id has to do with the prompt."""
        return summary in self.asked or sentence in self.relevant


@dataclass(frozen=True, slots=True)
class Folded:
    """The entries with a line, in order, and the ids of those folded into each."""

    entries: list[Entry]
    also_in: dict[str, list[str]]


def list_sentences(entry: Entry) -> list[str]:
    """Return a summary's sentences, without dates before them and without headings."""
    return [one.text for one in _read_sentences(entry)]


def list_all_sentences(entries: Iterable[Entry]) -> list[str]:
    """Return the sentences of all summaries, each once."""
    found: dict[str, None] = {}
    for summary in filter(is_summary, entries):
        found.update(dict.fromkeys(list_sentences(summary)))
    return list(found)


def _read_sentences(summary: Entry) -> tuple[SummarySentence, ...]:
    return read_sentences(summary.text.removesuffix(DOUBTFUL_MARK))


def fold_entries(
    ranked: Sequence[Entry],
    head: Sequence[Entry],
    origins: Mapping[str, Origin],
    vectors: Mapping[str, Vector],
    sentences: SummarySentences,
) -> Folded:
    """Give each statement one entry, in the order of its first one.

    `head` are the profile's entries in the block. A summary keeps only the sentences that
    nothing else says, and gives its place to the record that says one of them. If nothing
    that is left has to do with the prompt, nor stands in a conversation that has, the
    summary has no entry.
    """
    folding = Folding(_build_line(entry, origins, vectors) for entry in head)
    wordings = _Wordings(origins)
    for entry in head:
        wordings.note(entry)
    by_id = {entry.id: entry for entry in ranked}
    for entry in ranked:
        if not is_summary(entry):
            _add(entry, folding, wordings, origins, vectors)
    order = {line.id: by_id[line.id] for line in folding.lines}
    for entry in [*head, *order.values()]:
        wordings.note(entry)
        folded = folding.also_in.get(entry.id, ())
        wordings.note_records(entry, map(by_id.get, folded))
    reducing = _Reducing(folding, wordings, origins, sentences)
    kept = list(_place(ranked, order, reducing))
    return Folded(kept, _name_folded([*head, *kept], folding, origins))


_Copy = tuple[str | None, str | None, str, str]
"""What the copies of a sentence in several summaries share."""


class _Wordings:
    """The lines by their folded sentences, without the speakers' names."""

    def __init__(self, origins: Mapping[str, Origin]) -> None:
        self._origins = origins
        self._lines: dict[str, list[str]] = {}
        self._line_by_record: dict[str, tuple[str, str]] = {}
        self._line_by_copy: dict[_Copy, str] = {}

    def find_copy(
        self, sentence: SummarySentence, user: str | None, line: str
    ) -> str | None:
        """Return the line of the summary that has a sentence already; else note `line` as it.

        The name of its speaker stands once before several sentences.
        """
        copy = (user, sentence.speaker, sentence.day, sentence.wording)
        known = self._line_by_copy.setdefault(copy, line)
        return known if known != line else None

    def note(self, entry: Entry) -> None:
        """Note what a line says."""
        origin = self._origins.get(entry.id)
        said = {one.wording for one in read_sentences(entry.text)}
        for wording in said.union(origin.wordings if origin else ()):
            self._lines.setdefault(wording, []).append(entry.id)

    def note_records(
        self, line: Entry, folded: Iterable[Entry | None]
    ) -> None:
        """Note the records of a line, and those of the entries folded into it."""
        for entry in filter(None, (line, *folded)):
            origin = self._origins.get(entry.id)
            also_in = origin.also_in if origin else ()
            for record in (entry.id, *also_in):
                self._line_by_record.setdefault(record, (line.id, entry.text))

    def find_record(
        self, sentence: SummarySentence, ids: Iterable[str]
    ) -> str | None:
        """Return the line of the first of these records that has one.

        The line, or what was folded into it, must have most words of the sentence.
        """
        for id_ in ids:
            line, text = self._line_by_record.get(id_, ("", ""))
            if line and says_little_more(sentence.said, text):
                return line
        return None

    def find(self, wording: str, user: str | None) -> str | None:
        """Return the line that says a sentence; two users' lines say two things."""
        for id_ in self._lines.get(wording, ()):
            origin = self._origins.get(id_)
            own = origin.user if origin else None
            if user is None or own in (None, user):
                return id_
        return None


def _add(
    entry: Entry,
    folding: Folding,
    wordings: _Wordings,
    origins: Mapping[str, Origin],
    vectors: Mapping[str, Vector],
) -> None:
    """Add an entry to the lines, unless the profile says it in the same words."""
    said = read_sentences(entry.text)
    user = origins[entry.id].user if entry.id in origins else None
    known = wordings.find(said[0].wording, user) if len(said) == 1 else None
    if known is None:
        folding.add(_build_line(entry, origins, vectors))
    else:
        folding.note_folded(entry.id, known)


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
    ranked: Sequence[Entry], kept: Mapping[str, Entry], reducing: "_Reducing"
) -> Iterator[Entry]:
    """Yield the kept entries, each at the place of the first entry that says it."""
    place_of = {}
    for id_, folded in reducing.folding.also_in.items():
        place_of.update(dict.fromkeys(folded, id_))
    shown: set[str] = set()
    for entry in ranked:
        if is_summary(entry):
            found, rest = reducing.reduce(entry)
        else:
            found = [place_of.get(entry.id, entry.id)]
            rest = None
        for id_ in found:
            if id_ in kept and id_ not in shown:
                shown.add(id_)
                yield kept[id_]
        if rest is not None:
            yield rest


def _name_speakers(left: Iterable[SummarySentence]) -> list[str]:
    """Return sentences with the name of who says each, where that is another one.

    In the summary the name stands once before several sentences.
    """
    told: list[str] = []
    named: str | None = None
    for one in left:
        has_name = one.text != one.said
        is_new = one.speaker is not None and one.speaker != named
        told.append(
            f"{one.speaker}: {one.said}"
            if is_new and not has_name
            else one.text
        )
        named = one.speaker
    return told


@dataclass(frozen=True, slots=True)
class _Reducing:
    """Reduces summaries to what no other line says."""

    folding: Folding
    wordings: _Wordings
    origins: Mapping[str, Origin]
    sentences: SummarySentences

    def reduce(self, summary: Entry) -> tuple[list[str], Entry | None]:
        """Return the ids of lines that say a part of a summary, and the rest of it.

        Superseded sentences are left out; one of a summary that is doubtful as a whole
        is all that is kept of it. If no other one has to do with the prompt, those that
        have are kept and marked. None: nothing is left that belongs in the block.
        """
        every = _read_sentences(summary)
        outdated = self._find_outdated(summary)
        is_doubtful = summary.text.endswith(DOUBTFUL_MARK)
        said: list[str] = []
        left: list[SummarySentence] = []
        for number, sentence in enumerate(every):
            is_outdated = sentence.wording in outdated
            is_kept = is_outdated is is_doubtful
            if not is_kept or self._leaves_out(summary, sentence):
                continue
            known = self._find_line(summary, number, sentence)
            if known is None:
                left.append(sentence)
            else:
                said.append(known)
        if len(left) == len(every):
            return [], summary
        told = self._choose_belonging(summary, left)
        if is_doubtful and told:
            told[-1] += DOUBTFUL_MARK
        elif not said:
            told += self._mark_relevant(summary, every, outdated, told)
        return said, replace(summary, text=" ".join(told)) if told else None

    def _leaves_out(self, summary: Entry, sentence: SummarySentence) -> bool:
        """Return whether a sentence of a summary has no place in the block."""
        is_apart = summary.id in self.sentences.apart
        return is_apart and not self.sentences.is_relevant(
            summary.id, sentence.text
        )

    def _choose_belonging(
        self, summary: Entry, left: Sequence[SummarySentence]
    ) -> list[str]:
        """Return the sentences to tell; none if none belongs in the block."""
        if not any(self._belongs(summary, one) for one in left):
            return []
        return _name_speakers(left)

    def _mark_relevant(
        self,
        summary: Entry,
        every: Iterable[SummarySentence],
        outdated: Collection[str],
        told: Iterable[str],
    ) -> list[str]:
        """Return the superseded sentences that have to do with the prompt, marked.

        Empty if one of those that are told has. What another line tells is left out.
        """
        if any(self.sentences.is_relevant(summary.id, one) for one in told):
            return []
        superseded = [
            one
            for number, one in enumerate(every)
            if one.wording in outdated
            and self.sentences.is_relevant(summary.id, one.text)
            and not self._is_gone(summary, one)
            and self._find_line(summary, number, one) is None
        ]
        return [one + DOUBTFUL_MARK for one in _name_speakers(superseded)]

    def _is_gone(self, summary: Entry, sentence: SummarySentence) -> bool:
        """Return whether a sentence repeats a record that the block leaves out."""
        origin = self.origins.get(summary.id)
        repeated = origin.repeats.get(sentence.wording, ()) if origin else ()
        return any(id_ in self.sentences.gone for id_ in repeated)

    def _belongs(self, summary: Entry, sentence: SummarySentence) -> bool:
        """Return whether a sentence, or its conversation, has to do with the prompt."""
        origin = self.origins.get(summary.id)
        if origin is None or sentence.wording not in origin.apart:
            return True
        return self.sentences.is_relevant(summary.id, sentence.text)

    def _find_outdated(self, summary: Entry) -> frozenset[str]:
        origin = self.origins.get(summary.id)
        return origin.outdated if origin else frozenset()

    def _find_line(
        self, summary: Entry, number: int, sentence: SummarySentence
    ) -> str | None:
        """Return the line that says a sentence; None: the sentence is a new one."""
        origin = self.origins.get(summary.id)
        user = origin.user if origin else None
        records = origin.repeats.get(sentence.wording, ()) if origin else ()
        known = self.wordings.find_record(sentence, records)
        known = known or self.wordings.find(sentence.wording, user)
        line = f"{summary.id}#{number}"
        known = known or self.wordings.find_copy(sentence, user, line)
        if known is None:
            vector = self.sentences.vectors[sentence.text]
            saying = Saying(sentence.text, vector, user=user)
            known = self.folding.says(saying)
            if known is None:
                self.folding.add(BlockLine(line, saying))
                return None
        self.folding.note_folded(summary.id, known)
        return known


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
