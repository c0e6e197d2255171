"""Examples for training jobs: negatives and positives in groups, sampled to pairs."""
