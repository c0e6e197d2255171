"""The trained models of the dependency parser: they choose concepts, arcs, tops, and what each *no* negates."""
