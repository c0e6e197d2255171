"""Hard negatives for dialogue systems: edits of meaning graphs, in Cypher, decoded back to text."""

from __future__ import annotations

__version__ = "0.1.0"
