"""The command line: one module a command, each a thin layer over :mod:`graphneg.dialogue_graph`."""

from graphneg.cli.app import main

__all__ = ["main"]
