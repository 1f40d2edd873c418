"""One agent's memory, as a person uses it."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varve.api.graph import Graph
from varve.application import Application
from varve.domain.calendar import SUMMARY_GRAINS, Grain, aware
from varve.domain.context import ContextBlock, parse_context_request
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.domain.search.answer import SearchResponse
from varve.domain.search.query import parse_search_request
from varve.usecases import configure as configuring
from varve.usecases import ingest as ingesting
from varve.usecases.ingest import IngestOutcome
from varve.verbs.forgetting import forget_in
from varve.wiring.clock import fixed_clock, system_clock
from varve.wiring.parts import Parts
from varve.wiring.privacy import require_regions
from varve.wiring.settings import read_settings

if TYPE_CHECKING:
    from varve.api.experience import Experience, Recall
    from varve.usecases.extract import ExtractOutcome

Now = datetime | Callable[[], datetime] | None


class Memory:
    """One agent's memory in a directory or an S3 prefix.

    >>> memory = Memory.open("./memory", workspace="acme", agent="support")
    >>> memory.ingest(conversation)
    >>> memory.search("where does Dana live?", max_results=5).results[0].content
    """

    def __init__(self, application: Application, scope: Scope) -> None:
        self._application = application
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
        """A memory under a store root; nothing is written before the first `ingest`.

        `store` is a directory or `s3://bucket/prefix` (default: VARVE_STORE, then ./memory); `now` is
        the clock, or an instant at which time stands still; `environment` replaces `os.environ`.
        Raises Misconfigured (a setting is wrong), Rejected (workspace or agent is not a valid id).
        """
        given = os.environ if environment is None else environment
        settings = read_settings(given, str(store) if store is not None else None)
        parts = Parts(settings, _clock(now), given)
        return cls(Application(parts), Scope(workspace, agent))

    def ingest(
        self,
        conversation: Conversation
        | Mapping[str, Any]
        | Iterable[Conversation | Mapping[str, Any]],
        *,
        now: datetime | None = None,
    ) -> "Ingested":
        """Take in a conversation or several; all are validated before any is stored.

        Raises Rejected: names the field; nothing was stored. Raises Retryable, Misconfigured: some
        may be stored; sending all of them again adds only what is missing.
        """
        return Ingested(
            *self._application.ingest(ingesting.parsed(conversation, self.scope), now)
        )

    def search(
        self,
        query_text: str | None = None,
        *,
        now: datetime | None = None,
        **arguments: Any,
    ) -> SearchResponse:
        """Answer a question, or without one list the newest memories.

        `arguments` are those of `search_memory` in snake case: grain, minimum_days_ago,
        maximum_days_ago, since, until, as_of, max_results, max_tokens, user_id, conversation_id,
        explain, memory_types. Raises Rejected: names the argument.
        """
        named = {
            name: _plain(value)
            for name, value in arguments.items()
            if value is not None
        }
        request = parse_search_request({"query_text": query_text, **named})
        return self._application.search(self.scope, request, now)

    def context(
        self,
        prompt: str,
        *,
        user_id: str | None = None,
        now: datetime | None = None,
        **limits: Any,
    ) -> ContextBlock:
        """The block to put before a prompt: `str()` of what is returned, empty where nothing bears on it.

        `limits` are max_tokens (1,000) and documents, texts to choose passages from. With `user_id`
        nothing but that user's memory enters. Raises Rejected: names the argument.
        """
        named = {name: value for name, value in limits.items() if value is not None}
        request = parse_context_request({"prompt": prompt, "user_id": user_id, **named})
        return self._application.knowledge.context(self.scope, request, now)

    def profile(
        self, *, user_id: str | None = None, now: datetime | None = None
    ) -> dict[str, Any]:
        """A user's attributes and their history; of those without an id, where none is given."""
        return self._application.knowledge.profile(self.scope, user_id, now)

    def set_profile(
        self,
        key: str,
        value: str,
        *,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> None:
        """Set an attribute, add to a list, or with an empty value end what it has. Raises Rejected."""
        self._application.knowledge.set_attribute(self.scope, key, value, user_id, now)

    def show(self, record_id: str, *, depth: int | None = None) -> dict[str, Any]:
        """A record and its sources, `depth` levels of them (None: down to the messages), as JSON values.

        Raises Rejected: there is no such record.
        """
        return self._application.show(self.scope, record_id, depth)

    def summarize(
        self, *, grain: str | None = None, now: datetime | None = None
    ) -> dict[str, int]:
        """Build the summaries that are due, from daily up or of one grain; how many of what outcome.

        Raises Rejected: not a grain that has summaries.
        """
        outcome = self._application.nights.summarize(
            self.scope, _grains(grain), self.parts.at(now)
        )
        return {
            "built": outcome.built,
            "unchanged": outcome.unchanged,
            "failed": outcome.failed,
        }

    def cleanup(
        self, *, dry_run: bool = False, force: bool = False, now: datetime | None = None
    ) -> dict[str, Any]:
        """Delete what has outlived the plan, or with `dry_run` say what would go, as JSON values.

        Records whose period above has no ready summary stay and are reported, unless `force`.
        """
        at = self.parts.at(now)
        return self._application.nights.cleanup(
            self.scope, at, dry_run=dry_run, force=force
        ).to_dict()

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
        """Erase a user, a conversation, or facts and turns with their messages; the receipt's figures.

        `query` takes what `dry_run` lists for it: the best ten facts and turns that share a word with it.
        `verify` reads all that is left and looks for what was there. Raises Rejected: not exactly one of
        the four; Retryable: doing it again goes on where it ended.
        """
        return forget_in(
            self._application,
            self.scope,
            user,
            conversation,
            ids,
            query,
            dry_run=dry_run,
            check=verify,
        ).to_dict()

    def config(self) -> dict[str, Any]:
        """The workspace's settings by their dotted names."""
        return configuring.values(self._application.parts.config(self.scope.workspace))

    def setting(self, name: str) -> Any:
        """One of them. Raises Rejected: there is none of this name."""
        return configuring.value(
            self._application.parts.config(self.scope.workspace), name
        )

    def configure(self, name: str, value: str) -> dict[str, Any]:
        """Set one of them, or with an empty value go back to the default; all of them, then.

        Raises Rejected: names the setting and what it may be.
        """
        parts = self._application.parts
        if name == "privacy.regions":
            require_regions(
                configuring.with_value(parts.config(self.scope.workspace), name, value)
            )
        configuring.change(
            self.scope.workspace,
            name,
            value,
            parts.clock(),
            objects=parts.objects,
            ledger=self._application.ledger,
        )
        return self.config()

    def export(self, directory: str | Path, *, force: bool = False) -> dict[str, Any]:
        """Write this memory into a directory (docs/export.md); its manifest, without the files' hashes.

        The directory appears when it is whole. Raises Rejected: it is not empty; with `force` an earlier
        export gives way. Raises Retryable.
        """
        application = self._application
        return application.transferring.export(
            self.scope, directory, application.parts.clock(), force=force
        )

    def import_(self, directory: str | Path) -> dict[str, Any]:
        """Add what an export holds; how much was new and how much there, as JSON values.

        All of it is validated first. Importing again changes nothing. Raises Rejected: names file, line and
        field. Raises Retryable, Misconfigured: some may be there; import again.
        """
        return self._application.transferring.import_(self.scope, directory)

    def reembed(
        self,
        *,
        to: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Move the stores of all the workspace's agents to its embedding model, as JSON values.

        `to` becomes that model first; `progress` is told a store, how many of its records are embedded, and
        of how many. Search goes on all the while. Interrupted, it goes on where it was when called again.
        Raises Rejected, Retryable, Misconfigured.
        """
        application = self._application
        outcome = application.transferring.reembed(
            self.scope.workspace,
            application.parts.clock(),
            to=to,
            progress=progress or _silent,
        )
        return outcome.to_dict()

    @cached_property
    def graph(self) -> Graph:
        """What is known about whom: the triples, to ask and to change."""
        return Graph(self._application, self.scope)

    @property
    def parts(self) -> Parts:
        """The adapters and models behind this memory."""
        return self._application.parts

    @cached_property
    def experience(self) -> "Experience":
        """What this agent has learnt: episodes, lessons, prior answers, research notes."""
        from varve.api.experience import Experience

        return Experience(
            self._application.experience, self.scope, self._application.send_outcome
        )

    def record_outcome(self, target: str, outcome: str, **given: Any) -> Report:
        """Say how an episode, or a conversation's last one, ended (`Experience.record_outcome`)."""
        return self.experience.record_outcome(target, outcome, **given)

    def recall_experience(
        self, situation: str, *, state: str | None = None, **given: Any
    ) -> "Recall":
        """What of the past bears on a situation (`Experience.recall`)."""
        return self.experience.recall(situation, state=state, **given)

    def status(self) -> dict[str, Any]:
        """What memory holds, as JSON values."""
        return self._application.status(self.scope)


@dataclass(frozen=True, slots=True)
class Ingested:
    """What `ingest` did: `accepted` for certain, `stored` where no queue lies between."""

    accepted: IngestOutcome
    stored: "ExtractOutcome | None"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        accepted, stored = self.accepted, self.stored
        return {
            "accepted": {
                "conversations": accepted.conversations,
                "messages": accepted.messages,
            },
            "stored": stored
            and {
                "messages": stored.messages,
                "turns": stored.turns,
                "facts": stored.facts,
                "tripleOperations": stored.operations,
                "ignored": stored.ignored,
            },
        }


def _silent(store: str, done: int, of: int) -> None:
    """Whoever does not ask is not told."""


def _grains(grain: str | None) -> Sequence[Grain]:
    if grain is None:
        return SUMMARY_GRAINS
    if grain not in SUMMARY_GRAINS:
        raise Rejected(
            "grain", f"{grain[:40]!r} is not one of {', '.join(SUMMARY_GRAINS)}"
        )
    return (Grain(grain),)


def _clock(now: Now) -> Callable[[], datetime]:
    if now is None:
        return system_clock
    return (lambda: aware(now())) if callable(now) else fixed_clock(now)


def _plain(value: Any) -> Any:
    """Dates and times as the contract writes them."""
    return value.isoformat() if hasattr(value, "isoformat") else value
