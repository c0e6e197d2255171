"""What a backend does: token numbers in, token numbers out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graphneg.decoders.t5.sampling import Sampling

Tokens = Sequence[int]

NO_SAMPLING = "CTranslate2 can't be seeded for each text: use the torch backend for sampling, or beams"


class Output(NamedTuple):
    """A generated text's tokens without special ones at its ends; ``finished`` if it came to an end."""

    tokens: Tokens
    finished: bool


class Backend(Protocol):
    """Generates texts for a batch of graphs, each with its end token."""

    def beams(self, batch: Sequence[Tokens], width: int, longest: int) -> list[list[Output]]:
        """The ``width`` best texts of each graph, best first, of at most ``longest`` tokens."""
        ...

    def draws(
        self, batch: Sequence[Tokens], sampling: Sampling, seeds: Sequence[int], longest: int
    ) -> list[list[Output]]:
        """One text of each graph, drawn with the graph's own seed.

        Raises `InputError` where the backend can't seed each text.
        """
        ...
