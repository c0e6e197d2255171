"""The learned parts of the dependency parser, in numpy: concepts, arcs, tops, and what *no* denies."""
