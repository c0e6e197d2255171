"""Train rankers, coherence scorers, contradiction detectors, decoders and encoders on negatives.

All of them use the ``Trainer`` of transformers. A training run that was interrupted continues from its last
checkpoint.
"""
