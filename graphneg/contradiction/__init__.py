"""Contradictions: does a response contradict what its speaker said before (Sato et al. 2024)?

Labelled responses are read (`read_labelled`), a detector scores pairs (`ContradictionDetector`), and
the modules below make data: pairs from edited graphs, questions that lead to contradictions, label
sheets of three annotators.
"""

from graphneg.contradiction.detector import ContradictionDetector, SaidPair, new_detector
from graphneg.contradiction.labelled import Labelled, read_labelled

__all__ = ["ContradictionDetector", "Labelled", "SaidPair", "new_detector", "read_labelled"]
