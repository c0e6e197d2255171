"""Generators by name: those that ship with graphneg, and entry points of other packages."""

from __future__ import annotations

from typing import Any

from graphneg.errors import GeneratorError
from graphneg.generators.base import Generator
from graphneg.plugins import Plugins
from graphneg.store import Store

PLUGINS = Plugins(
    kind="generator",
    group="graphneg.generators",
    built_in={
        "overlap": "graphneg.generators.overlap:OverlapGenerator",
        "key-context": "graphneg.generators.keywords:key_context",
        "key-sem": "graphneg.generators.keywords:key_sem",
        "key-sentence": "graphneg.generators.keywords:key_sentence",
        "counterfactual": "graphneg.generators.counterfactual:counterfactual",
        "turn-shuffle": "graphneg.generators.dialogue_baselines:turn_shuffle",
        "speaker-swap": "graphneg.generators.dialogue_baselines:speaker_swap",
        "insertion": "graphneg.generators.dialogue_baselines:insertion",
        "replacement": "graphneg.generators.dialogue_baselines:replacement",
        "hard": "graphneg.generators.hard:HardGenerator",
        "random": "graphneg.generators.random_responses:RandomGenerator",
        "bm25": "graphneg.generators.bm25:Bm25Generator",
        "semi-hard": "graphneg.generators.semi_hard:SemiHardGenerator",
        "token-substitution": "graphneg.generators.token_substitution:TokenSubstitutionGenerator",
    },
    error=GeneratorError,
)


def generator_names() -> list[str]:
    """Every generator that ``get_generator`` knows, installed ones included."""
    return PLUGINS.names()


def get_generator(name: str, store: Store, **options: Any) -> Generator:
    """The generator of that name over a store, made with the options it takes.

    Packages add generators by an entry point in the group ``graphneg.generators``: what is called with the
    store and, by name, the options.

    Raises:
        GeneratorError: no such generator, it does not take these options, or it can't be imported.
    """
    made: Generator = PLUGINS.make(name, options, store)
    return made
