"""One agent's memory, as a program uses it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from varve.api.arguments import checks_arguments
from varve.api.graph import Graph
from varve.api.ingested import Ingested, store, tell_requests
from varve.api.outcomes import OutcomeRecorder
from varve.api.records import Moment, as_json_times, without_missing
from varve.api.statements import StatementVerbs
from varve.domain.context import (
    ContextBlock,
    ContextRequest,
    parse_context_request,
)
from varve.domain.conversation import Conversation
from varve.domain.errors import rename_field
from varve.domain.identity import Scope
from varve.domain.metadata import Scalar
from varve.domain.record import MemoryType
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import (
    PYTHON_NAMES,
    GrainName,
    MemoryTypeName,
    SearchRequest,
    parse_search_request,
)
from varve.usecases.ingest.ingest import parse_conversations
from varve.usecases.progress import Progress, no_progress
from varve.usecases.session import Session
from varve.wiring.sessions import Now, Sessions, read_clock

if TYPE_CHECKING:
    from varve.api.experience import Experience, Recall
    from varve.api.notes import Notes


@checks_arguments
class Memory(StatementVerbs, OutcomeRecorder):
    """One agent's memory in a directory or an S3 prefix.

    >>> memory = Memory.open("./memory", workspace="acme", agent="support")
    >>> memory.ingest(conversation)
    >>> memory.search("where does Dana live?", max_results=5).results[0].content
    """

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        workspace: str = "default",
        agent: str = "default",
        now: Now = None,
        environment: Mapping[str, str] | None = None,
    ) -> "Memory":
        """Open the memory under a store root; the first `ingest` writes the first object.

        `store` is a directory or `s3://bucket/prefix` (default: VARVE_STORE, then
        ./memory). `now` is the clock, or an instant at which time stands still.
        `environment` replaces `os.environ`.
        Raises Misconfigured: a setting is wrong; Rejected: workspace or agent is not a
        valid id.
        """
        sessions = Sessions.from_environment(store, now, environment)
        return cls(sessions, Scope(workspace, agent))

    @classmethod
    def connect(
        cls,
        stack: str,
        *,
        workspace: str = "default",
        agent: str = "default",
        now: Now = None,
    ) -> "Memory":
        """Connect to the memory of a deployed stack by invoking its functions.

        `stack` is the CloudFormation stack's name or ARN. The process needs no right on
        the data: docs/deploy.md has the policy. `ingest`, `save_context`, `remember`,
        `correct`, `search`, `get`, `context`, `load_context`, `record_outcome`, `forget`
        and `delete` by ids, user or conversation work; other verbs raise Rejected. `now`
        is the clock of what is told; the functions have their own.
        Raises Misconfigured: there is no such stack, or it is not Varve's; Rejected:
        workspace or agent is not a valid id; Retryable.
        """
        from varve.api.connected import ConnectedMemory
        from varve.wiring.stack import find_functions

        scope = Scope(workspace, agent)
        return ConnectedMemory(find_functions(stack), scope, read_clock(now))

    @property
    def is_directory(self) -> bool:
        """Whether the store is a directory, a person's own, and not on S3."""
        return self.sessions.settings.s3_location is None

    def ingest(
        self,
        conversation: Conversation
        | Mapping[str, Any]
        | Iterable[Conversation | Mapping[str, Any]],
        *,
        now: datetime | None = None,
        progress: Progress = no_progress,
    ) -> Ingested:
        """Take in a conversation or several; all are validated before any is stored.

        `progress` is called as messages are taken in. Raises Rejected: names the
        field, and nothing was stored; Retryable, Misconfigured: some may be stored, and
        sending all again adds the rest.
        """
        conversations = parse_conversations(conversation, self.scope)
        self._write_reads()
        with self._open(now) as session:
            ingested = store(session, conversations, progress)
            return tell_requests(session, ingested)

    @rename_field(PYTHON_NAMES)
    def search(
        self,
        query_text: str | None = None,
        *,
        grain: GrainName | None = None,
        minimum_days_ago: int | None = None,
        maximum_days_ago: int | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        max_results: int | None = None,
        max_tokens: int | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        memory_types: Sequence[MemoryTypeName] | None = None,
        about: str | None = None,
        people: Sequence[str] | None = None,
        topics: Sequence[str] | None = None,
        where: Mapping[str, Scalar] | None = None,
        include_superseded: bool | None = None,
        agents: Sequence[str] | None = None,
        explain: bool | None = None,
        now: datetime | None = None,
    ) -> SearchResponse:
        """Answer a question; without one list the newest memories.

        `grain` limits the search to one store (default: auto, all that fit the
        question). `minimum_days_ago` and `maximum_days_ago` count calendar days back.
        `since` is included and `until` ends the window; a date means the whole day.
        `as_of` asks for the knowledge of that time. `max_results` lies in 1 to 100 (default 10),
        `max_tokens` bounds the sum of the contents. `user_id` and `conversation_id`
        pin the search. `memory_types` keeps records of these types; experience is
        searched only if it is named. Results must mention what `about` names, by any of
        its names or a first name that is unambiguous, one of `people` and one of
        `topics`. `where` has entries that the metadata of a fact or turn must have.
        `agents` are others of the workspace; their granted memories are ranked with this
        agent's own. `include_superseded` keeps corrected statements in an answer about
        the present. `explain` adds each signal's share of the score.
        Raises Rejected: names the argument; Misconfigured, Retryable.
        """
        given = {
            "query_text": query_text,
            "grain": grain,
            "minimum_days_ago": minimum_days_ago,
            "maximum_days_ago": maximum_days_ago,
            **as_json_times(since=since, until=until, as_of=as_of),
            "max_results": max_results,
            "max_tokens": max_tokens,
            "user_id": user_id,
            "conversation_id": conversation_id,
            "memory_types": memory_types,
            "about": about,
            "people": people,
            "topics": topics,
            "where": where,
            "include_superseded": include_superseded,
            "agents": agents,
            "explain": explain,
        }
        request = parse_search_request(without_missing(given))
        return self.answer(request, now=now)

    def answer(
        self, request: SearchRequest, *, now: datetime | None = None
    ) -> SearchResponse:
        """Answer a validated request of `search_memory`."""
        from varve.usecases.search.search import search

        with self._open(now) as session:
            found = search(session, request)
        read = [
            one.id
            for one in found.results
            if one.memory_type == MemoryType.PRIOR_ANSWER
        ]
        if read:
            self.experience.count_reads(read)
        return found

    def context(
        self,
        prompt: str,
        *,
        max_tokens: int | None = None,
        window_fraction: float | None = None,
        documents: Sequence[str] | None = None,
        user_id: str | None = None,
        agents: Sequence[str] | None = None,
        now: datetime | None = None,
    ) -> ContextBlock:
        """Build the block to put before a prompt; `str()` of it is empty if nothing bears on it.

        `max_tokens` bounds the block (default 1,000), and so does `window_fraction`, a
        share of the model's window (`config set models.windowTokens`, else 128,000).
        Passages of `documents` may enter it, and what other `agents` share with this one.
        With `user_id` only that user's memory enters, and the user's profile always does.
        Raises Rejected: names the argument; Misconfigured, Retryable.
        """
        given = {
            "prompt": prompt,
            "max_tokens": max_tokens,
            "window_fraction": window_fraction,
            "documents": documents,
            "user_id": user_id,
            "agents": agents,
        }
        request = parse_context_request(without_missing(given))
        return self._build_context(request, now)

    def _build_context(
        self, request: ContextRequest, now: datetime | None
    ) -> ContextBlock:
        from varve.usecases.context.context import context

        with self._open(now) as session:
            return context(session, request)

    def load_context(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        max_tokens: int | None = None,
    ) -> ContextBlock:
        """Build the block for a conversation's start, before its first words.

        It is the context of the last words, of the user or in a conversation that goes
        on. Raises as `context`.
        """
        from varve.usecases.tools import load_context

        given = {
            "user_id": user_id,
            "conversation_id": conversation_id,
            "max_tokens": max_tokens,
        }
        with self._open() as session:
            return load_context(session, without_missing(given))

    def save_context(
        self,
        conversation_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
    ) -> Ingested:
        """Take in a conversation at its end or after a turn; send all or the new messages.

        The same messages again add nothing. Raises as `ingest`.
        """
        said = {"conversationId": conversation_id, "messages": [*messages]}
        return self.ingest(
            said if user_id is None else {**said, "userId": user_id}
        )

    def summarize(
        self,
        *,
        grain: str | None = None,
        now: datetime | None = None,
        progress: Progress = no_progress,
    ) -> dict[str, int]:
        """Build the summaries that are due, of one grain or from daily up; count them.

        `progress` is called as periods are done. Raises Rejected: the grain has no summaries.
        """
        from varve.usecases.work import parse_summary_grains, summarize_agent

        grains = parse_summary_grains(grain)
        with self._open(now) as session:
            outcome = summarize_agent(session, grains, progress)
        return {
            "built": outcome.built,
            "unchanged": outcome.unchanged,
            "failed": outcome.failed,
        }

    def cleanup(
        self,
        *,
        dry_run: bool = False,
        force: bool = False,
        now: datetime | None = None,
    ) -> dict[str, Any]:
        """Delete the periods that the plan has expired; return the report as JSON values.

        With `dry_run` nothing is deleted. Records whose parent period has no ready
        summary stay and are reported, unless `force`. Raises Rejected: names the field.
        """
        from varve.usecases.work import clean_agent

        with self._open(now) as session:
            return clean_agent(session, dry_run=dry_run, force=force).to_dict()

    @cached_property
    def graph(self) -> Graph:
        """The triples, to query and to change."""
        return Graph(self.sessions, self.scope)

    @cached_property
    def experience(self) -> "Experience":
        """What this agent has learnt: episodes, lessons, prior answers, research notes."""
        from varve.api.experience import Experience

        return Experience(self.sessions, self.scope)

    @cached_property
    def notes(self) -> "Notes":
        """Small versioned texts at paths, which a search finds as records of type `note`."""
        from varve.api.notes import Notes

        return Notes(self.sessions, self.scope)

    def recall_experience(
        self,
        situation: str,
        *,
        state: str | None = None,
        user: str | None = None,
        limit: int = 8,
        regime: Mapping[str, str] | None = None,
    ) -> "Recall":
        """Return the experience that bears on a situation (`Experience.recall`)."""
        return self.experience.recall(
            situation, state=state, user=user, limit=limit, regime=regime
        )

    def close(self) -> None:
        """Write the costs, reads of experience and questions that are kept in process.

        `ingest` and every write of experience write the reads too. The memory stays
        usable. Raises Retryable, Misconfigured: they may not be written.
        """
        self._write_reads()
        self.sessions.searches.flush()
        self.sessions.costs.fold()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self, now: datetime | None = None) -> Session:
        return self.sessions.open(self.scope, now)

    def _write_reads(self) -> None:
        if "experience" in self.__dict__:
            self.experience.flush()
