"""The owner's verbs of a memory: they run with the process's own credentials."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varve.api.arguments import checks_arguments
from varve.api.sharing import Share
from varve.domain.calendar import aware
from varve.domain.errors import Rejected
from varve.domain.graph import QueryLimits
from varve.domain.identity import Scope
from varve.domain.usage import ModelUsage
from varve.usecases.progress import Progress, no_progress
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions

if TYPE_CHECKING:
    from varve.domain.costs import Costs
    from varve.domain.diagnosis import Diagnosis
    from varve.domain.monthly_report import MonthlyReport
    from varve.domain.review import Review


def _parse_path(directory: str | Path) -> Path:
    """Return a directory's path. Raises Rejected: it is empty."""
    if not str(directory):
        raise Rejected("DIR", "must be the path of a directory")
    return Path(directory)


@checks_arguments
class OwnerVerbs:
    """Erasure, configuration, transfer and status of one agent's memory."""

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self.scope = scope

    @property
    def sessions(self) -> Sessions:
        """Opens sessions on the store. Raises Rejected: the memory has no store of its own."""
        return self._sessions

    @property
    def usage(self) -> ModelUsage:
        """What this process has asked of models so far, over all its memories."""
        return ModelUsage.of(self.sessions.meter.total)

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
        progress: Progress = no_progress,
    ) -> dict[str, Any]:
        """Erase a user, a conversation, or facts and turns with their messages.

        `query` erases the statements that `dry_run` lists for it, of facts, turns,
        triples, profile entries and summaries at every grain; with `user` those that are
        that user's alone. `proposal` erases those of a
        proposal (`propose_forget`). Of these `only` takes those with the given numbers,
        from 1. `verify` searches everything left for the erased words. `progress` is
        called as passes and objects are done. Return the receipt's figures.
        Raises Rejected: not exactly one of the five, or a query and its user; Retryable: call again to go on.
        """
        from varve.usecases.forget.forget import forget
        from varve.usecases.forget.proposed import forget_proposed
        from varve.usecases.forget.requests import (
            parse_forget_request,
            refuse_beside_proposal,
        )

        if proposal is not None:
            refuse_beside_proposal(user, conversation, ids, query)
        self.sessions.searches.flush()
        with self._open_owner() as session:
            if proposal is not None:
                outcome = forget_proposed(
                    session,
                    proposal,
                    self.sessions,
                    only=only,
                    dry_run=dry_run,
                    verify=verify,
                    progress=progress,
                )
                return outcome.to_dict()
            request = parse_forget_request(
                user,
                conversation,
                ids,
                query,
                only=only,
                dry_run=dry_run,
                verify=verify,
            )
            return forget(session, request, self.sessions, progress).to_dict()

    def propose_forget(
        self, query: str, *, user_id: str | None = None
    ) -> dict[str, Any]:
        """Leave a proposal to erase what a query names; a person confirms it with `forget`.

        Nothing is erased. With `user_id` it proposes statements of that user alone.
        `proposal` of the returned JSON values is the number, None without statements.
        Raises Rejected: the query has no words; Retryable.
        """
        from varve.usecases.forget.proposed import propose_forget

        with self.sessions.open(self.scope) as session:
            return propose_forget(session, query, user_id).to_dict()

    def review(
        self,
        *,
        days: int = 90,
        most: int = 50,
        user_id: str | None = None,
    ) -> "Review":
        """Return statements that hold and that a person should look at, oldest first.

        Nothing has confirmed them for `days` days, and a later statement or the graph
        contradicts them. Requests to forget that users made in conversations become
        proposals, which `forget(proposal=…)` confirms. Raises Rejected: names the field.
        """
        from varve.usecases.review import review

        with self._open_owner() as session:
            return review(session, days=days, most=most, user_id=user_id)

    def forget_proposals(self) -> list[dict[str, Any]]:
        """Return the proposals to forget that wait, oldest first, as JSON values."""
        from varve.usecases.forget.proposed import list_forget_proposals

        with self._open_owner() as session:
            return [one.to_dict() for one in list_forget_proposals(session)]

    def discard_proposal(self, number: int) -> None:
        """Remove a proposal to forget. Raises Rejected: none of this number waits."""
        from varve.usecases.erasure.proposed import discard

        with self._open_owner() as session:
            discard(session, number)

    def config(self) -> dict[str, Any]:
        """Return the workspace's settings by their dotted names."""
        from varve.usecases.operate.configure import values

        with self._open_owner() as session:
            return values(session.config)

    def setting(self, name: str) -> Any:
        """Return one setting. Raises Rejected: there is none of this name."""
        from varve.usecases.operate.configure import value

        with self._open_owner() as session:
            return value(session.config, name)

    def configure(
        self, name: str, value: str, *, check: bool = True
    ) -> dict[str, Any]:
        """Set one setting, or with an empty value restore its default; return all.

        A setting of models is tried first with one short request to each model, unless
        `check` is False. Raises Rejected: names the setting and its valid values;
        Misconfigured: a key or a model is wrong; Retryable.
        """
        from varve.usecases.operate.configure import change, with_value
        from varve.usecases.operate.model_check import check_models
        from varve.wiring.privacy import require_regions

        with self._open_owner() as session:
            new = with_value(session.config, name, value)
            if name == "privacy.regions":
                require_regions(new)
            if check and name.startswith("models."):
                check_models(session.with_config(new))
            change(session, name, value)
        return self.config()

    def export(
        self,
        directory: str | Path,
        *,
        force: bool = False,
        progress: Progress = no_progress,
    ) -> dict[str, Any]:
        """Write this memory into a directory (docs/export.md); return its manifest.

        The directory appears when it is complete. `progress` is called as records and
        days are written. Raises Rejected: it is not empty;
        with `force` an earlier export is replaced. Raises Retryable.
        """
        from varve.usecases.transfer.exporting import export
        from varve.wiring.exports import create_export

        with (
            self._open_owner() as session,
            create_export(_parse_path(directory), force=force) as writer,
        ):
            return export(session, writer, progress)

    def import_(
        self, directory: str | Path, *, progress: Progress = no_progress
    ) -> dict[str, Any]:
        """Add what an export holds; return how much was new, as JSON values.

        All of it is validated first. Importing again changes nothing. `progress` is
        called as conversations and records are written. Raises Rejected: names file,
        line and field; Retryable, Misconfigured: some may be written, and importing
        again adds the rest.
        """
        from varve.usecases.transfer.importing import import_
        from varve.wiring.exports import open_export

        with self._open_owner() as session:
            return import_(
                session, open_export(_parse_path(directory)), progress
            )

    def reembed(
        self, *, to: str | None = None, progress: Progress = no_progress
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
                session, spell_embedder, to=to, progress=progress
            )
        return outcome.to_dict()

    def check(self) -> None:
        """Read a little of each store, so that a bad one raises before it is needed.

        Raises Misconfigured: a store cannot be read, or has another embedding model;
        Rejected: the configuration is wrong; Retryable.
        """
        from varve.usecases.operate.store_check import check_store

        with self._open_owner() as session:
            check_store(session)

    def status(
        self, *, people: bool = False, topics: bool = False
    ) -> dict[str, Any]:
        """Return what memory holds and which periods wait, as JSON values.

        `people` and `topics` add who and what occurs, for the filters of a search.
        """
        from varve.usecases.operate.status import status

        with self._open_owner() as session:
            return status(session, people=people, topics=topics)

    def agents(self) -> list[dict[str, Any]]:
        """Return the workspace's agents with records, users, newest event and size."""
        from varve.usecases.operate.agents import list_agents

        with self._open_owner() as session:
            return [share.to_dict() for share in list_agents(session)]

    def sql(
        self, query: str, *, limits: QueryLimits | None = None
    ) -> list[dict[str, Any]]:
        """Run one untrusted SELECT over the tables of all the workspace's agents.

        The tables are those of docs/analytics.md; only the ones that the query names are
        loaded. Return the rows as JSON objects. The query runs in a separate read-only
        process without files, network or settings, with bounded time, memory and output.
        Raises Rejected: field `sql`, with the reason or the limit that was exceeded;
        Retryable.
        """
        from varve.usecases.analytics.query import query_workspace

        self.sessions.searches.flush()
        with self._open_owner() as session:
            result = query_workspace(
                session,
                query,
                self.sessions.open_stage,
                limits or QueryLimits(),
            )
        return result.to_dicts()

    def publish(
        self,
        target: str | Path,
        *,
        remove: bool = False,
        progress: Progress = no_progress,
    ) -> dict[str, Any]:
        """Bring Parquet files of the workspace's tables up to date; return the counts.

        `target` is a directory or `s3://bucket/prefix` outside the store. Only partitions
        whose rows changed are written, and the ones without rows go. The store notes the
        target, so that erasure reaches it; `remove` deletes the files and the note.
        `progress` is called as agents are done. Raises Rejected: the target cannot be
        one; Misconfigured, Retryable: publishing again goes on.
        """
        from varve.usecases.analytics import publish as usecases

        name = self.sessions.name_target(target)
        self.sessions.searches.flush()
        with self._open_owner() as session:
            if remove:
                return usecases.remove(session, name, self.sessions).to_dict()
            outcome = usecases.publish(session, name, self.sessions, progress)
        return outcome.to_dict()

    def costs(
        self, *, since: datetime | None = None, everyone: bool = False
    ) -> "Costs":
        """Return what the workspace's agents have used, with estimated dollars.

        By default since the calendar month began, in the workspace's zone, else since the
        day of `since`. With `everyone` all the store's workspaces are counted, and the
        work that is no agent's. What this process has counted is folded in first.
        Raises Rejected: `since` has no time zone or lies after today; Misconfigured, Retryable.
        """
        from varve.usecases.operate.costs import read_costs

        self.sessions.costs.fold()
        with self._open_owner() as session:
            first = None if since is None else aware(since, "since")
            return read_costs(session, first, everyone=everyone)

    def diagnose(self, *, asks_models: bool = True) -> "Diagnosis":
        """Examine the store, its bucket, queues, role, clock, models, formats and backlog.

        With `asks_models` each configured model gets one short request. Errors are
        findings. Nothing but a probe object of the endpoint is written.
        """
        from varve.usecases.operate.diagnose import diagnose
        from varve.wiring.surroundings import ProcessSurroundings

        surroundings = ProcessSurroundings(self.sessions)
        with self._open_owner() as session:
            return diagnose(session, surroundings, asks_models=asks_models)

    def report(self, month: str) -> "MonthlyReport":
        """Report a calendar month of the workspace, such as `2026-10`.

        The figures count what memory still holds of the month; retention and erasure
        have taken the rest. Raises Rejected: `month`; Retryable.
        """
        from varve.usecases.operate.report import report

        self.sessions.costs.fold()
        with self._open_owner() as session:
            return report(session, month, self.sessions.open_stage)

    def workspaces(self) -> list[str]:
        """Return the names of the store's workspaces that have stored anything.

        Raises Misconfigured: the credentials may not list the store; Retryable.
        """
        from varve.usecases.operate.agents import list_workspaces

        with self._open_owner() as session:
            return list_workspaces(session)

    @cached_property
    def share(self) -> Share:
        """The grants by which other agents read parts of this memory."""
        return Share(self.sessions, self.scope)

    def _open_owner(self) -> Session:
        return self.sessions.open_owner(self.scope)
