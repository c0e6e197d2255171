"""``hard``: what taught rankers most: `overlap` with the settings that did best on DailyDialog++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphneg.generators.overlap import OverlapGenerator
from graphneg.store import Store

SETTINGS: Mapping[str, Any] = {
    "least_words": 6,
    "least_content": 3,
    "most_words": 22,
    "overlap": (0.0, 0.15, 0.4, 0.45),
    "last_turn": 0.4,
    "most_last": 1,
    "hub": 0.02,
    "exchanged": 1.0,
}
"""More words of the context than people's own wrong responses were counted to share: a store's pool seldom
holds what the wishes ask for, so what comes out shares about as many as theirs. Two words of the last turn
often make a right answer of it. Without short ones, length alone would tell right from wrong."""


class HardGenerator(OverlapGenerator):
    """`OverlapGenerator` with other defaults: ``SETTINGS``. It takes the same options.

    Raises:
        GeneratorError: an option is unknown or not what it takes.
    """

    name = "hard"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **{**SETTINGS, **options})
