"""Coherence: how well the turns of a whole dialogue go together (DEAM, Ghazarian et al. 2022)."""

from graphneg.coherence.scorer import CoherenceScorer
from graphneg.coherence.windows import Cutter, Window

__all__ = ["CoherenceScorer", "Cutter", "Window"]
