"""Tests of graphneg: folders mirror its packages; what several tests use stands here."""
