"""A decoder for tests that are not about wording."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.model import Decoded, EditedUtterance


class Speller:
    """A decoder that writes the concepts of the edited graph as a list.

    The concepts are separated by bars and written with underscores, so that the checker finds no grammatical
    error in them.
    """

    name = "speller"

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        texts = (" | ".join(node.label for node in one.after.nodes) for one in batch)
        return [Decoded(text.replace("-", "_")) for text in texts]
