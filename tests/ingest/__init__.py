"""Tests of graphneg.ingest."""
