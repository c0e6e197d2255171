"""Tests of graphneg.records."""
