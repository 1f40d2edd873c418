"""Reembed: move a workspace's stores to its current embedding model, one by one.

A store moves in one commit of the writer. Before that commit it is searched with its old
model, which the configuration names beside the new one. After it, with the new one.
Vectors that an interrupted move has computed are kept, and moved stores are skipped.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from varve.domain.calendar import iso
from varve.domain.identity import Scope
from varve.domain.record import STORES, StoreName
from varve.messages.moves import MoveStore, send_move
from varve.ports.meter import doing
from varve.ports.models import Embedder
from varve.ports.transfer import StoreReader
from varve.usecases.operate import configure
from varve.usecases.progress import Progress, StepCounter
from varve.usecases.session import Session
from varve.usecases.transfer.staging import Staging, batches, sweep


@dataclass(frozen=True, slots=True)
class ModelOfStore:
    """One agent's store, and the embedding model of its vectors."""

    scope: Scope
    grain: StoreName
    model: str

    @property
    def name(self) -> str:
        """The store's name in outcomes and progress."""
        return f"{self.scope}/{self.grain}"


@dataclass(frozen=True, slots=True)
class ReembedOutcome:
    """How many stores there are, which have moved, and which wait for the writer."""

    model: str
    stores: int
    moved: tuple[str, ...]
    waiting: tuple[str, ...]
    records: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "model": self.model,
            "stores": self.stores,
            "moved": list(self.moved),
            "waiting": list(self.waiting),
            "records": self.records,
        }


@doing("reembed")
def reembed(
    session: Session,
    spell_embedder: Callable[[str], str],
    *,
    to: str | None = None,
    progress: Progress,
) -> ReembedOutcome:
    """Embed records of other models than the workspace's, and have the writer move them.

    `to` becomes the workspace's embedder first. `spell_embedder` returns how the
    settings spell the embedder of a recorded model. A second call continues an
    interrupted one. Raises Retryable, Rejected, Misconfigured: some stores may have
    moved; search works with both models.
    """
    if to is not None:
        session = _change_embedder(session, to)
    embedder = session.embedder
    model = embedder.model
    found = list(_list_stores(session))
    behind = _with_other_model(found, model)
    if behind:
        _note_old_embedders(
            session, [spell_embedder(one.model) for one in behind]
        )
    records = 0
    for one in behind:
        records += _move(session, one, embedder, progress)
    session.queues.flush()
    waiting = _names_of(_with_other_model(_list_stores(session), model))
    if not waiting:
        _finish(session, {one.scope for one in found})
    moved = tuple(name for name in _names_of(behind) if name not in waiting)
    return ReembedOutcome(model, len(found), moved, waiting, records)


def _with_other_model(
    stores: Iterable[ModelOfStore], model: str
) -> list[ModelOfStore]:
    return [one for one in stores if one.model != model]


def _names_of(stores: Iterable[ModelOfStore]) -> tuple[str, ...]:
    return tuple(one.name for one in stores)


def _change_embedder(session: Session, embedder: str) -> Session:
    """Set the workspace's embedder, after a test call; return the changed session.

    Raises Rejected, Retryable, Misconfigured: nothing was changed.
    """
    wanted = configure.with_value(session.config, "models.embedder", embedder)
    session.models.embedder(wanted).embed(["Does it answer?"])
    return session.with_config(
        configure.change(session, "models.embedder", embedder)
    )


def _list_stores(session: Session) -> Iterator[ModelOfStore]:
    """Yield all stores of the workspace's agents."""
    workspace = session.scope.workspace
    stores = session.store.stores
    for agent in session.objects.folders(f"vectordb/{workspace}"):
        scope = Scope(workspace, agent)
        for grain in STORES:
            model = stores.model(scope, grain)
            if model is not None:
                yield ModelOfStore(scope, grain, model)


def _note_old_embedders(session: Session, names: list[str]) -> None:
    """Note in the configuration which embedders the stores still need."""
    embedders = dict.fromkeys(
        [*session.config.models.embedders_before, *names]
    )
    configure.move_from(
        session.scope.workspace, list(embedders), objects=session.objects
    )


def _move(
    session: Session,
    store: ModelOfStore,
    embedder: Embedder,
    progress: Progress,
) -> int:
    """Embed a store's records and ask the writer to move it; return how many."""
    staging = Staging(store.scope, embedder, session.objects)
    records = _stage(store, session.store.stores, staging, progress)
    # The time makes this attempt's messages new to the queue.
    token = iso(session.now)
    message = MoveStore(store.scope, store.grain, embedder.model)
    send_move(
        message, token, queue=session.queues.write, objects=session.objects
    )
    return records


def _finish(session: Session, scopes: set[Scope]) -> None:
    """Remove the old embedders from the configuration, and the staged vectors."""
    configure.move_from(session.scope.workspace, [], objects=session.objects)
    for scope in scopes:
        sweep(scope, objects=session.objects)


def _stage(
    store: ModelOfStore,
    stores: StoreReader,
    staging: Staging,
    progress: Progress,
) -> int:
    """Embed a store's records and keep the vectors; return how many.

    The writer then embeds only records that were written in between.
    """
    _, embedded = stores.embedded(store.scope, store.grain)
    step = StepCounter(store.name, len(embedded), progress)
    for batch in batches([one.record for one in embedded]):
        staging.batch(batch)
        step.add(len(batch))
    return step.done
