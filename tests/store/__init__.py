"""Tests of graphneg.store."""
