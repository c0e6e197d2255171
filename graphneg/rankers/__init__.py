"""Rankers: which response fits a context."""

from graphneg.rankers.base import Ranker, Trainable
from graphneg.rankers.cross_encoder import CrossEncoder
from graphneg.rankers.registry import load_ranker, new_ranker

__all__ = ["CrossEncoder", "Ranker", "Trainable", "load_ranker", "new_ranker"]
