"""The words as said, as records: one turn a message, a long one in passages and in short."""

from collections.abc import Iterator, Sequence

from varve.domain.extractive import choose_sentences, sentences
from varve.domain.language.courtesies import is_courtesy
from varve.domain.metadata import encode_metadata
from varve.domain.record import IN_SHORT, MemoryType, Record, turn_id
from varve.domain.statements.texts.telling import CORRECTION, REMEMBERED
from varve.domain.text import passages, salience
from varve.messages.ingest import IngestMessage
from varve.usecases.ingest.learning import Spoken
from varve.usecases.session import Session
from varve.usecases.timeline import working_day

SHORT_TOKENS = 160
"""The length of a long message in short, in estimated tokens."""
MAX_SENTENCES = 200
"""The most sentences of a message that are weighed; of more, evenly spread ones."""


def build_turns(
    session: Session, spoken: Sequence[Spoken], message: IngestMessage
) -> list[Record]:
    """Return the turns of messages, with the speaker's name.

    A message that only greets, thanks or acknowledges has none: the timeline has it. What
    `remember` or `correct` was given always has one. A long message has a turn for each
    passage, and one more with its most central sentences. Raises Retryable,
    Misconfigured: the sentences cannot be embedded.
    """
    names = {utterance.speaker for _, utterance in spoken}
    is_told = message.conversation.conversation_id.startswith(
        (REMEMBERED, CORRECTION)
    )
    turns: list[Record] = []
    for said, utterance in spoken:
        if not is_told and is_courtesy(utterance.text, names):
            continue
        for number, words in _cut(session, utterance.text):
            turns.append(
                _build_turn(session, (said, utterance), number, words, message)
            )
    return turns


def _cut(session: Session, text: str) -> Iterator[tuple[int, str]]:
    """Yield the passages with their numbers, and for a long text `IN_SHORT` and its short form."""
    pieces = list(passages(text))
    yield from enumerate(pieces)
    if len(pieces) > 1:
        yield IN_SHORT, shorten(session, text)


def shorten(session: Session, text: str) -> str:
    """Return the most central sentences of a text in their order, in its own words."""
    every = list(dict.fromkeys(sentences(text)))
    step = -(-len(every) // MAX_SENTENCES)
    spread = every[::step]
    vectors = session.embedder.embed(spread)
    return choose_sentences(spread, vectors, SHORT_TOKENS)


def _build_turn(
    session: Session,
    spoken: Spoken,
    number: int,
    words: str,
    message: IngestMessage,
) -> Record:
    said, utterance = spoken
    conversation_id = message.conversation.conversation_id
    return Record(
        id=turn_id(conversation_id, said.id, number),
        memory_type=MemoryType.TURN,
        content=f"{utterance.speaker}: {words}",
        period=working_day(said.at, session.zone),
        event_time=said.at,
        created_at=message.received_at,
        source_ids=(said.id,),
        conversation_id=conversation_id,
        user_id=utterance.user_id,
        about=utterance.speaker,
        importance=salience(words),
        position=said.position,
        key_facts=encode_metadata(said.message.metadata or {}),
    )
