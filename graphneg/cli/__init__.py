"""Run the command line program ``graphneg``.

Each module defines one or a few related commands. A command reads its options, calls
`graphneg.dialogue_graph` or another package, and prints the result. Commands contain no other logic. Results
are printed to standard output. Messages, progress bars and errors are printed to standard error.

Example::

    graphneg load everyday                      # load the small corpus that ships with the package
    graphneg parse                              # add an AMR graph to each utterance
    graphneg negatives -o negatives.jsonl       # edit the graphs and decode them into text
"""

from __future__ import annotations

from graphneg.cli.app import main

__all__ = ["main"]
