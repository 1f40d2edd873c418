"""Cut a conversation into episodes and send them to the writer."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from varve.domain.calendar import parse_instant
from varve.domain.conversation import SPOKEN, Message
from varve.domain.echo import without_injected
from varve.domain.experience.links import links_of_neighbours
from varve.domain.experience.reading import read_segment, worth_keeping
from varve.domain.experience.results import as_words
from varve.domain.experience.rows import Episode, episode_record
from varve.domain.experience.segments import (
    NEW_SUBJECT,
    Segment,
    SegmentMessage,
    cut_segments,
)
from varve.domain.text import passages
from varve.domain.triple import TripleOperation
from varve.messages.ingest import IngestMessage
from varve.messages.write import WriteTriples, send_triples
from varve.ports.models import Embedder
from varve.usecases.experience.judging import ModelJudge
from varve.usecases.experience.rows import send_rows, year_of
from varve.usecases.ingest.taken_in import Said
from varve.usecases.session import Session
from varve.usecases.timeline import messages_on, working_day

REGIME_PREFIX = "regime."
"""The beginning of the names of metadata that state an episode's regime."""


def keep_episodes(
    session: Session,
    message: IngestMessage,
    new: Sequence[Said],
    last_at: datetime | None = None,
) -> int:
    """Send the episodes that the new messages begin or continue; count them.

    Does nothing unless a message has a state, a signal, an outcome, or words that show
    an outcome, or a new subject follows a long silence. `last_at` is the time of the
    message before the new ones. Earlier messages of these days and of the day before are
    read from the timeline.
    """
    conversation = message.conversation
    zone = session.zone
    fresh = [
        _heard(
            s.message, s, conversation.conversation_id, conversation.user_id
        )
        for s in new
    ]
    is_labelled = worth_keeping(Segment(tuple(fresh), ""))
    if not is_labelled and not _has_long_silence(session, fresh, last_at):
        return 0
    heard = fresh
    if new[0].position > 0:
        heard = _read_so_far(session, message, new, last_at)
    judge = _open_judge(session) if is_labelled else None
    episodes, grown = _read_episodes(session, message, heard, new, judge)
    if not is_labelled and not _begins_subject(grown, heard):
        return 0
    records = [
        episode_record(episode, year_of(episode.began, zone))
        for episode in grown
    ]
    send_rows(session, records)
    if is_labelled:
        _send_links(session, episodes, grown)
    return len(grown)


def _open_judge(session: Session) -> ModelJudge | None:
    return ModelJudge(session.llm) if session.llm else None


def _begins_subject(
    grown: Sequence[Episode], heard: Sequence[SegmentMessage]
) -> bool:
    """Return whether one user's conversation came to a new subject.

    Where several speak, a silence of one depends on the words of another.
    """
    users = {one.user_id for one in heard if one.role == "user"}
    starts = any(one.why.startswith(NEW_SUBJECT) for one in grown)
    return starts and len(users) == 1


def _send_links(
    session: Session, episodes: Sequence[Episode], grown: Sequence[Episode]
) -> None:
    """Send the links between neighbours of which the later one grew."""
    links: list[TripleOperation] = []
    for before, after in pairwise(episodes):
        if after in grown:
            links += links_of_neighbours(before, after)
    if links:
        triples = WriteTriples(session.scope, tuple(links))
        send_triples(
            triples, queue=session.queues.write, objects=session.objects
        )


def _has_long_silence(
    session: Session,
    fresh: Sequence[SegmentMessage],
    last_at: datetime | None,
) -> bool:
    """Return whether a silence long enough for a new subject precedes a new message."""
    times = [one.at for one in fresh]
    if last_at is not None:
        times = [last_at, *times]
    limit = session.config.experience.thresholds.subject_gap
    return any(after - before >= limit for before, after in pairwise(times))


def _read_episodes(
    session: Session,
    message: IngestMessage,
    heard: Sequence[SegmentMessage],
    new: Sequence[Said],
    judge: ModelJudge | None,
) -> tuple[list[Episode], list[Episode]]:
    """Return the episodes of a conversation, and those among them that are new or grew."""
    ids = {said.id for said in new}
    embedded = _embed(heard, session.embedder)
    episodes: list[Episode] = []
    grown: list[Episode] = []
    thresholds = session.config.experience.thresholds
    for segment in cut_segments(embedded, thresholds):
        grows = any(one.message_id in ids for one in segment.messages)
        asked = judge if grows else None
        episode = read_segment(segment, message.received_at, asked)
        episodes.append(episode)
        if grows:
            grown.append(episode)
    return episodes, grown


def _read_so_far(
    session: Session,
    message: IngestMessage,
    new: Sequence[Said],
    last_at: datetime | None,
) -> list[SegmentMessage]:
    """Return the conversation's messages from the day before the new ones on.

    If its last message is older, that message's day is read too.
    """
    zone = session.zone
    conversation = message.conversation
    id_ = conversation.conversation_id
    first = min(said.at for said in new)
    days = {working_day(said.at, zone) for said in new}
    days.add(working_day(first - timedelta(days=1), zone))
    if last_at is not None:
        days.add(working_day(last_at, zone))
    lines: dict[str, dict[str, Any]] = {}
    for day in sorted(days):
        stored = messages_on(day, session.scope, id_, objects=session.objects)
        for line in stored:
            # A retried delivery may have left a message twice.
            lines[line["message"]["id"]] = line
    heard: list[SegmentMessage] = []
    for line in sorted(lines.values(), key=lambda line: line["position"]):
        told = Message.model_validate(line["message"])
        said = Said(told, parse_instant(line["at"]), line["position"])
        heard.append(_heard(told, said, id_, conversation.user_id))
    return heard


def _heard(
    message: Message, said: Said, conversation_id: str, user_id: str | None
) -> SegmentMessage:
    spoken = message.role in SPOKEN or message.role == "tool"
    text = without_injected(message.text) if spoken else ""
    return SegmentMessage(
        conversation_id=conversation_id,
        message_id=said.id,
        role=message.role,
        text=text,
        at=said.at,
        state=message.state,
        signal=message.signal,
        outcome=message.outcome,
        user_id=message.user_id or user_id,
        regime=_read_regime(message),
    )


def _read_regime(message: Message) -> dict[str, str]:
    """Return the entries of a message's metadata whose names begin with `regime.`."""
    regime: dict[str, str] = {}
    for name, value in (message.metadata or {}).items():
        if name.startswith(REGIME_PREFIX):
            regime[name.removeprefix(REGIME_PREFIX)] = as_words(value)
    return regime


def _embed(
    heard: Sequence[SegmentMessage], embedder: Embedder
) -> list[SegmentMessage]:
    """Return the messages with vectors; a long message has its first passage's."""
    spoken = [one for one in heard if one.role in SPOKEN and one.text.strip()]
    first_passages = [next(passages(one.text)) for one in spoken]
    vectors = embedder.embed(first_passages)
    ids = [one.message_id for one in spoken]
    by_id = dict(zip(ids, vectors, strict=True))
    return [replace(one, vector=by_id.get(one.message_id)) for one in heard]
