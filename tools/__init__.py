"""Tools for the development of graphneg: training data, tables, pages of the documentation, and measures."""
