"""Generators: wrong responses to the contexts of a store, made otherwise than by editing a right one.

A generator is had by name (entry points of the group ``graphneg.generators``); ``overlap`` takes
sentences that share words with the context and are set in another scene.
"""

from __future__ import annotations

from graphneg.generators.base import (
    Candidate,
    Context,
    Generator,
    Turn,
    TurnEdit,
    generator_names,
    get_generator,
)

__all__ = ["Candidate", "Context", "Generator", "Turn", "TurnEdit", "generator_names", "get_generator"]
