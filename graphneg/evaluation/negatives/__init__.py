"""What negatives are like before anyone trains on them: figures, cues that give them away, examples."""

from graphneg.evaluation.negatives.figures import Example, Figures, Line
from graphneg.evaluation.negatives.findings import Finding
from graphneg.evaluation.negatives.histogram import Spread
from graphneg.evaluation.negatives.measuring import Report, measure
from graphneg.evaluation.negatives.scoring import Models

__all__ = ["Example", "Figures", "Finding", "Line", "Models", "Report", "Spread", "measure"]
