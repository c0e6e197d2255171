"""Prompt a language model to write texts that contain keywords of a context.

The package contains the generators ``key-context``, ``key-sem`` and ``key-sentence``. `train_keyword_replies`
trains a model for ``key-context`` and ``key-sem``. For example, if the context contains the keyword *garage*,
``key-sentence`` may write::

    My uncle fell off the ladder while he was painting the garage.
"""

from __future__ import annotations

from graphneg.generators.keywords.generator import KeywordGenerator, key_context, key_sem, key_sentence
from graphneg.generators.keywords.requests import reply_pairs, train_keyword_replies

__all__ = [
    "KeywordGenerator",
    "key_context",
    "key_sem",
    "key_sentence",
    "reply_pairs",
    "train_keyword_replies",
]
