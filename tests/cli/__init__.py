"""Tests of graphneg.cli: options, output and exit statuses of the commands."""
