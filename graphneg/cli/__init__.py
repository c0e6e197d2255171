"""The command line: one module a command, each a thin layer over :mod:`graphneg.dialogue_graph`."""

from __future__ import annotations

from graphneg.cli.app import main

__all__ = ["main"]
