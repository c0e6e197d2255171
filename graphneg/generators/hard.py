"""``hard``: what taught rankers most: `overlap` with the settings that did best on DailyDialog++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphneg.content_words import word_set
from graphneg.generators.overlap import OverlapGenerator
from graphneg.generators.overlap.conditions import OPENINGS
from graphneg.store import Store

_NO_REPLY = word_set("although because did do does don't if these this those though")
"""First words that no wrong response of `overlap` has, though they are no replies: to a ranker each would
mark a right response."""

SETTINGS: Mapping[str, Any] = {
    "least_words": 6,
    "least_content": 4,
    "most_words": 22,
    "openings": tuple(one for one in OPENINGS if one not in _NO_REPLY),
    "overlap": (0.0, 0.05, 0.35, 0.6),
    "last_turn": 0.4,
    "most_last": 1,
    "first_person": 0.5,
    "hub": 0.003,
    "light": 0.003,
    "exchanged": 1.0,
}
"""More words of the context than people's own wrong responses were counted to share: a store's pool seldom
holds what the wishes ask for. Two words of the last turn often make a right answer of it. Words that are
said everywhere (*know*, *like*, *want*) don't count: of them, wrong ones would say more than people do, and
a ranker would learn that. Without short sentences, or with *I* in more than right responses have it, length
and person alone would tell right from wrong."""


class HardGenerator(OverlapGenerator):
    """`OverlapGenerator` with other defaults: ``SETTINGS``. It takes the same options.

    Raises:
        GeneratorError: an option is unknown or not what it takes.
    """

    name = "hard"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **{**SETTINGS, **options})
