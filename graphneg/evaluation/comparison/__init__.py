"""Comparing sources of wrong responses: the same ranker trained on each."""
