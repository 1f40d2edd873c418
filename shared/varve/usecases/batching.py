"""What an extractor is asked: a conversation's utterances in batches of bounded size."""

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
"""How many utterances before a batch go with it, to be read but not extracted from."""
CONTEXT_CHARACTERS = 2_000
"""How much of each of them, the end: a pasted document would else fill the model's window again."""


def extracted(
    message: IngestMessage,
    spoken: Sequence[Utterance],
    before: Sequence[Utterance],
    zone: ZoneInfo,
    extractor: Extractor,
) -> Extraction:
    """All batches' facts and operations, a fact that two batches state only once.

    `before` are the utterances that came before the first. Raises as the extractor does.
    """
    facts: dict[tuple[str, tuple[str, ...]], Fact] = {}
    operations: list[TripleOperation] = []
    for batch in _batches(message, spoken, before, zone):
        extraction = extractor.extract(batch)
        facts |= {(fact.content, fact.message_ids): fact for fact in extraction.facts}
        operations += extraction.operations
    return Extraction(tuple(facts.values()), tuple(operations))


def _batches(
    message: IngestMessage,
    spoken: Sequence[Utterance],
    before: Sequence[Utterance],
    zone: ZoneInfo,
) -> Iterator[Batch]:
    """The utterances in batches of bounded size, each with the few that came before it."""
    batch: list[Utterance] = []
    size = 0
    for utterance in _bounded(spoken):
        cost = estimated_tokens(utterance.text)
        if batch and size + cost > MAX_BATCH_TOKENS:
            yield _batch(message, batch, before, zone)
            before, batch, size = batch[-CONTEXT_UTTERANCES:], [], 0
        batch.append(utterance)
        size += cost
    if batch:
        yield _batch(message, batch, before, zone)


def _bounded(spoken: Sequence[Utterance]) -> Iterator[Utterance]:
    """The utterances, one that would fill more than a batch in several pieces of the same message."""
    for utterance in spoken:
        for piece in passages(utterance.text, 4 * MAX_BATCH_TOKENS):
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
    """The utterance, of a long one its last passage."""
    if len(utterance.text) <= CONTEXT_CHARACTERS:
        return utterance
    return replace(utterance, text=[*passages(utterance.text, CONTEXT_CHARACTERS)][-1])
