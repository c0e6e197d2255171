"""A decoder for tests that are not about wording."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.model import Decoded, EditedUtterance


class Speller:
    """Names the concepts of the edited graph, in their order."""

    name = "speller"

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        return [Decoded(" ".join(node.label for node in one.after.nodes)) for one in batch]
