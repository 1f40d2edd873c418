"""The calls in which a client sends conversations to a function that takes a few megabytes.

A longer conversation goes in several calls, in order. Each but the first begins with
messages of the call before: they are the context in which the new ones are read, and
memory takes them in once.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from varve.domain.allowance import PartlyFiltered
from varve.domain.conversation import Conversation, Message
from varve.domain.errors import Rejected, prefix_field
from varve.usecases.ingest.ingest import CONTEXT_MESSAGES, IngestOutcome

CALL_BYTES = 4_000_000
"""Conversations of one call; Lambda takes 6 MB."""
MOST_CALL_BYTES = 5_900_000
"""One message that is larger than `CALL_BYTES` travels alone up to this size."""
_PLACE = re.compile(r"messages\[(\d+)\]")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class IngestCall:
    """The conversations of one call, or one part of a long one.

    The part's first message has the place `start` in its conversation, from 0. The call
    before sent the first `repeated` messages too.
    """

    conversations: Sequence[Json]
    start: int = 0
    repeated: int = 0

    @property
    def event(self) -> Json:
        """The event for IngestFunction."""
        return {"conversations": [*self.conversations]}

    def read(self, answer: Mapping[str, Any]) -> IngestOutcome:
        """Return what the function accepted, without repeated messages."""
        outcome = IngestOutcome.from_dict(answer)
        partly = [
            self._put_in_place(one)
            for one in outcome.partly_filtered
            if one.message is None or one.message >= self.repeated
        ]
        return replace(
            outcome,
            conversations=outcome.conversations - bool(self.repeated),
            messages=outcome.messages - self.repeated,
            partly_filtered=tuple(partly),
        )

    def _put_in_place(self, one: PartlyFiltered) -> PartlyFiltered:
        if one.message is None:
            return one
        return replace(one, message=one.message + self.start)

    def tell(self, error: Rejected) -> Rejected:
        """Return a refusal that names the message's place in its whole conversation."""
        field = _PLACE.sub(
            lambda found: f"messages[{int(found[1]) + self.start}]",
            error.field,
        )
        return Rejected(field, error.reason)


def plan_calls(conversations: Sequence[Conversation]) -> Iterator[IngestCall]:
    """Return the calls that send the conversations, in order.

    Raises Rejected: a message is too large for one call; names the message, before the
    first call is made.
    """
    measured = []
    for index, conversation in enumerate(conversations):
        place = f"[{index}]." if len(conversations) > 1 else ""
        with prefix_field(place):
            measured.append(_Measured(conversation))
    return _plan(measured)


def _plan(measured: Iterable["_Measured"]) -> Iterator[IngestCall]:
    batch: list[Json] = []
    size = 0
    for one in measured:
        if batch and size + one.size > CALL_BYTES:
            yield IngestCall(batch)
            batch = []
            size = 0
        if one.size > CALL_BYTES:
            yield from one.cut()
            continue
        batch.append(one.conversation.as_json())
        size += one.size
    if batch:
        yield IngestCall(batch)


class _Measured:
    """A conversation with the bytes of each of its messages as JSON."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        bare = conversation.model_copy(update={"messages": []})
        self._bare = _measure(bare.as_json())
        self._sizes = list(map(_measure_message, conversation.messages))
        for index, size in enumerate(self._sizes):
            if self._bare + size > MOST_CALL_BYTES:
                raise Rejected(
                    f"messages[{index}]",
                    f"is {size:,} bytes as JSON; a function takes {MOST_CALL_BYTES:,} "
                    "with the conversation's own fields",
                )

    @property
    def size(self) -> int:
        """The bytes of the whole conversation."""
        return self._bare + sum(self._sizes)

    def cut(self) -> Iterator[IngestCall]:
        """Yield the calls that send the conversation's messages, in order."""
        start = 0
        while start < len(self._sizes):
            first = self._find_context(start)
            end = self._find_end(first, start)
            messages = self.conversation.messages[first:end]
            part = self.conversation.model_copy(update={"messages": messages})
            yield IngestCall([part.as_json()], first, start - first)
            start = end

    def _find_context(self, start: int) -> int:
        """Return the first of the messages to repeat before the one at `start`."""
        first = start
        room = CALL_BYTES - self._bare - self._sizes[start]
        while first > max(0, start - CONTEXT_MESSAGES):
            room -= self._sizes[first - 1]
            if room < 0:
                break
            first -= 1
        return first

    def _find_end(self, first: int, start: int) -> int:
        """Return the place after the part's last message; it has at least one new one."""
        end = start + 1
        size = self._bare + sum(self._sizes[first:end])
        while end < len(self._sizes) and size + self._sizes[end] <= CALL_BYTES:
            size += self._sizes[end]
            end += 1
        return end


def _measure_message(message: Message) -> int:
    value = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return _measure(value)


def _measure(value: Json) -> int:
    """Return the bytes of a value and of what stands between it and the next."""
    return len(json.dumps(value, ensure_ascii=False).encode()) + len(", ")
