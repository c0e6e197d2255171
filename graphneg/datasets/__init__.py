"""Build training data for rankers: group negatives with correct responses by context, and sample pairs."""
