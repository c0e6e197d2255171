"""Make training data for rankers: group responses by context, and sample pairs from the groups."""
