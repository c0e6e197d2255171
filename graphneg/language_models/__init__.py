"""Language models by path or hub id: scores, texts, training.

`load_causal` and `load_seq2seq` give a model with ``score``, ``generate`` and ``save``;
`fine_tune` trains it further. torch and transformers are imported when a model is loaded.
"""

from __future__ import annotations

from graphneg.language_models.causal import CausalLM
from graphneg.language_models.loading import load_causal, load_either, load_seq2seq
from graphneg.language_models.model import Direction, LanguageModel, Written
from graphneg.language_models.search import Beams, Sampling, Search
from graphneg.language_models.seq2seq import Seq2SeqLM
from graphneg.language_models.training import Example, TrainingReport, fine_tune

__all__ = [
    "Beams",
    "CausalLM",
    "Direction",
    "Example",
    "LanguageModel",
    "Sampling",
    "Search",
    "Seq2SeqLM",
    "TrainingReport",
    "Written",
    "fine_tune",
    "load_causal",
    "load_either",
    "load_seq2seq",
]
