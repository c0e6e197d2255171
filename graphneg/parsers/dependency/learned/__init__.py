"""The learned parts of the dependency parser, in numpy: which concepts, which arcs, which top."""
