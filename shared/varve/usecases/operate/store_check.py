"""Check that an agent's stores can be read, before anything is asked of them."""

from functools import partial

from varve.domain.calendar import Grain
from varve.domain.embedding import require_same_model
from varve.domain.search.query import Filter
from varve.ports.models import Embedder
from varve.usecases.embedders import as_stored
from varve.usecases.session import Session


def check_store(session: Session) -> None:
    """Read the newest record of each store, and the graph; check the embedding models.

    Raises Misconfigured: a store cannot be read, or was written with a model that the
    workspace does not have; Rejected: the configuration is wrong; Retryable.
    """
    scope = session.scope
    for grain in Grain:
        recorded = session.store.stores.model(scope, grain)
        if recorded is None:
            continue
        as_stored(
            session.embedder, partial(_compare, f"{scope}/{grain}", recorded)
        )
        session.records.browse(scope, grain, where=Filter(), limit=1)
    session.graph.counts(scope, session.now)


def _compare(store: str, recorded: str, embedder: Embedder) -> None:
    require_same_model(store, recorded, embedder.model)
