"""What negatives are like before anyone trains on them: figures, cues that give them away, examples."""

from __future__ import annotations

from graphneg.evaluation.negatives.findings import Finding
from graphneg.evaluation.negatives.report import Report, measure
from graphneg.evaluation.negatives.sampling import Distribution
from graphneg.evaluation.negatives.statistics import CategoryLine, Figures, Models, NegativeExample

__all__ = [
    "CategoryLine",
    "Distribution",
    "Figures",
    "Finding",
    "Models",
    "NegativeExample",
    "Report",
    "measure",
]
