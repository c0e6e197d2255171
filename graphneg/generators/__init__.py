"""Define generators, which make wrong responses without editing the AMR graphs of correct responses.

A transform edits the graph of a correct response. A generator instead retrieves a sentence, prompts a
language model, or replaces words and turns in the text. Each generator has a name, which is registered as an
entry point in the group ``graphneg.generators``. For example, the generator ``overlap`` retrieves sentences
that share words with the context but come from a different situation::

    context     A: Did you sign the offer letter?
    negative    B: I read the terms before signing the petition.

``graphneg.generators.base`` defines the interface. ``graphneg.generators.generated`` runs a generator over a
store.
"""

from __future__ import annotations

from graphneg.generators.base import (
    Candidate,
    Context,
    Draft,
    Generator,
    Turn,
    TurnEdit,
    generator_names,
    get_generator,
)

__all__ = [
    "Candidate",
    "Context",
    "Draft",
    "Generator",
    "Turn",
    "TurnEdit",
    "generator_names",
    "get_generator",
]
