"""Edits of AMR graphs: overlaying them on a graph, proposing, picking and storing them."""
