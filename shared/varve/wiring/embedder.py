"""The composition root's embedders."""

from collections.abc import Callable

from varve.domain.model_names import ModelName
from varve.domain.usage import ModelUsage
from varve.ports.models import Embedder

EMBEDDED = "embedded"


def build_embedder(
    name: ModelName, base_url: str, api_key: Callable[[], str], usage: ModelUsage
) -> Embedder:
    """The embedder of a name, with a cache. Raises Misconfigured: the provider's key is not to be had."""
    from varve.adapters.models.cached_embedder import CachedEmbedder, CachedWordEmbedder

    if name.provider == EMBEDDED:
        from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder

        embedded = WordLlamaEmbedder()
        return CachedWordEmbedder(embedded, embedded)
    from varve.adapters.models.openai_embedder import OpenAIEmbedder

    return CachedEmbedder(
        OpenAIEmbedder(
            name.name,
            dimensions=name.dimensions,
            api_key=api_key(),
            base_url=base_url,
            usage=usage,
            reread=api_key,
        )
    )


def spelled(model: str) -> str:
    """A model as a store records it (`name:256`), as the settings spell its embedder."""
    from varve.adapters.models.wordllama_embedder import MODEL

    return EMBEDDED if model == MODEL else f"openai:{model}"
