"""The composition root's optional models of the context: a reranker, and one that names entities."""

from collections.abc import Callable
from typing import Protocol

from varve.domain.errors import Misconfigured
from varve.domain.model_names import ModelName, parse_llm_name, parse_reranker_name
from varve.domain.workspace import WorkspaceConfig
from varve.ports.knowledge import EntityFinder, Reranker
from varve.ports.models import LLM
from varve.wiring.settings import Settings

FINDER_SECONDS = 3.0
"""How long a prompt waits for the model that names its entities."""


class BuildLLM(Protocol):
    """Builds the chat model of a name; `timeout` in seconds."""

    def __call__(self, name: ModelName, *, timeout: float) -> LLM: ...


def build_reranker(
    config: WorkspaceConfig, settings: Settings, api_key: Callable[[], str]
) -> Reranker | None:
    """The reranker of the workspace or the environment, if either names one. Raises Misconfigured.

    A key goes only to the address that it was given with.
    """
    given = config.models.reranker
    name = (
        parse_reranker_name(given, "config.json: models.reranker")
        if given
        else settings.reranker
    )
    if name.provider == "off":
        return None
    from varve.adapters.models.http_reranker import HttpReranker

    if config.models.base_url or settings.reranker_url is None:
        url = config.models.base_url or settings.base_url
        return HttpReranker(name.name, api_key=api_key(), base_url=url, reread=api_key)
    if settings.reranker_key is None:
        raise Misconfigured(
            "VARVE_RERANKER_API_KEY: is not set, and VARVE_RERANKER_URL asks for it"
        )
    return HttpReranker(
        name.name, api_key=settings.reranker_key, base_url=settings.reranker_url
    )


def build_finder(
    config: WorkspaceConfig, settings: Settings, llm: BuildLLM
) -> EntityFinder | None:
    """What names a prompt's entities, if the workspace or the environment names a model for it."""
    given = config.models.entities
    name = (
        parse_llm_name(given, "config.json: models.entities")
        if given
        else settings.entities
    )
    if name.provider == "offline":
        return None
    from varve.usecases.naming import ModelEntityFinder

    return ModelEntityFinder(llm(name, timeout=FINDER_SECONDS))
