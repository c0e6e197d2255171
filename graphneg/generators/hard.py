"""``hard``: what teaches rankers most: `overlap` with the settings that did best on DailyDialog++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphneg.embedding.base import BUNDLED
from graphneg.generators.overlap import OverlapGenerator
from graphneg.store import Store

SETTINGS: Mapping[str, Any] = {"embedder": BUNDLED}


class HardGenerator(OverlapGenerator):
    """`OverlapGenerator` with other defaults: ``SETTINGS``. It takes the same options.

    Raises:
        GeneratorError: an option is unknown or not what it takes.
    """

    name = "hard"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **{**SETTINGS, **options})
