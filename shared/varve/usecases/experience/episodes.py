"""Cut a conversation into episodes and send them to the writer; the timeline stays as it came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from varve.domain.calendar import parse_instant
from varve.domain.conversation import SPOKEN, Message
from varve.domain.echo import without_injected
from varve.domain.experience.links import links_of_neighbours
from varve.domain.experience.reading import Judge, read_segment, worth_keeping
from varve.domain.experience.rows import episode_record
from varve.domain.experience.segments import (
    DEFAULT_THRESHOLDS,
    Segment,
    SegmentMessage,
    Thresholds,
    cut_segments,
)
from varve.domain.identity import Scope
from varve.domain.text import passages
from varve.messages.ingest import IngestMessage
from varve.messages.write import WriteTriples, send_triples
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.ports.queues import Queue
from varve.usecases.experience.rows import send_rows, year_of
from varve.usecases.timeline import Said, messages_on, working_day


@dataclass(frozen=True, slots=True)
class Cutting:
    """Where conversations are cut, and who says how an episode ended where its words do not."""

    thresholds: Thresholds = DEFAULT_THRESHOLDS
    judge: Judge | None = None


def keep_episodes(
    message: IngestMessage,
    new: Sequence[Said],
    zone: ZoneInfo,
    cutting: Cutting,
    *,
    embedder: Embedder,
    queue: Queue,
    objects: Objects,
) -> int:
    """Send the episodes that the new messages begin or carry on; how many.

    Only where there is something to learn from: a message with a state, a signal or an outcome, or words
    that give an outcome away. What came before on these days and the day before is read from the timeline.
    """
    conversation = message.conversation
    scope, conversation_id = conversation.scope, conversation.conversation_id
    fresh = [_heard(s.message, s, conversation_id, conversation.user_id) for s in new]
    if not worth_keeping(Segment(tuple(fresh), "")):
        return 0
    heard = (
        fresh
        if new[0].position == 0
        else list(_so_far(new, scope, message, zone, objects))
    )
    ids = {said.id for said in new}
    episodes, grown = [], []
    for segment in cut_segments(_embedded(heard, embedder), cutting.thresholds):
        grows = any(one.message_id in ids for one in segment.messages)
        episodes.append(
            read_segment(segment, message.received_at, cutting.judge if grows else None)
        )
        grown += episodes[-1:] if grows else []
    records = [
        episode_record(episode, year_of(episode.began, zone)) for episode in grown
    ]
    send_rows(records, scope, embedder=embedder, queue=queue, objects=objects)
    links = tuple(
        link
        for before, after in pairwise(episodes)
        if after in grown
        for link in links_of_neighbours(before, after)
    )
    if links:
        send_triples(WriteTriples(scope, links), queue=queue, objects=objects)
    return len(grown)


def _so_far(
    new: Sequence[Said],
    scope: Scope,
    message: IngestMessage,
    zone: ZoneInfo,
    objects: Objects,
) -> Iterator[SegmentMessage]:
    """The conversation's messages of the new ones' days and of the day before, the new ones among them."""
    conversation = message.conversation
    first = min(said.at for said in new)
    days = {working_day(said.at, zone) for said in new} | {
        working_day(first - timedelta(days=1), zone)
    }
    lines = [
        line
        for day in sorted(days)
        for line in messages_on(
            day, scope, conversation.conversation_id, objects=objects
        )
    ]
    known = {
        line["message"]["id"]: line for line in lines
    }  # a retried delivery may have left two
    for line in sorted(known.values(), key=lambda line: line["position"]):
        said = Said(
            Message.model_validate(line["message"]),
            parse_instant(line["at"]),
            line["position"],
        )
        yield _heard(
            said.message, said, conversation.conversation_id, conversation.user_id
        )


def _heard(
    message: Message, said: Said, conversation_id: str, user_id: str | None
) -> SegmentMessage:
    spoken = message.role in SPOKEN or message.role == "tool"
    return SegmentMessage(
        conversation_id=conversation_id,
        message_id=said.id,
        role=message.role,
        text=without_injected(message.text) if spoken else "",
        at=said.at,
        state=message.state,
        signal=message.signal,
        outcome=message.outcome,
        user_id=message.user_id or user_id,
    )


def _embedded(
    heard: Sequence[SegmentMessage], embedder: Embedder
) -> list[SegmentMessage]:
    """The same with the vectors of what was said in person, of a long message its first passage's."""
    spoken = [one for one in heard if one.role in SPOKEN and one.text.strip()]
    vectors = embedder.embed([next(passages(one.text)) for one in spoken])
    by_id = {
        one.message_id: vector for one, vector in zip(spoken, vectors, strict=True)
    }
    return [replace(one, vector=by_id.get(one.message_id)) for one in heard]
