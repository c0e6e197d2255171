"""Tests of graphneg. Each subfolder tests the package of the same name; shared helpers are in this folder."""
