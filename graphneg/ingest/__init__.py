"""Load the files of corpora and resources into a store.

A loader reads one file format and yields records, such as dialogues, AMR graphs, pairs of opposites, PropBank
frames and sentences. The other modules validate the records and write them to the store in batches.

Loaders are found through the entry point group ``graphneg.loaders``. Another package can therefore add a
format without a change to graphneg.
"""

from __future__ import annotations

from graphneg.ingest.loader import Loader, LoadOptions, LoadReport, get_loader, loader_names

__all__ = ["LoadOptions", "LoadReport", "Loader", "get_loader", "loader_names"]
