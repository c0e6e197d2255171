"""Builds the tables in ``data/``: ``python -m graphneg.parsers.dependency.tables --help``."""
