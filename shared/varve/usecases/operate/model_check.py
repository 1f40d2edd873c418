"""Try the models that a configuration names, before it is stored."""

from varve.usecases.naming import ModelEntityFinder
from varve.usecases.session import Session

PROBE = "Dana moved to Lisbon."


def check_models(session: Session) -> None:
    """Send one short request to each model that the session's configuration names.

    Embedded models need no request. Raises Misconfigured: a key is missing or wrong, or
    the provider refuses a model; Rejected, Retryable.
    """
    config = session.config
    session.embedder.embed([PROBE])
    llm = session.llm
    if llm is not None:
        ModelEntityFinder(llm).names(PROBE)
    reranker = session.models.reranker(config)
    if reranker is not None:
        reranker.rerank(PROBE, [PROBE])
    finder = session.models.entity_finder(config)
    if finder is not None:
        finder.names(PROBE)
