"""One agent's memory behind the functions of a deployed stack."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from varve.api.arguments import checks_arguments
from varve.api.ingest_calls import IngestCall, plan_calls
from varve.api.ingested import Ingested
from varve.api.memory import Memory
from varve.domain.calendar import aware, iso
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.listing import StoredRecord
from varve.domain.record import turn_id
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest
from varve.domain.statements.texts.telling import (
    build_correction_of,
    build_remembered,
    require_correctable,
)
from varve.messages.outcome import parse_outcome_event
from varve.messages.tool_calls import CONTEXT, RECORD
from varve.ports.clock import Clock
from varve.usecases.forget.requests import parse_forget_request
from varve.usecases.ingest.ingest import IngestOutcome, parse_conversations
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.wiring.sessions import Sessions

if TYPE_CHECKING:
    from varve.adapters.stack_functions import StackFunctions

Json = dict[str, Any]


@checks_arguments
class ConnectedMemory(Memory):
    """A memory whose verbs invoke the functions of a deployed stack.

    Verbs that no function answers raise Rejected.
    """

    def __init__(
        self, functions: "StackFunctions", scope: Scope, clock: Clock
    ) -> None:
        self._functions = functions
        self._clock = clock
        self.scope = scope

    @property
    def sessions(self) -> Sessions:
        """A connected memory has no store. Raises Rejected."""
        raise Rejected(
            "memory",
            f"is connected to the stack {self._functions.stack}, whose functions do not "
            "answer this; Memory.open its StoreUri with rights on the bucket",
        )

    @property
    def is_directory(self) -> bool:
        """Whether the store is a directory: never."""
        return False

    def ingest(
        self,
        conversation: Conversation
        | Mapping[str, Any]
        | Iterable[Conversation | Mapping[str, Any]],
        *,
        now: datetime | None = None,
        progress: Progress = no_progress,
    ) -> Ingested:
        """Send conversations to IngestFunction; all are validated before any is sent.

        When this returns they are on the queue, and found some seconds later. One over
        4 MB goes in several calls. Raises Rejected: names the field, or a message that is
        too large for a call, or one that the workspace blocks, and then earlier calls are
        accepted; Retryable, Misconfigured: sending all again adds the rest.
        """
        _refuse_now(now)
        conversations = parse_conversations(conversation, self.scope)
        messages = sum(len(one.messages) for one in conversations)
        step = StepCounter("messages", messages, progress)
        outcomes = []
        for call in plan_calls(conversations):
            outcomes.append(self._send(call))
            step.add(outcomes[-1].messages)
        return Ingested(IngestOutcome.total(outcomes), None)

    def _send(self, call: IngestCall) -> IngestOutcome:
        try:
            answer = self._functions.invoke("IngestFunction", call.event)
        except Rejected as error:
            raise call.tell(error) from error
        return call.read(answer)

    def remember(
        self,
        text: str,
        *,
        user_id: str | None = None,
        at: datetime | None = None,
        now: datetime | None = None,
    ) -> Ingested:
        """Send one statement as a separate message, said `at` or now, as `ingest` does."""
        said = at or now or self._clock()
        return self.ingest(build_remembered(text, said, user_id=user_id))

    def answer(
        self, request: SearchRequest, *, now: datetime | None = None
    ) -> SearchResponse:
        """Answer a validated request of `search_memory` by SearchFunction."""
        _refuse_now(now)
        arguments = request.model_dump(
            mode="json", by_alias=True, exclude_unset=True
        )
        answer = self._ask({"arguments": arguments})
        return SearchResponse.model_validate(answer)

    def get(self, record_id: str) -> StoredRecord | None:
        """Return the record of this id by SearchFunction; None: there is none."""
        asked = {"tool": RECORD, "arguments": {"id": record_id}}
        found = self._ask(asked)["record"]
        return None if found is None else StoredRecord.model_validate(found)

    def correct(
        self, record_id: str, text: str, *, now: datetime | None = None
    ) -> Ingested:
        """Send what holds instead of a fact or turn, as `ingest` does.

        Raises Rejected: there is no such fact or turn.
        """
        require_correctable(record_id)
        record = self.get(record_id)
        if record is None:
            raise Rejected("id", f"there is no record {record_id[:80]!r}")
        speaker = None
        if record.source_ids:
            words = turn_id(
                record.conversation_id or "", record.source_ids[-1]
            )
            turn = self.get(words)
            speaker = turn.about if turn else None
        correction = build_correction_of(
            record.id,
            text,
            now or self._clock(),
            record.user_id,
            speaker,
            is_event=True,
        )
        return self.ingest(correction)

    def load_context(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        max_tokens: int | None = None,
    ) -> ContextBlock:
        """Build the block for a conversation's start by SearchFunction."""
        arguments = {
            "userId": user_id,
            "conversationId": conversation_id,
            "maxTokens": max_tokens,
        }
        return self._ask_context(arguments)

    def record_outcome(
        self,
        target: str,
        outcome: str,
        *,
        correction: str | None = None,
        decision: str | None = None,
        resolution: str | None = None,
        used: Sequence[str] = (),
        user: str | None = None,
        at: datetime | None = None,
    ) -> Report:
        """Say how the last episode of a conversation ended, by the conversation's id.

        Return the report as it was sent. Raises Rejected: names the field.
        """
        if isinstance(used, str):
            raise Rejected("used", "must be a list of ids, not one")
        now = self._clock()
        event = {
            "type": "outcome",
            "workspaceId": self.scope.workspace,
            "agentId": self.scope.agent,
            "conversationId": target,
            "outcome": outcome,
            "at": iso(now if at is None else aware(at, "at")),
            "userId": user,
            "correction": correction,
            "decision": decision,
            "resolution": resolution,
            "used": [*used],
        }
        _, report = parse_outcome_event(event, now)
        if report.names_episode:
            raise Rejected(
                "target", "is an episode; a stack takes a conversation's id"
            )
        self._functions.invoke("IngestFunction", event)
        return report

    def forget(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        ids: Sequence[str] = (),
        query: str | None = None,
        proposal: int | None = None,
        only: Sequence[int] | None = None,
        dry_run: bool = False,
        verify: bool = False,
        progress: Progress = no_progress,  # noqa: ARG002 - a function reports no steps
    ) -> dict[str, Any]:
        """Erase a user, a conversation or records by ForgetFunction; return the receipt.

        Raises Rejected: not exactly one of the three; Retryable: call again to go on.
        """
        if query is not None or proposal is not None:
            name = "proposal" if query is None else "query"
            raise Rejected(name, "needs the store; a stack takes ids")
        parse_forget_request(
            user, conversation, ids, None, only=only, dry_run=dry_run, verify=verify
        )  # fmt: skip
        subject = {"user": user, "conversation": conversation, "ids": [*ids]}
        event: Json = {name: one for name, one in subject.items() if one}
        event |= {"verify": verify, "dryRun": dry_run}
        receipt: Json = self._functions.invoke(
            "ForgetFunction", {**self._whose, **event}
        )
        return receipt

    def close(self) -> None:
        """Do nothing: this process keeps no costs and no reads."""

    @property
    def _whose(self) -> Json:
        return {
            "workspaceId": self.scope.workspace,
            "agentId": self.scope.agent,
        }

    def _build_context(
        self, request: ContextRequest, now: datetime | None
    ) -> ContextBlock:
        _refuse_now(now)
        return self._ask_context(
            request.model_dump(mode="json", by_alias=True, exclude_unset=True)
        )

    def _ask_context(self, arguments: Json) -> ContextBlock:
        asked = {"tool": CONTEXT, "arguments": arguments}
        return ContextBlock.model_validate(self._ask(asked))

    def _ask(self, asked: Json) -> Any:
        return self._functions.invoke(
            "SearchFunction", {**self._whose, **asked}
        )


def _refuse_now(now: datetime | None) -> None:
    if now is not None:
        raise Rejected(
            "now", "the stack's functions have a clock of their own"
        )
