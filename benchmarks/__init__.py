"""Measure the speed and quality of graphneg, on Neo4j and on the embedded store.

Each benchmark is a module with a function ``run``; ``registry.py`` lists them. ``python -m benchmarks`` runs
all of them. If two things are compared, they are measured alternately in the same run, because the load of a
machine changes over time.
"""
