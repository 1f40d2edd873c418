"""Embedders, chat models and rerankers."""
