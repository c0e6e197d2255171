"""Load, train and run neural models. Decoders, rankers and generators share this code."""
