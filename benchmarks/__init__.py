"""Measure the speed and quality of graphneg, on Neo4j and on the embedded store.

Each benchmark is one module with a function ``run``, and ``registry.py`` lists them. ``python -m benchmarks``
runs them all. Two things that are compared are measured alternately in the same run, because the load of a
machine changes over time.
"""
