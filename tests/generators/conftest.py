"""What tests of generators share: a context, and a store for generators that are never asked to read one."""

from __future__ import annotations

import pytest

from graphneg.generators.base import Context
from graphneg.model import Turn
from graphneg.store.connection import Store


@pytest.fixture
def context() -> Context:
    """Two turns about a boat, and two correct responses."""
    turns = (Turn("A", "Is the boat still for sale?"), Turn("B", "My uncle sold it on Friday."))
    positives = ("What a pity!", "Did he get an honest price for it?")
    return Context("own/test/1#2", "own", "test", "own/test/1", 2, turns, "A", positives)


@pytest.fixture
def unused() -> Store:
    """No store: what is made with it reads none."""
    return None  # pyright: ignore[reportReturnType]
