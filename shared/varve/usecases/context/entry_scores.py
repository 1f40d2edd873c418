"""How much the entries of a context have to do with its prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from varve.domain.block import Entry, EntryType
from varve.domain.record import Vector
from varve.domain.relevance import BACKGROUND, ENTRY_FLOOR, relevances
from varve.domain.search.mentions import has_mentions
from varve.domain.statements.questions.bearing import bears_on
from varve.domain.statements.texts.persons import is_person
from varve.ports.models import Embedder
from varve.usecases.context.fold_entries import (
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
    *,
    is_pinned: bool,
) -> ScoredEntries:
    """Score the entries, with one call to the embedder; `bearing` are ids of `Candidates`.

    A summary has to do with the prompt as much as its sentence that does most. If the
    entries are pinned to one user, that one's name makes none nearer to a prompt.
    """
    texts = [entry.text for entry in entries]
    sentences = list_all_sentences(entries)
    unnamed = _leave_out_only_speaker(prompt, entries) if is_pinned else {}
    compared = [unnamed.get(entry.id, entry.text) for entry in entries]
    wanted = list(dict.fromkeys([*BACKGROUND, *texts, *sentences, *compared]))
    asked, *embedded = embedder.embed([prompt, *wanted])
    vector_of = dict(zip(wanted, embedded, strict=True))

    def score(words: Sequence[str], whole: Sequence[str]) -> list[float]:
        vectors = [vector_of[one] for one in words]
        background = [vector_of[one] for one in BACKGROUND]
        return relevances(prompt, asked, whole, vectors, background)

    ids = [entry.id for entry in entries]
    by_id = dict(zip(ids, score(compared, texts), strict=True))
    of_each = score(sentences, sentences)
    score_of = dict(zip(sentences, of_each, strict=True))
    return ScoredEntries(
        scores=_raise_summaries(by_id, entries, score_of),
        vectors={entry.id: vector_of[entry.text] for entry in entries},
        sentences=SummarySentences(
            vectors={one: vector_of[one] for one in sentences},
            relevant=_find_relevant(prompt, score_of),
            asked=bearing,
            apart=_find_apart(by_id),
        ),
    )


def _find_relevant(prompt: str, scores: Mapping[str, float]) -> frozenset[str]:
    return frozenset(
        sentence
        for sentence, score in scores.items()
        if score >= ENTRY_FLOOR or bears_on(prompt, sentence)
    )


def _find_apart(scores: Mapping[str, float]) -> frozenset[str]:
    return frozenset(
        id_ for id_, score in scores.items() if score < ENTRY_FLOOR
    )


def _raise_summaries(
    scores: Mapping[str, float],
    entries: Sequence[Entry],
    score_of: Mapping[str, float],
) -> dict[str, float]:
    """Return the entries' scores, those of summaries at least that of each sentence."""
    raised = dict(scores)
    for entry in filter(is_summary, entries):
        own = [score_of[one] for one in list_sentences(entry)]
        raised[entry.id] = max([raised[entry.id], *own])
    return raised


def _leave_out_only_speaker(
    prompt: str, entries: Sequence[Entry]
) -> dict[str, str]:
    """Return the words of the turns by id, if the prompt names their only speaker.

    The name before each of them makes none nearer to such a prompt than the others.
    """
    said: dict[str, dict[str, str]] = {}
    for entry in entries:
        speaker, named, words = entry.text.partition(": ")
        is_turn = entry.id.startswith(EntryType.TURN)
        if is_turn and named and is_person(speaker):
            said.setdefault(speaker, {})[entry.id] = words
    if len(said) != 1 or not has_mentions(prompt, [list(said)]):
        return {}
    (words_of,) = said.values()
    return words_of
