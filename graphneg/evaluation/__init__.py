"""Measuring what graphneg makes: AMR graphs against gold graphs."""

from __future__ import annotations

from graphneg.evaluation.smatch_files import Evaluation, evaluate_smatch

__all__ = ["Evaluation", "evaluate_smatch"]
