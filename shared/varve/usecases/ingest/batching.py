"""Extract from a conversation's utterances in batches of bounded size."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.text import estimated_tokens, passages
from varve.domain.triple import TripleOperation
from varve.messages.ingest import IngestMessage
from varve.ports.models import Extractor

MAX_BATCH_TOKENS = 6_000
CONTEXT_UTTERANCES = 4
"""Utterances before a batch that the extractor reads as context."""
CONTEXT_CHARACTERS = 2_000
"""Characters of each of them, from its end, so that a pasted document does not fill the window."""


def extract_in_batches(
    message: IngestMessage,
    spoken: Sequence[Utterance],
    before: Sequence[Utterance],
    zone: ZoneInfo,
    extractor: Extractor,
) -> Extraction:
    """Return all batches' facts and operations; a fact of two batches counts once.

    `before` are the utterances that came before the first. Raises as the extractor does.
    """
    facts: dict[tuple[str, tuple[str, ...]], Fact] = {}
    operations: list[TripleOperation] = []
    if_known: list[TripleOperation] = []
    for batch in _batches(message, spoken, before, zone):
        extraction = extractor.extract(batch)
        for fact in extraction.facts:
            facts[fact.content, fact.message_ids] = fact
        operations += extraction.operations
        if_known += extraction.if_known
    return Extraction(
        tuple(facts.values()), tuple(operations), tuple(if_known)
    )


def _batches(
    message: IngestMessage,
    spoken: Sequence[Utterance],
    before: Sequence[Utterance],
    zone: ZoneInfo,
) -> Iterator[Batch]:
    """Yield the utterances in batches, each with the utterances before it as context."""
    batch: list[Utterance] = []
    size = 0
    for utterance in _split_long(spoken):
        cost = estimated_tokens(utterance.text)
        if batch and size + cost > MAX_BATCH_TOKENS:
            yield _batch(message, batch, before, zone)
            before = batch[-CONTEXT_UTTERANCES:]
            batch = []
            size = 0
        batch.append(utterance)
        size += cost
    if batch:
        yield _batch(message, batch, before, zone)


def _split_long(spoken: Sequence[Utterance]) -> Iterator[Utterance]:
    """Yield the utterances; one larger than a batch in several pieces."""
    for utterance in spoken:
        pieces = [*passages(utterance.text, 4 * MAX_BATCH_TOKENS)]
        if pieces == [utterance.text]:
            yield utterance
            continue
        for piece in pieces:
            yield replace(utterance, text=piece)


def _batch(
    message: IngestMessage,
    batch: Sequence[Utterance],
    before: Sequence[Utterance],
    zone: ZoneInfo,
) -> Batch:
    conversation = message.conversation
    return Batch(
        scope=conversation.scope,
        conversation_id=conversation.conversation_id,
        utterances=tuple(batch),
        context=tuple(map(_end, before)),
        zone=zone,
        created_at=message.received_at,
    )


def _end(utterance: Utterance) -> Utterance:
    """Return the utterance, or of a long one its last passage."""
    if len(utterance.text) <= CONTEXT_CHARACTERS:
        return utterance
    return replace(
        utterance, text=[*passages(utterance.text, CONTEXT_CHARACTERS)][-1]
    )
