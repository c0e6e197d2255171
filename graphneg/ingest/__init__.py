"""Load the files of corpora and resources into a store.

A loader reads one file format and yields records (dialogues, AMR graphs, opposites, frames, sentences).
The writing side validates the records and stores them in batches.

Loaders are found by the entry point group ``graphneg.loaders``. A package of your own can therefore add
a format without a change to graphneg.
"""

from __future__ import annotations

from graphneg.ingest.loader import Loader, LoadOptions, LoadReport, get_loader, loader_names

__all__ = ["LoadOptions", "LoadReport", "Loader", "get_loader", "loader_names"]
