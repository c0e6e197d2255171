"""Train rankers, coherence scorers, contradiction detectors, decoders and encoders on negatives.

All these models are trained with the ``Trainer`` of transformers. If a training run was interrupted,
repeating the same call resumes it at the last checkpoint.
"""
