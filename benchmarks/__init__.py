"""Measures what graphneg costs, on both servers in one run: ``python -m benchmarks``.

One benchmark, one module; ``registry.py`` lists them. Whatever two things are compared, they take
turns in the same run.
"""
