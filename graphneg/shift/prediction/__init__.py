"""Predictors of substitute perspectives: CAPT's step from candidates to what a reply could move to.

``frequency`` counts, ``embedding`` compares with the post as well; ``seq2seq`` and ``causal`` are
language models that were fine-tuned on the pairs of a corpus.
"""

from graphneg.shift.prediction.base import Choice, Predictor, get_predictor, guarded, predictor_names

__all__ = ["Choice", "Predictor", "get_predictor", "guarded", "predictor_names"]
