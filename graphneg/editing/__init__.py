"""Edits of AMR graphs: transforms that propose them, recipes, plans, variants in the store, negatives."""
