"""The trained models of the dependency parser. They choose concepts, arcs and tops, and what *no* negates."""
