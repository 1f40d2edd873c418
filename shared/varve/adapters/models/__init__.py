"""The ports `Embedder`, `KnowsWords`, `LLM` and `Reranker` over local and remote models."""
