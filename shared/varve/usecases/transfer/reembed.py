"""Reembed: move a workspace's stores to the embedding model that it has now, one after the other.

A store moves in one commit of the writer. Until then it is searched with its own model, which the
configuration names beside the new one; from then on with the new one. What an interrupted move had
embedded is kept, and stores that have moved are left alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from varve.domain.identity import Scope
from varve.domain.record import STORES, StoreName
from varve.domain.workspace import WorkspaceConfig
from varve.messages.moves import MoveStore, send_move
from varve.ports.models import Embedder
from varve.ports.objects import Objects
from varve.ports.queues import Queue
from varve.ports.transfer import StoreReader
from varve.usecases import configure as configuring
from varve.usecases.transfer.staging import Staging, batches, sweep

Progress = Callable[[str, int, int], None]
"""Told of a store how many of its records have been embedded, of how many."""


@dataclass(frozen=True, slots=True)
class ReembedOutcome:
    """The stores that were behind, those of which the writer has moved, and those that wait for it."""

    model: str
    stores: int
    moved: tuple[str, ...]
    waiting: tuple[str, ...]
    records: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "model": self.model,
            "stores": self.stores,
            "moved": list(self.moved),
            "waiting": list(self.waiting),
            "records": self.records,
        }


def reembed(
    workspace: str,
    config: WorkspaceConfig,
    token: str,
    *,
    stores: StoreReader,
    embedder: Callable[[WorkspaceConfig], Embedder],
    spelled: Callable[[str], str],
    queue: Queue,
    objects: Objects,
    progress: Progress,
) -> ReembedOutcome:
    """Embed what stores hold of other models than the workspace's, and have the writer move them.

    `spelled` says how the settings spell the embedder of a recorded model; `token` makes this attempt's
    messages new to the queue. Done again, it goes on where it was interrupted.
    Raises Retryable, Rejected, Misconfigured: some stores may have moved; search goes on with both models.
    """
    new = embedder(config)
    there = list(_stores(workspace, stores, objects))
    behind = [
        (scope, grain, model) for scope, grain, model in there if model != new.model
    ]
    if behind:
        names = {spelled(model): None for _, _, model in behind}
        before = dict.fromkeys([*config.models.embedders_before, *names])
        configuring.move_from(workspace, list(before), objects=objects)
    records = 0
    for scope, grain, _ in behind:
        records += _stage(scope, grain, stores, Staging(scope, new, objects), progress)
        send_move(
            MoveStore(scope, grain, new.model), token, queue=queue, objects=objects
        )
    waiting = [
        f"{s}/{g}"
        for s, g, model in _stores(workspace, stores, objects)
        if model != new.model
    ]
    if not waiting:
        configuring.move_from(workspace, [], objects=objects)
        for scope in {scope for scope, _, _ in there}:
            sweep(scope, objects=objects)
    moved = [
        store
        for scope, grain, _ in behind
        if (store := f"{scope}/{grain}") not in waiting
    ]
    return ReembedOutcome(new.model, len(there), tuple(moved), tuple(waiting), records)


def _stores(
    workspace: str, stores: StoreReader, objects: Objects
) -> Iterator[tuple[Scope, StoreName, str]]:
    """All stores of the workspace's agents, with their models."""
    for agent in objects.folders(f"vectordb/{workspace}"):
        scope = Scope(workspace, agent)
        for grain in STORES:
            if (model := stores.model(scope, grain)) is not None:
                yield scope, grain, model


def _stage(
    scope: Scope,
    grain: StoreName,
    stores: StoreReader,
    staging: Staging,
    progress: Progress,
) -> int:
    """Embed a store's records and keep the vectors, so that the writer has next to nothing to ask for."""
    _, embedded = stores.embedded(scope, grain)
    done = 0
    for batch in batches([one.record for one in embedded]):
        staging.batch(batch)
        done += len(batch)
        progress(f"{scope}/{grain}", done, len(embedded))
    return done
