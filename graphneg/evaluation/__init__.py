"""Evaluate parsers, decoders, rankers, scorers and sets of negatives.

This package itself exports `evaluate_smatch`, which compares two files of AMR graphs. Import the other
evaluations from their modules: `decoding` (the quality of a decoder), `ranking` (rankers on test contexts),
`detection` and `cross_validation` (contradiction detectors), `correlation` (agreement of a score with human
ratings), `comparison` (sources of negatives), `negatives` (a report on a set of negatives) and `review`
(human judgements of negatives).
"""

from __future__ import annotations

from graphneg.evaluation.smatch_files import Evaluation, evaluate_smatch

__all__ = ["Evaluation", "evaluate_smatch"]
