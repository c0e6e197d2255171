"""Load, train and run neural models: the code that decoders, rankers and generators share."""
