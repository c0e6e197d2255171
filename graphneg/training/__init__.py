"""Training: what runs of transformers' ``Trainer`` share, and rankers trained on negatives."""
