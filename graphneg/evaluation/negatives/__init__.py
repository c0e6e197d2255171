"""Report on a set of negatives before a ranker is trained on it: statistics, cues and examples.

A cue is a property, such as length, by which negatives can be recognised without reading the context. A
ranker that is trained on negatives with a strong cue learns to detect the cue instead of wrong responses.
"""

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
