"""Texts as vectors: encoders, static word vectors, and the nearest of many.

No module here imports torch, transformers or FAISS before it needs them.
"""

from graphneg.embedding.base import Embedder, get_embedder

__all__ = ["Embedder", "get_embedder"]
