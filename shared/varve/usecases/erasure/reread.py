"""Extract a conversation again from the timeline, after part of it was forgotten."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from varve.domain.calendar import parse_instant
from varve.domain.conversation import Conversation
from varve.messages.erasure import Reread
from varve.messages.ingest import IngestMessage
from varve.usecases.erasure import tombstones
from varve.usecases.erasure.sweep import TimelineLine, read_timeline
from varve.usecases.ingest.ingest import CONTEXT_MESSAGES, MESSAGES_PER_PART
from varve.usecases.ingest.learning import learn, spoken_in
from varve.usecases.ingest.taken_in import Said
from varve.usecases.session import Session


def reread(session: Session, message: Reread) -> tuple[int, int]:
    """Extract facts and triples from the rest of a conversation; count both.

    Facts that were extracted together with the forgotten words may repeat them. So the
    rest is extracted without those words. It keeps the time at which it was first learnt.
    Raises Retryable, Rejected, Misconfigured.
    """
    scope = message.scope
    name = message.conversation_id
    barred = tombstones.load(scope, objects=session.objects)
    timeline = read_timeline(scope, objects=session.objects, conversation=name)
    lines = timeline.get(name, [])
    left: dict[str, TimelineLine] = {}
    for line in lines:
        if not line.is_barred_by(barred):
            left[line.id] = line
    facts = 0
    operations = 0
    for part, said in _split_into_parts(message, list(left.values())):
        spoken = spoken_in(said, part)
        new_facts, new_operations = learn(
            session, part, spoken, about=message.remembered
        )
        facts += new_facts
        operations += new_operations
    return facts, operations


def _split_into_parts(
    message: Reread, left: list[TimelineLine]
) -> Iterator[tuple[IngestMessage, list[Said]]]:
    """Yield runs of messages learnt at the same time, each with a few before it.

    A run has at most `MESSAGES_PER_PART` messages.
    """
    start = 0
    runs = groupby(left, key=lambda line: _learnt_at(message, line))
    for learnt_at, run in runs:
        end = start + len(list(run))
        for first in range(start, end, MESSAGES_PER_PART):
            last = min(first + MESSAGES_PER_PART, end)
            said = resolve(left[first:last])
            before = resolve(left[max(0, first - CONTEXT_MESSAGES) : first])
            conversation = Conversation(
                workspace_id=message.scope.workspace,
                agent_id=message.scope.agent,
                conversation_id=message.conversation_id,
                messages=[one.message for one in said],
            )
            context = tuple(one.message for one in before)
            part = IngestMessage(
                conversation, context, learnt_at, message.token
            )
            yield part, said
        start = end


def _learnt_at(message: Reread, line: TimelineLine) -> datetime:
    return message.learnt.get(line.id) or parse_instant(line.value["at"])


def resolve(lines: list[TimelineLine]) -> list[Said]:
    """Return the messages with the times and users that were resolved at first reading."""
    said: list[Said] = []
    for line in lines:
        at = parse_instant(line.value["at"])
        user = line.value.get("userId")
        known = line.message.model_copy(
            update={"timestamp": at, "user_id": user}
        )
        said.append(Said(known, at, line.value["position"]))
    return said
