"""How much the entries of a context have to do with its prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from varve.domain.block import Entry, EntryType
from varve.domain.record import Vector
from varve.domain.relevance import BACKGROUND, ENTRY_FLOOR, relevances
from varve.domain.search.mentions import has_mentions
from varve.domain.statements.bearing import bears_on
from varve.domain.statements.persons import is_person
from varve.ports.models import Embedder
from varve.usecases.fold_entries import (
    SummarySentences,
    is_summary,
    list_all_sentences,
    list_sentences,
)


@dataclass(frozen=True, slots=True)
class ScoredEntries:
    """The entries' relevances and vectors by id, and the sentences of the summaries."""

    scores: dict[str, float]
    vectors: dict[str, Vector]
    sentences: SummarySentences


def score_entries(
    prompt: str,
    entries: Sequence[Entry],
    embedder: Embedder,
    bearing: frozenset[str],
) -> ScoredEntries:
    """Score the entries, with one call to the embedder; `bearing` are ids of `Candidates`.

    A summary has to do with the prompt as much as its sentence that does most.
    """
    texts = [entry.text for entry in entries]
    sentences = list_all_sentences(entries)
    unnamed = _leave_out_only_speaker(prompt, entries)
    compared = [unnamed.get(entry.id, entry.text) for entry in entries]
    wanted = list(dict.fromkeys([*BACKGROUND, *texts, *sentences, *compared]))
    asked, *embedded = embedder.embed([prompt, *wanted])
    vector_of = dict(zip(wanted, embedded, strict=True))

    def score(words: Sequence[str], whole: Sequence[str]) -> list[float]:
        vectors = [vector_of[one] for one in words]
        background = [vector_of[one] for one in BACKGROUND]
        return relevances(prompt, asked, whole, vectors, background)

    scores = score(compared, texts)
    of_each = score(sentences, sentences)
    score_of = dict(zip(sentences, of_each, strict=True))
    relevant = [
        one
        for one, score in score_of.items()
        if score >= ENTRY_FLOOR or bears_on(prompt, one)
    ]
    by_id = {entry.id: one for entry, one in zip(entries, scores, strict=True)}
    apart = [id_ for id_, score in by_id.items() if score < ENTRY_FLOOR]
    for entry in filter(is_summary, entries):
        own = [score_of[one] for one in list_sentences(entry)]
        by_id[entry.id] = max([by_id[entry.id], *own])
    return ScoredEntries(
        scores=by_id,
        vectors={entry.id: vector_of[entry.text] for entry in entries},
        sentences=SummarySentences(
            vectors={one: vector_of[one] for one in sentences},
            relevant=frozenset(relevant),
            asked=bearing,
            apart=frozenset(apart),
        ),
    )


def _leave_out_only_speaker(
    prompt: str, entries: Sequence[Entry]
) -> dict[str, str]:
    """Return the words of the turns by id, if the prompt names their only speaker.

    The name before each of them makes none nearer to such a prompt than the others.
    """
    turns = [entry for entry in entries if entry.id.startswith(EntryType.TURN)]
    said = {entry.id: entry.text.partition(": ") for entry in turns}
    speakers = {
        speaker
        for speaker, found, _ in said.values()
        if found and is_person(speaker)
    }
    if len(speakers) != 1 or not has_mentions(prompt, [sorted(speakers)]):
        return {}
    (only,) = speakers
    return {
        id_: words
        for id_, (speaker, _, words) in said.items()
        if speaker == only
    }
