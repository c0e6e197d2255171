"""Measure the speed and quality of graphneg, on Neo4j and on the embedded store.

``python -m benchmarks`` runs the benchmarks that ``registry.py`` lists; each of them is a module with a
function ``run``. The other benchmarks are started one at a time, for example ``python -m
benchmarks.coherence``. Speeds that are compared with each other are measured in the same run, if possible
alternately, because the load of a machine changes over time.
"""
