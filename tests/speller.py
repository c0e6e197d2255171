"""A decoder for tests that are not about wording."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.model import Decoded, EditedUtterance


class Speller:
    """A decoder that writes the concepts of the edited graph as a list."""

    name = "speller"

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        return [Decoded(" ".join(node.label for node in one.after.nodes)) for one in batch]
