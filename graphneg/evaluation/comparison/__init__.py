"""Compare sources of negatives: train the same ranker on the negatives of each source, and test it."""
