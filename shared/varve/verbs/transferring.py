"""Export, import, and the move to another embedding model, over one set of parts."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.ports.queues import Queue
from varve.usecases import configure as configuring
from varve.usecases.ledger import Ledger
from varve.usecases.transfer.reembed import Progress, ReembedOutcome
from varve.wiring.parts import Parts


class Transferring:
    """The verbs over one set of parts; `queue` hands out the write queue once something is written."""

    def __init__(
        self, parts: Parts, ledger: Ledger, queue: Callable[[], Queue]
    ) -> None:
        self._parts, self._ledger, self._queue = parts, ledger, queue

    def export(
        self, scope: Scope, directory: str | Path, now: datetime, *, force: bool
    ) -> dict[str, Any]:
        """Write all of an agent's memory into a directory, which appears when it is whole; the manifest.

        Raises Rejected: the directory is not empty, and with `force`: it holds no export. Raises Retryable.
        """
        from varve.usecases.transfer.exporting import export
        from varve.wiring.transfer import create_export

        parts = self._parts
        with create_export(Path(directory), force=force) as writer:
            return export(
                scope,
                now,
                parts.config(scope.workspace),
                stores=parts.stores,
                graph=parts.graph,
                profiles=parts.profiles,
                objects=parts.objects,
                writer=writer,
            )

    def import_(self, scope: Scope, directory: str | Path) -> dict[str, Any]:
        """Add what an export holds to an agent's memory; how much of what was new, as JSON values.

        Everything is validated before anything is written. Raises Rejected: names file, line and field.
        Raises Retryable, Misconfigured: some may be written; importing again adds the rest.
        """
        from varve.usecases.transfer.importing import Target, import_
        from varve.wiring.transfer import open_export

        parts = self._parts
        target = Target(
            scope=scope,
            reader=parts.records,
            graph=parts.graph,
            profiles=parts.profiles,
            ledger=self._ledger,
            objects=parts.objects,
            queue=self._queue(),
            config=lambda: parts.config(scope.workspace),
            privacy=lambda config: parts.privacy(config, scope.workspace),
            embedder=parts.embedder,
        )
        return import_(open_export(Path(directory)), target)

    def reembed(
        self,
        workspace: str,
        now: datetime,
        *,
        to: str | None = None,
        progress: Progress,
    ) -> ReembedOutcome:
        """Move all stores of the workspace's agents to its embedding model, or to another that it then has.

        Raises Rejected: `to` is no embedder's name. Raises Retryable, Misconfigured: begin again.
        """
        from varve.usecases.transfer.reembed import reembed
        from varve.wiring.embedder import spelled

        parts = self._parts
        if to is not None:
            _try_out(parts, workspace, to)
            configuring.change(
                workspace,
                "models.embedder",
                to,
                now,
                objects=parts.objects,
                ledger=self._ledger,
            )
        return reembed(
            workspace,
            parts.config(workspace),
            iso(now),
            stores=parts.stores,
            embedder=parts.embedder,
            spelled=spelled,
            queue=self._queue(),
            objects=parts.objects,
            progress=progress,
        )


def _try_out(parts: Parts, workspace: str, embedder: str) -> None:
    """Have it embed something before anything is changed. Raises Rejected, Retryable, Misconfigured."""
    config = configuring.with_value(
        parts.config(workspace), "models.embedder", embedder
    )
    parts.embedder(config).embed(["Does it answer?"])
