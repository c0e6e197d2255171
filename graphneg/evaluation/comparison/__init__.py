"""Compare sources of negatives by training the same ranker on each of them."""
