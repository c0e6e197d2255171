"""The trained models of the dependency parser, in numpy: concepts, arcs, tops, and the scope of *no*."""
