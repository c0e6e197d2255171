"""Tests of graphneg.discourse."""
