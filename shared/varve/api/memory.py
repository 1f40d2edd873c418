"""One agent's memory, as a program uses it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varve.api.graph import Graph
from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.context import ContextBlock, parse_context_request
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import SearchRequest, parse_search_request
from varve.usecases.ingest import IngestOutcome, ingest, parse_conversations
from varve.usecases.session import Session
from varve.wiring.sessions import Now, Sessions

if TYPE_CHECKING:
    from varve.api.experience import Experience, Recall
    from varve.usecases.extract import ExtractOutcome

Progress = Callable[[str, int, int], None]
"""Receives a store's name, how many of its records are done, and of how many."""


class Memory:
    """One agent's memory in a directory or an S3 prefix.

    >>> memory = Memory.open("./memory", workspace="acme", agent="support")
    >>> memory.ingest(conversation)
    >>> memory.search("where does Dana live?", max_results=5).results[0].content
    """

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self.sessions = sessions
        self.scope = scope

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

    def ingest(
        self,
        conversation: Conversation
        | Mapping[str, Any]
        | Iterable[Conversation | Mapping[str, Any]],
        *,
        now: datetime | None = None,
    ) -> "Ingested":
        """Take in a conversation or several; all are validated before any is stored.

        Raises Rejected: names the field, and nothing was stored; Retryable,
        Misconfigured: some may be stored, and sending all again adds what is missing.
        """
        from varve.usecases.local import catch_up

        conversations = parse_conversations(conversation, self.scope)
        with self._open(now) as session:
            accepted = ingest(session, conversations)
            return Ingested(accepted, catch_up(session))

    def search(
        self,
        query_text: str | None = None,
        *,
        now: datetime | None = None,
        **arguments: Any,
    ) -> SearchResponse:
        """Answer a question; without one list the newest memories.

        `arguments` are those of `search_memory` in snake case: grain,
        minimum_days_ago, maximum_days_ago, since, until, as_of, max_results,
        max_tokens, user_id, conversation_id, explain, memory_types.
        Raises Rejected: names the argument.
        """
        given: dict[str, Any] = {"query_text": query_text}
        for name, value in arguments.items():
            if value is not None:
                given[name] = _as_json_time(value)
        return self.answer(parse_search_request(given), now=now)

    def answer(
        self, request: SearchRequest, *, now: datetime | None = None
    ) -> SearchResponse:
        """Answer a validated request of `search_memory`."""
        from varve.usecases.search import search

        with self._open(now) as session:
            return search(session, request)

    def context(
        self,
        prompt: str,
        *,
        user_id: str | None = None,
        now: datetime | None = None,
        **limits: Any,
    ) -> ContextBlock:
        """Build the block to put before a prompt; `str()` of it is empty if nothing bears on it.

        `limits` are max_tokens (1,000) and documents, texts to choose passages from.
        With `user_id` only that user's memory enters. Raises Rejected: names the
        argument.
        """
        from varve.usecases.context import context

        given = {name: value for name, value in limits.items() if value is not None}
        request = parse_context_request({"prompt": prompt, "user_id": user_id, **given})
        with self._open(now) as session:
            return context(session, request)

    def profile(
        self, *, user_id: str | None = None, now: datetime | None = None
    ) -> dict[str, Any]:
        """Return a user's attributes and their history, as JSON values.

        Without an id: those of messages without a user.
        """
        from varve.usecases.profile import read_profile

        with self._open(now) as session:
            return read_profile(session, user_id)

    def set_profile(
        self,
        key: str,
        value: str,
        *,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> None:
        """Set an attribute or add to a list; an empty value ends its values.

        Raises Rejected: names the field.
        """
        from varve.usecases.profile import set_attribute

        with self._open(now) as session:
            set_attribute(session, key, value, user_id)

    def show(self, record_id: str, *, depth: int | None = None) -> dict[str, Any]:
        """Return a record and its sources as JSON values, `depth` levels of them.

        None: down to the messages. Raises Rejected: there is no such record.
        """
        from varve.usecases.show import show

        with self._open() as session:
            return show(session, record_id, depth)

    def summarize(
        self, *, grain: str | None = None, now: datetime | None = None
    ) -> dict[str, int]:
        """Build the summaries that are due, of one grain or from daily up; count them.

        Raises Rejected: the grain has no summaries.
        """
        from varve.usecases.work import summarize_agent

        grains = _summary_grains(grain)
        with self._open(now) as session:
            outcome = summarize_agent(session, grains)
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
        summary stay and are reported, unless `force`.
        """
        from varve.usecases.work import clean_agent

        with self._open(now) as session:
            return clean_agent(session, dry_run=dry_run, force=force).to_dict()

    def forget(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        ids: Sequence[str] = (),
        query: str | None = None,
        dry_run: bool = False,
        verify: bool = False,
    ) -> dict[str, Any]:
        """Erase a user, a conversation, or facts and turns with their messages.

        `query` erases what `dry_run` lists for it: the best ten facts and turns that
        share a word with it. `verify` searches everything left for the erased
        words. Return the receipt's figures.
        Raises Rejected: not exactly one of the four; Retryable: call again to go on.
        """
        from varve.usecases.forget import forget, parse_forget_request

        request = parse_forget_request(
            user, conversation, ids, query, dry_run=dry_run, verify=verify
        )
        with self.sessions.open_owner(self.scope) as session:
            return forget(session, request, self.sessions).to_dict()

    def config(self) -> dict[str, Any]:
        """Return the workspace's settings by their dotted names."""
        from varve.usecases.configure import values

        with self._open_owner() as session:
            return values(session.config)

    def setting(self, name: str) -> Any:
        """Return one setting. Raises Rejected: there is none of this name."""
        from varve.usecases.configure import value

        with self._open_owner() as session:
            return value(session.config, name)

    def configure(self, name: str, value: str) -> dict[str, Any]:
        """Set one setting, or with an empty value restore its default; return all.

        Raises Rejected: names the setting and its valid values.
        """
        from varve.usecases.configure import change, with_value
        from varve.wiring.privacy import require_regions

        with self._open_owner() as session:
            if name == "privacy.regions":
                require_regions(with_value(session.config, name, value))
            change(session, name, value)
        return self.config()

    def export(self, directory: str | Path, *, force: bool = False) -> dict[str, Any]:
        """Write this memory into a directory (docs/export.md); return its manifest.

        The directory appears when it is complete. Raises Rejected: it is not empty;
        with `force` an earlier export is replaced. Raises Retryable.
        """
        from varve.usecases.transfer.exporting import export
        from varve.wiring.exports import create_export

        with (
            self._open_owner() as session,
            create_export(Path(directory), force=force) as writer,
        ):
            return export(session, writer)

    def import_(self, directory: str | Path) -> dict[str, Any]:
        """Add what an export holds; return how much was new, as JSON values.

        All of it is validated first. Importing again changes nothing.
        Raises Rejected: names file, line and field; Retryable, Misconfigured: some may
        be written, and importing again adds the rest.
        """
        from varve.usecases.transfer.importing import import_
        from varve.wiring.exports import open_export

        with self._open_owner() as session:
            return import_(session, open_export(Path(directory)))

    def reembed(
        self, *, to: str | None = None, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Move the stores of all the workspace's agents to its embedding model.

        `to` becomes that model first; `progress` is called as records are embedded.
        Search works meanwhile. Interrupted, it goes on where it was when called again.
        Return the outcome as JSON values. Raises Rejected, Retryable, Misconfigured.
        """
        from varve.usecases.transfer.reembed import reembed
        from varve.wiring.models import spell_embedder

        with self._open_owner() as session:
            outcome = reembed(
                session, spell_embedder, to=to, progress=progress or _no_progress
            )
        return outcome.to_dict()

    @cached_property
    def graph(self) -> Graph:
        """The triples, to query and to change."""
        return Graph(self.sessions, self.scope)

    @cached_property
    def experience(self) -> "Experience":
        """What this agent has learnt: episodes, lessons, prior answers, research notes."""
        from varve.api.experience import Experience

        return Experience(self.sessions, self.scope)

    def record_outcome(self, target: str, outcome: str, **given: Any) -> Report:
        """Say how an episode ended (`Experience.record_outcome`)."""
        return self.experience.record_outcome(target, outcome, **given)

    def recall_experience(
        self, situation: str, *, state: str | None = None, **given: Any
    ) -> "Recall":
        """Return the experience that bears on a situation (`Experience.recall`)."""
        return self.experience.recall(situation, state=state, **given)

    def status(self) -> dict[str, Any]:
        """Return what memory holds and which periods wait, as JSON values."""
        from varve.usecases.status import status

        with self._open_owner() as session:
            return status(session)

    def _open(self, now: datetime | None = None) -> Session:
        return self.sessions.open(self.scope, now)

    def _open_owner(self) -> Session:
        return self.sessions.open_owner(self.scope)


@dataclass(frozen=True, slots=True)
class Ingested:
    """The counts of `ingest`: accepted and, if no queue is configured, stored."""

    accepted: IngestOutcome
    stored: "ExtractOutcome | None"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        accepted = {
            "conversations": self.accepted.conversations,
            "messages": self.accepted.messages,
        }
        if self.stored is None:
            return {"accepted": accepted, "stored": None}
        stored = {
            "messages": self.stored.messages,
            "turns": self.stored.turns,
            "facts": self.stored.facts,
            "tripleOperations": self.stored.operations,
            "ignored": self.stored.ignored,
        }
        return {"accepted": accepted, "stored": stored}


def _no_progress(store: str, done: int, total: int) -> None:
    """Do nothing: the default progress callback."""


def _summary_grains(grain: str | None) -> Sequence[Grain]:
    if grain is None:
        return SUMMARY_GRAINS
    if grain not in SUMMARY_GRAINS:
        names = ", ".join(SUMMARY_GRAINS)
        raise Rejected("grain", f"{grain[:40]!r} is not one of {names}")
    return (Grain(grain),)


def _as_json_time(value: Any) -> Any:
    """Return dates and times as the contract writes them."""
    return value.isoformat() if hasattr(value, "isoformat") else value
