"""Evaluate parsers, decoders, rankers, scorers and sets of negatives.

This package exports the comparison of two AMR files by Smatch. The other evaluations are imported from their
modules: `decoding` (decoder quality), `ranking` (rankers on test contexts), `detection` (contradiction
detectors), `correlation` (agreement of a score with human ratings), `comparison` (sources of negatives),
`negatives` (a report on a set of negatives) and `review` (human judgements).
"""

from __future__ import annotations

from graphneg.evaluation.smatch_files import Evaluation, evaluate_smatch

__all__ = ["Evaluation", "evaluate_smatch"]
