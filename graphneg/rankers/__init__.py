"""Rank responses by how well they fit a context.

There are three kinds of rankers: cross-encoders, speaker-aware BERT (a cross-encoder that also gets the
speakers) and poly-encoders.
"""

from __future__ import annotations

from graphneg.rankers.base import Ranker, Trainable, load_ranker, new_ranker
from graphneg.rankers.cross_encoder import CrossEncoder

__all__ = ["CrossEncoder", "Ranker", "Trainable", "load_ranker", "new_ranker"]
