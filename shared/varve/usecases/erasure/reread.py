"""Read a conversation anew from the timeline, after somebody who took part in it has been forgotten."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from varve.domain.calendar import parse_instant
from varve.domain.conversation import Conversation
from varve.messages.erasure import Reread
from varve.messages.ingest import IngestMessage
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import Line, read_timeline
from varve.usecases.ingest import CONTEXT_MESSAGES, MESSAGES_PER_PART
from varve.usecases.learning import learn
from varve.usecases.session import Session
from varve.usecases.timeline import Said


def reread(session: Session, message: Reread) -> tuple[int, int]:
    """Extract facts and triples from what is left of a conversation; count both.

    Facts read beside the forgotten words may repeat them, so the rest is read without
    them, as learnt when it first was. Raises Retryable, Rejected, Misconfigured.
    """
    scope = message.scope
    name = message.conversation_id
    barred = tombstones.load(scope, objects=session.objects)
    timeline = read_timeline(scope, objects=session.objects, conversation=name)
    lines = timeline.get(name, [])
    left = list({line.id: line for line in lines if not line.barred(barred)}.values())
    facts = operations = 0
    for part, said in _parts(message, left):
        found = learn(session, part, said, about=message.remembered)
        facts += found[0]
        operations += found[1]
    return facts, operations


def _parts(
    message: Reread, left: list[Line]
) -> Iterator[tuple[IngestMessage, list[Said]]]:
    """The messages in runs that came together, of bounded length, each with the few before it."""
    start = 0
    for learnt, run in groupby(left, key=lambda line: _learnt(message, line)):
        length = len(list(run))
        for first in range(start, start + length, MESSAGES_PER_PART):
            lines = left[first : min(first + MESSAGES_PER_PART, start + length)]
            before = left[max(0, first - CONTEXT_MESSAGES) : first]
            conversation = Conversation(
                workspace_id=message.scope.workspace,
                agent_id=message.scope.agent,
                conversation_id=message.conversation_id,
                messages=[said.message for said in _said(lines)],
            )
            context = tuple(said.message for said in _said(before))
            yield IngestMessage(conversation, context, learnt), _said(lines)
        start += length


def _learnt(message: Reread, line: Line) -> datetime:
    return message.learnt.get(line.id) or parse_instant(line.value["at"])


def _said(lines: list[Line]) -> list[Said]:
    """The messages with their resolved times and users, as they were first read."""
    said = []
    for line in lines:
        at, user = parse_instant(line.value["at"]), line.value.get("userId")
        known = line.message.model_copy(update={"timestamp": at, "user_id": user})
        said.append(Said(known, at, line.value["position"]))
    return said
