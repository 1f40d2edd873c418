"""Reembed: move a workspace's stores to the embedding model that it has now, one after the other.

A store moves in one commit of the writer. Until then it is searched with its own model, which the
configuration names beside the new one; from then on with the new one. What an interrupted move had
embedded is kept, and stores that have moved are left alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.domain.record import STORES, StoreName
from varve.messages.moves import MoveStore, send_move
from varve.ports.objects import Objects
from varve.ports.transfer import StoreReader
from varve.usecases import configure as configuring
from varve.usecases.session import Session
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
    session: Session,
    spell_embedder: Callable[[str], str],
    *,
    to: str | None = None,
    progress: Progress,
) -> ReembedOutcome:
    """Embed records of other models than the workspace's, and have the writer move them.

    `to` becomes the workspace's embedder first. `spell_embedder` returns how the
    settings spell the embedder of a recorded model. Called again, it goes on where it
    was interrupted.
    Raises Retryable, Rejected, Misconfigured: some stores may have moved; search works
    with both models.
    """
    workspace = session.scope.workspace
    if to is not None:
        session = _change_embedder(session, to)
    config = session.config
    objects = session.objects
    stores = session.store.stores
    new = session.embedder
    there = list(_stores(workspace, stores, objects))
    behind = [
        (scope, grain, model) for scope, grain, model in there if model != new.model
    ]
    if behind:
        names = {spell_embedder(model): None for _, _, model in behind}
        before = dict.fromkeys([*config.models.embedders_before, *names])
        configuring.move_from(workspace, list(before), objects=objects)
    records = 0
    for scope, grain, _ in behind:
        records += _stage(scope, grain, stores, Staging(scope, new, objects), progress)
        move = MoveStore(scope, grain, new.model)
        # The time makes this attempt's messages new to the queue.
        token = iso(session.now)
        send_move(move, token, queue=session.queues.write, objects=objects)
    session.queues.flush()
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


def _change_embedder(session: Session, embedder: str) -> Session:
    """Make it the workspace's embedder, after it has embedded a text.

    Raises Rejected, Retryable, Misconfigured: nothing was changed.
    """
    wanted = configuring.with_value(session.config, "models.embedder", embedder)
    session.models.embedder(wanted).embed(["Does it answer?"])
    return session.with_config(configuring.change(session, "models.embedder", embedder))


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
