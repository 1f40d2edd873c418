"""The ports `Embedder`, `KnowsWords`, `LLM` and `Reranker` over models."""
