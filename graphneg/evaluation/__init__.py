"""Measuring what graphneg makes: AMR graphs against gold graphs."""

from graphneg.evaluation.report import Evaluation, evaluate_smatch

__all__ = ["Evaluation", "evaluate_smatch"]
