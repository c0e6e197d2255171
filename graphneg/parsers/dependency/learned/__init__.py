"""The trained models of the dependency parser, which choose concepts, arcs, tops and negated words."""
