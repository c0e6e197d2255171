"""`everyday`: dialogues with gold AMR graphs, opposites and frames, written for graphneg."""
