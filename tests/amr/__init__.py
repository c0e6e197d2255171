"""Tests of graphneg.amr."""
