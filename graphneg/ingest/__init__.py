"""Loading: from files of a corpus or resource to records, and from records into the store.

A loader reads one format. Loaders are found by entry point (group ``graphneg.loaders``), so
a package of one's own adds a format without touching graphneg.
"""

from __future__ import annotations

from graphneg.ingest.loader import Loader, LoadOptions, LoadReport, get_loader, loader_names

__all__ = ["LoadOptions", "LoadReport", "Loader", "get_loader", "loader_names"]
