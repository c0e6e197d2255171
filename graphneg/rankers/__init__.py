"""Rankers: which response fits a context."""

from graphneg.rankers.base import Ranker, Trainable
from graphneg.rankers.cross_encoder import CrossEncoder

__all__ = ["CrossEncoder", "Ranker", "Trainable"]
