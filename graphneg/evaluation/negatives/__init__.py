"""What negatives are like before anyone trains on them: figures, cues that give them away, examples."""

from __future__ import annotations

from graphneg.evaluation.negatives.findings import Finding
from graphneg.evaluation.negatives.report import Report, measure
from graphneg.evaluation.negatives.sampling import Spread
from graphneg.evaluation.negatives.statistics import Example, Figures, Line, Models

__all__ = ["Example", "Figures", "Finding", "Line", "Models", "Report", "Spread", "measure"]
