"""A decoder for tests that are not about wording."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.model import Decoded, EditedUtterance


class Speller:
    """Names the concepts of the edited graph, in their order.

    They are divided by bars, and written with underscores, so that none of them is a grammatical error."""

    name = "speller"

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        texts = (" | ".join(node.label for node in one.after.nodes) for one in batch)
        return [Decoded(text.replace("-", "_")) for text in texts]
