"""Generators that let a language model write around keywords of a context.

``key-context``, ``key-sem`` and ``key-sentence``; `train_replies` trains a model for the first two. Models
are loaded when a generator is made.
"""

from __future__ import annotations

from graphneg.generators.keywords.generator import KeywordGenerator, key_context, key_sem, key_sentence
from graphneg.generators.keywords.requests import reply_pairs, train_replies

__all__ = ["KeywordGenerator", "key_context", "key_sem", "key_sentence", "reply_pairs", "train_replies"]
