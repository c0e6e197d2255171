"""Bi-directional perplexity selection (Ou et al., 2022, CAPT, section 3.3).

A response is kept where a language model finds it likely after its context (forward), and the
context's last turn likely given the response (backward). What is likely enough is learned from
pairs that belong together and pairs drawn at random; what is kept is ranked by the backward score.
"""

from __future__ import annotations

from graphneg.selection.scoring import Bidirectional, Perplexities
from graphneg.selection.selecting import Keep, Selected, Selection
from graphneg.selection.thresholds import Separation, Thresholds, learn_thresholds, threshold

__all__ = [
    "Bidirectional",
    "Keep",
    "Perplexities",
    "Selected",
    "Selection",
    "Separation",
    "Thresholds",
    "learn_thresholds",
    "threshold",
]
